// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PlaybackOrder

/// An announcement in the form in which the ledger stores it.
public struct StoredAnnouncement: Sendable, Hashable {
  /// The meaning of an announcement's payload.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A payment or a text, as a backend sends it.
    case request
    /// A sound file of this machine.
    case file
    /// One announcement that stands for several payments.
    case summary
  }

  /// The account that sent the announcement, at most 255 bytes of UTF-8 without a zero byte; empty for an announcement
  /// of this machine, such as a sound file, a summary or a replay. Ids are unique within an account.
  public var account: String
  /// The announcement's id, 1 to 255 bytes of UTF-8 without a zero byte. Ids are compared byte for byte. The same id in
  /// the same account means the same announcement.
  public var id: String
  /// The lane, which is the output that plays the announcement: 1 to 100 bytes of UTF-8 without a zero byte. A player
  /// sets its own lane.
  public var lane: String
  public var kind: Kind
  /// Whether the announcement is a replay, which is played after the word "again". A replay has the original's payload.
  public var isReplay: Bool
  public var category: PlaybackItem.Category
  /// The sequence number, which rises by one with each announcement for a device; nil if the payload has none.
  public var sequence: Int64?
  /// The announcement as JSON, at most 1 MiB: exactly the bytes that were sent. The ledger does not parse it.
  public var payload: Data
  /// The locale for a payload that names no locale, as a BCP 47 tag. Like the next two properties, it is the sender's
  /// default at the time of acceptance, and has at most 255 bytes of UTF-8 without a zero byte.
  public var defaultLocale: String?
  /// The id of the voice pack for a payload that names no pack.
  public var defaultPack: String?
  /// The app group for a payload that names no group.
  public var defaultGroup: String?
  /// The decision about the announcement; nil if its clip is still to be made, or if an earlier version accepted it.
  public var decision: Decision?
  /// The time from which the announcement is dropped instead of played, stored with millisecond precision; nil when it
  /// does not expire. An announcement of a payment or a refund never expires, even if it has such a time.
  public var expiresAt: Date?

  /// The maximum size of an announcement's payload in bytes: 1 MiB.
  public static let maximumPayloadBytes = 1 << 20

  public init(
    account: String = "", id: String, lane: String = "", kind: Kind = .request, isReplay: Bool = false,
    category: PlaybackItem.Category, sequence: Int64? = nil, payload: Data, defaultLocale: String? = nil,
    defaultPack: String? = nil, defaultGroup: String? = nil, decision: Decision? = nil, expiresAt: Date? = nil
  ) {
    self.account = account
    self.id = id
    self.lane = lane
    self.kind = kind
    self.isReplay = isReplay
    self.category = category
    self.sequence = sequence
    self.payload = payload
    self.defaultLocale = defaultLocale
    self.defaultPack = defaultPack
    self.defaultGroup = defaultGroup
    self.decision = decision
    self.expiresAt = expiresAt
  }

  /// The state after acceptance. An announcement whose clip exists only waits for its turn.
  package var firstState: Ledger.State { decision == nil ? .accepted : .waiting }

  /// The number of bytes that the announcement holds in memory while it waits, roughly.
  package var cost: Int { 256 + payload.count + (decision?.byteCount ?? 0) }

  /// The first rule that a value breaks, such as `id (1 to 255 bytes)`; nil when the announcement can be accepted.
  package var brokenRule: String? {
    // SQLite would ignore everything after a zero byte, and two different ids would look the same.
    if !isText(account, 0...255) { return "account (at most 255 bytes without NUL)" }
    if !isText(id, 1...255) { return "id (1 to 255 bytes without NUL)" }
    if let rule = Ledger.brokenRule(ofLane: lane) { return rule }
    if payload.count > Self.maximumPayloadBytes { return "payload (at most \(Self.maximumPayloadBytes) bytes)" }
    let defaults = [
      ("defaultLocale", defaultLocale), ("defaultPack", defaultPack), ("defaultGroup", defaultGroup),
    ]
    for (name, value) in defaults where !isText(value, 0...255) {
      return "\(name) (at most 255 bytes without NUL)"
    }
    if let expiresAt, expiresAt.wholeMilliseconds == nil { return "expiresAt (a date that the calendar can represent)" }
    return decision?.brokenRule
  }
}

extension Ledger {
  /// The result of accepting an announcement.
  public struct Acceptance: Sendable, Hashable {
    /// The announcement's place in the order of acceptance. Numbers strictly increase, have gaps, and are never reused.
    public let number: Int64
    /// Whether the account already had an announcement with this id. The other properties then describe that first
    /// announcement.
    public let isDuplicate: Bool
    public let state: State
    /// Whether the first announcement had the same payload, byte for byte.
    public let isSamePayload: Bool

    package init(number: Int64, isDuplicate: Bool, state: State, isSamePayload: Bool) {
      self.number = number
      self.isDuplicate = isDuplicate
      self.state = state
      self.isSamePayload = isSamePayload
    }
  }
}

extension StoredAnnouncement {
  init(row: some StoredRow) throws {
    self.init(
      account: try row.value("account"), id: try row.value("id"), lane: try row.value("lane"),
      kind: try row.name("kind"), isReplay: try row.value("replay"), category: try row.name("category"),
      sequence: try row.optional("sequence"), payload: try row.value("payload"),
      defaultLocale: try row.optional("default_locale"), defaultPack: try row.optional("default_pack"),
      defaultGroup: try row.optional("default_group"), expiresAt: try row.optional("expires_at"))
  }
}

extension Ledger.Acceptance {
  /// Reads the result for an announcement that an earlier call has accepted.
  package init(first row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), isDuplicate: true, state: try row.name("state"),
      isSamePayload: try row.value("same"))
  }
}
