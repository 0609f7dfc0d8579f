// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// An event, as watchers of the ledger receive it. It contains no amounts and no names.
  public struct Event: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      case accepted
      case rendering
      case waiting
      case playing
      case played
      case cancelled
      case failed
      case expired
      case quiet
      /// The announcement was playing and was interrupted. It will be played again from the start.
      case interrupted
      /// A summary now includes the announcement. `by` in the detail is the summary's number.
      case summarised
      /// The summary that included the announcement ended without being played. The announcement is to be played
      /// individually again.
      case released
      /// The announcement was moved to this lane from a lane that no process plays. `from` in the detail names that
      /// lane.
      case moved
      /// The cancellation of a waiting announcement was undone. The announcement waits again in its old place.
      case restored
      case sequenceMissing = "sequence_missing"
      case sequenceLate = "sequence_late"
      case deviceLost = "device_lost"
      case deviceBack = "device_back"

      init(_ state: State) {
        switch state {
        case .accepted: self = .accepted
        case .rendering: self = .rendering
        case .waiting: self = .waiting
        case .playing: self = .playing
        case .played: self = .played
        case .cancelled: self = .cancelled
        case .failed: self = .failed
        case .expired: self = .expired
        case .quiet: self = .quiet
        }
      }
    }

    /// The event's position. Positions strictly increase and are never reused.
    public let position: Int64
    public let at: Date
    /// The number of the announcement; nil when the event is not about an announcement.
    public let number: Int64?
    public let lane: String
    public let kind: Kind
    /// The event's codes and numbers, such as `["code": "no_voice"]`.
    public let detail: [String: String]
  }

  /// Records an event that changes no announcement, such as a lost device.
  ///
  /// - Parameters:
  ///   - detail: Codes and numbers, at most 1,000 bytes as JSON. It is written to logs and must not contain amounts or
  ///     names.
  ///   - sequence: The lane's last sequence number that was played or skipped. It is stored in the same transaction as
  ///     the event.
  public func record(
    _ kind: Event.Kind, lane: String, number: Int64? = nil, detail: [String: String] = [:],
    passing sequence: Int64? = nil
  ) async throws(LedgerError) {
    try checkLane(lane, while: .changing)
    try checkDetail(detail)
    try await write(while: .changing) { [self] database in
      if let sequence { try Self.pass(sequence, lane: lane, in: database) }
      try Self.append(kind, number, lane: lane, detail: detail, at: timeStamp, in: database)
    }
  }

  /// Returns the events after a position, oldest first. If the event at that position was pruned, the result starts
  /// with the oldest event that is left.
  ///
  /// - Parameters:
  ///   - position: The position of the last event that the caller has seen; 0 for none.
  ///   - limit: The maximum number of events, 1 to 1,000.
  public func events(
    after position: Int64 = 0, lane: String? = nil, limit: Int = 200
  ) async throws(LedgerError) -> [Event] {
    if let lane { try checkLane(lane, while: .reading) }
    let limit = min(max(limit, 1), 1000)
    return try await read(isLong: true) { database in
      let statement = try database.cachedStatement(
        sql: "SELECT * FROM events WHERE position > ? AND (? IS NULL OR lane = ?) ORDER BY position LIMIT ?")
      return try statement.all([position, lane, lane, limit]) { row in
        Event(
          position: try row.value("position"), at: Date(wholeMilliseconds: try row.value("at")),
          number: try row.optional("announcement"), lane: try row.value("lane"), kind: try row.name("kind"),
          detail: try row.detail())
      }
    }
  }

  /// Returns the position of the last event, or 0 if there was none. A watcher that wants only new events starts here.
  public func lastEventPosition() async throws(LedgerError) -> Int64 {
    try await read { database in
      try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
    }
  }

  static func append(
    _ kind: Event.Kind, _ number: Int64?, lane: String, detail: [String: String] = [:], at: Int64,
    in database: Database
  ) throws {
    try database.cachedStatement(
      sql: "INSERT INTO events (at, announcement, lane, kind, detail) VALUES (?, ?, ?, ?, ?)"
    ).execute(arguments: [at, number, lane, kind.rawValue, try json(detail)])
  }

  /// Throws `invalidValue` if a value breaks a rule.
  ///
  /// - Parameter rule: The rule that the value breaks; nil if it breaks none.
  func refuse(_ rule: String?, while action: LedgerError.Action) throws(LedgerError) {
    if let rule { throw LedgerError(.invalidValue, while: action, in: file, field: rule) }
  }

  func checkLane(_ lane: String, while action: LedgerError.Action) throws(LedgerError) {
    try refuse(Self.brokenRule(ofLane: lane), while: action)
  }

  func checkDetail(_ detail: [String: String]) throws(LedgerError) {
    guard detail.reduce(2, { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }) <= 1000 else {
      throw LedgerError(.invalidValue, while: .changing, in: file, field: "detail (at most 1000 bytes as JSON)")
    }
  }

  /// Returns the detail as JSON; nil when it is empty.
  static func json(_ detail: [String: String]) throws -> String? {
    guard !detail.isEmpty else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(detail), as: UTF8.self)
  }
}
