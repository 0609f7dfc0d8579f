// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The answer to a request, which is stored so that a retry of the request gets the same answer.
public struct NewAnswer: Sendable, Hashable {
  /// The account that sent the request, at most 255 bytes of UTF-8 without a zero byte.
  public var account: String
  /// The key that identifies the request within its account: 1 to 512 bytes of UTF-8 without a zero byte, compared byte
  /// for byte.
  public var key: String
  /// The SHA-256 digest of the request's body, 32 bytes.
  public var bodyDigest: Data
  /// The announcement's id, 1 to 255 bytes of UTF-8 without a zero byte.
  public var id: String
  /// The HTTP status, 100 to 599.
  public var status: Int
  /// The report that the service sent, at most 1 MiB. The ledger parses only the words in it, for searching.
  public var report: Data
  /// The clip that the report describes; nil when it describes none.
  public var clip: PublishedClip?
  /// The decision about the announcement; nil for an answer that repeats an earlier one.
  public var decision: Decision?
  /// Codes and numbers about the clip for webhooks, such as `["method": "speech"]`, at most 1,000 bytes. They must not
  /// contain amounts or names. Nil for an answer that repeats an earlier one; no webhook message is sent for it.
  public var rendered: [String: String]?
  /// What the clip was made from, for other nodes; nil if they need not make it, or if the announcement is played, because
  /// then the ledger has its payload.
  public var source: Source?

  public init(
    account: String, key: String, bodyDigest: Data, id: String, status: Int, report: Data, clip: PublishedClip? = nil,
    decision: Decision? = nil, rendered: [String: String]? = nil, source: Source? = nil
  ) {
    self.account = account
    self.key = key
    self.bodyDigest = bodyDigest
    self.id = id
    self.status = status
    self.report = report
    self.clip = clip
    self.decision = decision
    self.rendered = rendered
    self.source = source
  }

  /// The first rule that a value breaks; nil when the answer can be stored.
  package var brokenRule: String? {
    if !isText(account, 0...255) { return "account (at most 255 bytes without NUL)" }
    if !isText(key, 1...512) { return "key (1 to 512 bytes without NUL)" }
    if bodyDigest.count != 32 { return "bodyDigest (32 bytes)" }
    if !isText(id, 1...255) { return "id (1 to 255 bytes without NUL)" }
    if !(100...599).contains(status) { return "status (100 to 599)" }
    if report.count > StoredAnnouncement.maximumPayloadBytes {
      return "report (at most \(StoredAnnouncement.maximumPayloadBytes) bytes)"
    }
    if let rendered, rendered.reduce(2, { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }) > 1000 {
      return "rendered (at most 1000 bytes as JSON)"
    }
    if let source, source.payload.count > StoredAnnouncement.maximumPayloadBytes {
      return "source (at most \(StoredAnnouncement.maximumPayloadBytes) bytes)"
    }
    if !isText(source?.defaultPack, 0...255) { return "defaultPack (at most 255 bytes without NUL)" }
    return clip?.brokenRule ?? decision?.brokenRule
  }
}

extension Ledger {
  /// The time for which a stored answer is valid, in seconds: 24 hours. After that, a request with the same key is a
  /// new request.
  public static let answerLifetime: TimeInterval = 86_400

  /// Returns the earliest creation time of an answer that is still valid, in milliseconds since 1970.
  ///
  /// - Parameter now: The present time in milliseconds since 1970.
  package static func oldestAnswer(at now: Int64) -> Int64 { now - Int64(answerLifetime * 1000) + 1 }

  /// A stored answer.
  public struct Answer: Sendable, Hashable {
    public let account: String
    public let key: String
    /// The SHA-256 digest of the request's body, 32 bytes.
    public let bodyDigest: Data
    /// The announcement's id.
    public let id: String
    /// The HTTP status.
    public let status: Int
    public let report: Data
    public let clip: PublishedClip?
    public let createdAt: Date
  }

  /// The result of storing an answer.
  public struct AnswerAcceptance: Sendable, Hashable {
    /// The valid answer: the first one for its account and key.
    public let answer: Answer
    /// Whether a valid answer already existed. Nothing was written then.
    public let isDuplicate: Bool
    /// Whether the first request had the same body.
    public let isSameBody: Bool
    /// The state of the announcement with the answer's id; nil when nothing is to be played.
    public let acceptance: Acceptance?

    package init(answer: Answer, isDuplicate: Bool, isSameBody: Bool, acceptance: Acceptance?) {
      self.answer = answer
      self.isDuplicate = isDuplicate
      self.isSameBody = isSameBody
      self.acceptance = acceptance
    }
  }

  /// An announcement that was answered, accepted for a player, or both.
  public struct Announcement: Sendable, Hashable {
    public let account: String
    public let id: String
    /// The announcement's entry; nil when it was not to be played or was pruned.
    public let entry: Entry?
    /// The decision about the announcement; nil when an earlier version accepted it.
    public let decision: Decision?
    /// The first answer for the id; nil when the announcement did not come with a request, or the answer was pruned.
    public let answer: Answer?
  }
}

extension Ledger.Answer {
  package init(row: some StoredRow) throws {
    self.init(
      account: try row.value("account"), key: try row.value("key"), bodyDigest: try row.value("body_digest"),
      id: try row.value("id"), status: try row.value("status"), report: try row.value("report"),
      clip: try row.clip(), createdAt: try row.value("created_at"))
  }
}

extension Ledger.Announcement {
  /// - Parameter alone: The stored decision, if the announcement has no entry.
  /// - Returns: nil if there is neither an entry nor an answer.
  package init?(
    account: String, id: String, entry: Ledger.Entry?, answer: Ledger.Answer?, decisionAlone alone: Decision?
  ) {
    if entry == nil && answer == nil { return nil }
    self.init(
      account: account, id: id, entry: entry, decision: entry.map { $0.decision } ?? alone, answer: answer)
  }
}
