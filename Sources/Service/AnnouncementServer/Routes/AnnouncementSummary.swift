// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Foundation
import Hummingbird
import Ledger
import TextFormats
import WeeklyTimes

/// The query of `GET /v1/announcements/summary`: the period whose amounts are added up, and the keys by which they are
/// grouped.
struct SummaryQuery: Sendable, Hashable {
  static let parameters = ["from", "to", "by"]
  /// The longest period that is added up, in days.
  static let mostDays = 366
  /// The times that a query may name: the years 1971 to 9998. The answer has the times in any time zone, and a year in
  /// RFC 3339 has four digits.
  private static let times =
    Date(timeIntervalSince1970: 31_536_000)...Date(timeIntervalSince1970: 253_370_764_800)

  var from: Date
  var to: Date
  var by: Set<AnnouncementTotals.Key>

  /// - Parameter now: The moment whose day is added up if the query names no period.
  /// - Throws: ``Problem`` that names a query item whose value is not valid.
  init(_ query: (String) -> String?, clock: LocalClock, now: Date) throws(Problem) {
    let (from, to) = (try Self.time("from", query), try Self.time("to", query))
    self.to = to ?? clock.beginning(ofDay: clock.day(of: now) + 1)
    // The period ends just before `to`, so its last day is the day of the moment before `to`.
    self.from = from ?? clock.beginning(ofDay: clock.day(of: self.to - 0.001))
    guard self.from < self.to else {
      throw Problem.fieldInvalid(
        to == nil
          ? "from: is not before the end of today; give an earlier time, or add the parameter 'to'."
          : "from: is not before the time in 'to'; change one of the two parameters.")
    }
    guard self.to.timeIntervalSince(self.from) <= Double(Self.mostDays) * 86_400 else {
      throw Problem.fieldInvalid(
        "from: is more than \(Self.mostDays) days before the time in 'to'; change one of the two parameters.")
    }
    by = []
    guard let text = query("by") else { return }
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let key = AnnouncementTotals.Key(rawValue: String(name)) else {
        throw Problem.fieldInvalid(
          "by: has an unknown key; give one or more of currency, kind and hour, separated by commas.")
      }
      by.insert(key)
    }
  }

  private static func time(_ name: String, _ query: (String) -> String?) throws(Problem) -> Date? {
    guard let time = try AnnouncementSearch.time(name, query) else { return nil }
    guard times.contains(time) else {
      throw Problem.fieldInvalid("\(name): is not in the years 1971 to 9998; give another time.")
    }
    return time
  }
}

/// The route `GET /v1/announcements/summary`, which counts the account's announcements and adds up their amounts.
extension AnnouncementRoutes {
  private struct Summary: Encodable {
    struct Group: Encodable {
      // A group has only the keys that were asked for.
      var currency: String?
      var kind: String?
      var hour: String?
      var count: Int
      /// The exact sum as decimal text, if the currency is a key.
      var sum: String?
      var lastAt: Date
    }

    var from: String
    var to: String
    var timeZone: String
    var groups: [Group]
  }

  private struct UnreadableAmount: Error, CustomStringConvertible {
    var description: String { "A stored amount cannot be read. Check the ledger with crier doctor." }
  }

  func summary(_ call: Call) async throws -> Response {
    let clock = LocalClock(zone: settings.timeZone)
    let query = try SummaryQuery(call.query, clock: clock, now: Date())
    let totals = try await ledger.amounts(
      account: try call.sender.account, from: query.from, to: query.to,
      into: AnnouncementTotals(by: query.by, clock: clock)
    ) { $0.add($1) }
    if totals.isUnreadable { throw UnreadableAmount() }
    guard !totals.isTooLong else {
      throw Problem.fieldInvalid(
        "by: makes more than \(AnnouncementTotals.mostGroups) groups; give a shorter time, or fewer keys.")
    }
    return try ServiceJSON.response(
      .ok,
      Summary(
        from: clock.text(query.from), to: clock.text(query.to), timeZone: clock.zoneName,
        groups: totals.groups.map { group, total in
          Summary.Group(
            currency: group.currency, kind: group.kind, hour: group.hour.map(clock.text), count: total.count,
            sum: total.sum?.description, lastAt: total.lastAt)
        }))
  }
}
