// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import Ledger
import Testing
import WeeklyTimes

@Suite struct AnnouncementTotalsTests {
  private func totals(
    _ keys: Set<AnnouncementTotals.Key>, _ amounts: [(String, String, String, Double)], zone: String = "UTC"
  ) throws -> AnnouncementTotals {
    var totals = AnnouncementTotals(by: keys, clock: LocalClock(zone: try #require(TimeZone.named(zone))))
    for (value, currency, kind, at) in amounts {
      _ = totals.add(
        Ledger.StoredAmount(
          id: "a", value: value, currency: currency, kind: kind, acceptedAt: Date(timeIntervalSince1970: at)))
    }
    return totals
  }

  @Test("a test of a provider's endpoint does not count as a payment")
  func test() throws {
    var totals = AnnouncementTotals(by: [.currency], clock: LocalClock(zone: .gmt))
    for id in ["till:ch_1", "till:\(ProviderPayments.testMark)ab12"] {
      let isMoreWelcome = totals.add(
        Ledger.StoredAmount(
          id: id, value: "1.00", currency: "USD", kind: "received", acceptedAt: Date(timeIntervalSince1970: 0)))
      #expect(isMoreWelcome)
    }
    #expect(totals.groups.map(\.total.count) == [1])
  }

  private let amounts = [
    ("0.10", "USD", "received", 0.0), ("0.20", "USD", "received", 3_599), ("5", "JPY", "received", 3_600),
    ("1.00", "USD", "refunded", 3_601),
  ]

  @Test("the groups of totals have the requested keys, and have sums only if the currency is one of the keys")
  func groups() throws {
    let all = try totals([.currency, .kind, .hour], amounts).groups
    #expect(
      all.map { "\($0.group.hour?.timeIntervalSince1970 ?? -1) \($0.group.currency ?? "") \($0.group.kind ?? "")" }
        == ["0.0 USD received", "3600.0 JPY received", "3600.0 USD refunded"])
    #expect(all.map(\.total.count) == [2, 1, 1])
    #expect(all.map { $0.total.sum?.description } == ["0.30", "5", "1.00"])
    #expect(all.map(\.total.lastAt.timeIntervalSince1970) == [3_599, 3_600, 3_601])
    let kinds = try totals([.kind], amounts).groups
    #expect(kinds.map(\.group.kind) == ["received", "refunded"])
    #expect(kinds.allSatisfy { $0.total.sum == nil && $0.group.currency == nil && $0.group.hour == nil })
    let one = try totals([], amounts).groups
    #expect(one.count == 1 && one.first?.total.count == 4)
    #expect(try totals([.hour], []).groups.isEmpty)
  }

  @Test("the hours of totals follow the time zone, and the repeated hour at the end of summer time counts as two hours")
  func hours() throws {
    // On 2026-10-25, the clock in Berlin shows 02:00 again after 02:59, at 01:00 UTC (1792890000).
    let amounts = [0.0, 1_800, 3_600, 5_400, 7_200].map { ("1.00", "EUR", "received", 1_792_886_400 + $0) }
    let groups = try totals([.hour], amounts, zone: "Europe/Berlin").groups
    #expect(groups.map(\.total.count) == [2, 2, 1])
    let india = try totals([.hour], amounts, zone: "Asia/Kolkata").groups
    #expect(india.map(\.total.count) == [1, 2, 2])
  }

  /// Returns the sum of numbers as text, and which of them were added.
  private func sum(_ numbers: [String]) -> (text: String, areAdded: [Bool]) {
    var sum = DecimalSum()
    let areAdded = numbers.map { sum.add($0) }
    return (sum.description, areAdded)
  }

  @Test("the sums of totals are exact, however many digits they have")
  func sums() {
    let large = Array(repeating: "9999999999999.99", count: 1_000)
    #expect(sum(large).text == "9999999999999990.00")
    #expect(sum(large + ["0.001"]).text == "9999999999999990.001")
    #expect(sum(large + ["0.001", "10"]).text == "10000000000000000.001")
    #expect(sum([]).text == "0" && sum(["0.05"]).text == "0.05" && sum(["5", "0.5"]).text == "5.5")
  }

  @Test(
    "a text that is not a number is not added to a total",
    arguments: ["", ".", "1.", ".5", "-1", "1e3", "1,5", "٥", "1.2.3", "1 "])
  func unreadable(text: String) throws {
    let (sum, areAdded) = sum(["2.50", text])
    #expect(sum == "2.50" && areAdded == [true, false])
    #expect(try totals([.currency], [(text, "USD", "received", 0)]).isUnreadable)
  }

  @Test("an amount is not added to a total if the sum would have more than 38 digits, and the total stays unchanged")
  func tooLarge() {
    let (most, more) = (String(repeating: "9", count: 38), String(repeating: "9", count: 40))
    let (sum, areAdded) = sum([more, most, most, "0.1"])
    #expect(sum == most && areAdded == [false, true, false, false])
  }

  @Test("totals that have the maximum number of groups accept no further group")
  func tooLong() throws {
    var totals = AnnouncementTotals(by: [.hour], clock: LocalClock(zone: .gmt))
    var count = 0
    repeat {
      count += 1
    } while totals.add(
      Ledger.StoredAmount(
        id: "a", value: "1", currency: "JPY", kind: "received",
        acceptedAt: Date(timeIntervalSince1970: Double(count) * 3_600)))
    #expect(count == AnnouncementTotals.mostGroups + 1 && totals.isTooLong)
  }
}
