// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An announcement to be accepted.
public struct NewAnnouncement: Sendable, Hashable {
  /// Whose it is, at most 255 bytes of UTF-8, none of them 0. Ids are unique in an account.
  public var account: String
  /// 1 to 255 bytes of UTF-8, none of them 0, compared byte for byte. The same id in the same account is the same announcement.
  public var id: String
  /// The output it is heard on, 1 to 100 bytes of UTF-8, none of them 0.
  public var lane: String
  public var category: Ledger.Category
  /// Its place in its lane's numbering, where the payload has one.
  public var sequence: Int64?
  /// The announcement as JSON, at most 1 MiB. The ledger never looks into it.
  public var payload: Data
  /// When it is of no use any more; to the millisecond.
  public var expiresAt: Date?

  /// An announcement may have at most this many bytes of payload: 1 MiB.
  public static let maximumPayloadBytes = 1 << 20

  public init(
    account: String = "", id: String, lane: String, category: Ledger.Category, sequence: Int64? = nil, payload: Data,
    expiresAt: Date? = nil
  ) {
    self.account = account
    self.id = id
    self.lane = lane
    self.category = category
    self.sequence = sequence
    self.payload = payload
    self.expiresAt = expiresAt
  }

  /// The rule that a value of it breaks, as in `id (1 to 255 bytes)`; nil when it can be accepted.
  var brokenRule: String? {
    // SQLite would take what comes after a zero byte for nothing, and two ids for one.
    if account.utf8.count > 255 || account.hasZero { return "account (at most 255 bytes, none of them 0)" }
    if !(1...255).contains(id.utf8.count) || id.hasZero { return "id (1 to 255 bytes, none of them 0)" }
    if let rule = Ledger.brokenRule(ofLane: lane) { return rule }
    if payload.count > Self.maximumPayloadBytes { return "payload (at most \(Self.maximumPayloadBytes) bytes)" }
    if let expiresAt, expiresAt.wholeMilliseconds == nil { return "expiresAt (a date within the calendar)" }
    return nil
  }
}

extension Ledger {
  /// What became of an announcement that was offered.
  public struct Acceptance: Sendable, Hashable {
    /// Its place in the order of acceptance: strictly rising, with gaps, and never used again.
    public let number: Int64
    /// Whether its account and id were known: then everything else is of the first one.
    public let isDuplicate: Bool
    public let state: State
    /// Whether the first one had the same payload, byte for byte.
    public let isSamePayload: Bool
  }

  static func brokenRule(ofLane lane: String) -> String? {
    (1...100).contains(lane.utf8.count) && !lane.hasZero ? nil : "lane (1 to 100 bytes, none of them 0)"
  }
}

extension String {
  var hasZero: Bool { utf8.contains(0) }
}

extension Date {
  /// Milliseconds since 1970, rounded down; nil for a date that no calendar reaches.
  var wholeMilliseconds: Int64? {
    Int64(exactly: (timeIntervalSince1970 * 1000).rounded(.down))
  }

  init(wholeMilliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(wholeMilliseconds) / 1000)
  }
}
