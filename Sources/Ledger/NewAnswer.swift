// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a request was answered, to be answered the same when it comes again.
public struct NewAnswer: Sendable, Hashable {
  /// Whose request it was, at most 255 bytes of UTF-8, none of them 0.
  public var account: String
  /// What tells the request from others of the account: 1 to 512 bytes of UTF-8, none of them 0, compared byte for byte.
  public var key: String
  /// SHA-256 of the request's body, 32 bytes.
  public var bodyDigest: Data
  /// The announcement's id, 1 to 255 bytes of UTF-8, none of them 0.
  public var id: String
  /// The HTTP status, 100 to 599.
  public var status: Int
  /// At most 1 MiB. The ledger never looks into it.
  public var report: Data
  /// The clip that the report is about; nil when it is about none.
  public var clip: PublishedClip?

  public init(
    account: String, key: String, bodyDigest: Data, id: String, status: Int, report: Data, clip: PublishedClip? = nil
  ) {
    self.account = account
    self.key = key
    self.bodyDigest = bodyDigest
    self.id = id
    self.status = status
    self.report = report
    self.clip = clip
  }

  /// The rule that a value of it breaks; nil when it can be stored.
  var brokenRule: String? {
    if account.utf8.count > 255 || account.hasZero { return "account (at most 255 bytes, none of them 0)" }
    if !(1...512).contains(key.utf8.count) || key.hasZero { return "key (1 to 512 bytes, none of them 0)" }
    if bodyDigest.count != 32 { return "bodyDigest (32 bytes)" }
    if !(1...255).contains(id.utf8.count) || id.hasZero { return "id (1 to 255 bytes, none of them 0)" }
    if !(100...599).contains(status) { return "status (100 to 599)" }
    if report.count > NewAnnouncement.maximumPayloadBytes {
      return "report (at most \(NewAnnouncement.maximumPayloadBytes) bytes)"
    }
    return clip?.brokenRule
  }
}

extension Ledger {
  /// An answer as it is stored.
  public struct Answer: Sendable, Hashable {
    public let account: String
    public let key: String
    /// SHA-256 of the request's body, 32 bytes.
    public let bodyDigest: Data
    /// The announcement's.
    public let id: String
    /// The HTTP status.
    public let status: Int
    public let report: Data
    public let clip: PublishedClip?
    public let createdAt: Date
  }

  /// What became of an answer that was offered.
  public struct AnswerAcceptance: Sendable, Hashable {
    /// The one that holds: the first one of its account and key.
    public let answer: Answer
    /// Whether there was one: then nothing was written.
    public let isDuplicate: Bool
    /// Whether the first one's body was the same.
    public let isSameBody: Bool
    /// The announcement of the answer's id; nil when there is none to be played.
    public let acceptance: Acceptance?
  }

  /// An announcement that was answered, accepted for a player, or both.
  public struct Announcement: Sendable, Hashable {
    public let account: String
    public let id: String
    /// nil when it was not to be played, or was pruned.
    public let entry: Entry?
    /// The first one of the id; nil when it did not come with a request, or the answer was pruned.
    public let answer: Answer?
  }
}
