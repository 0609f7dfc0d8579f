// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// Something that happened, as it is told to whoever watches. It has no amounts and no names.
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
      /// It was playing and is not any more; it will be heard again, from its start.
      case interrupted
      /// A summary stands for it; `by` in the detail is the summary's number.
      case summarised
      /// A summary that stood for it ended unheard; it stands for itself again.
      case released
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
        }
      }
    }

    /// Strictly rising, never used again.
    public let position: Int64
    public let at: Date
    /// The announcement's number, where it is about one.
    public let number: Int64?
    public let lane: String
    public let kind: Kind
    /// Codes and numbers, as in `["code": "no_voice"]`.
    public let detail: [String: String]
  }

  /// Tells those who watch something that changes no announcement, as a device that was lost.
  ///
  /// - Parameters:
  ///   - detail: codes and numbers, at most 1,000 bytes as JSON. No amounts, no names: it goes into logs.
  ///   - sequence: the lane's numbers up to this one have passed; written with the event or not at all.
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

  /// What happened after an event, oldest first; from the oldest that is kept when that one was pruned.
  ///
  /// - Parameters:
  ///   - position: the last one that is known; 0 for none.
  ///   - limit: 1 to 1,000.
  public func events(
    after position: Int64 = 0, lane: String? = nil, limit: Int = 200
  ) async throws(LedgerError) -> [Event] {
    if let lane { try checkLane(lane, while: .reading) }
    let limit = min(max(limit, 1), 1000)
    return try await read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT * FROM events WHERE position > ? AND (? IS NULL OR lane = ?) ORDER BY position LIMIT ?")
      return try Row.fetchAll(statement, arguments: [position, lane, lane, limit]).map { row in
        Event(
          position: try row.value("position"), at: Date(wholeMilliseconds: try row.value("at")),
          number: try row.optional("announcement"), lane: try row.value("lane"), kind: try row.name("kind"),
          detail: try row.detail())
      }
    }
  }

  /// The position of the last event, 0 when there was none: where a watcher starts that wants only what is new.
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

  func checkLane(_ lane: String, while action: LedgerError.Action) throws(LedgerError) {
    if let rule = Self.brokenRule(ofLane: lane) {
      throw LedgerError(.invalidValue, while: action, in: file, field: rule)
    }
  }

  func checkDetail(_ detail: [String: String]) throws(LedgerError) {
    guard detail.reduce(2, { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }) <= 1000 else {
      throw LedgerError(.invalidValue, while: .changing, in: file, field: "detail (at most 1000 bytes as JSON)")
    }
  }

  /// nil for an empty one.
  static func json(_ detail: [String: String]) throws -> String? {
    guard !detail.isEmpty else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(detail), as: UTF8.self)
  }
}
