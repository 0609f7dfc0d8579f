// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("The budget of an account")
struct AccountBudgetTests {
  private let day: Duration = .seconds(86_400)

  private func limits(atOnce: Int = 1_000, clips: Int = 1_000, bytes: Int = 1_000_000) -> WorkLimits {
    var limits = WorkLimits()
    (limits.clipsAtOnce, limits.clipsADay, limits.bytesADay) = (atOnce, clips, bytes)
    return limits
  }

  @Test("by default, an account may make 32 clips at once, and 20,000 clips and 4 GiB in a day")
  func defaults() {
    let limits = WorkLimits()
    #expect(limits.clipsAtOnce == 32 && limits.clipsADay == 20_000 && limits.bytesADay == 4_294_967_296)
  }

  @Test("the number of an account's simultaneous clips is limited, and a clip that ends frees its place")
  func atOnce() {
    var budget = AccountBudget(limits(atOnce: 2))
    #expect(budget.begin(at: .zero) == nil && budget.begin(at: .zero) == nil)
    #expect(budget.begin(at: .zero) == .clipsAtOnce && budget.underWay == 2)
    budget.end(bytes: 10, at: .zero)
    #expect(budget.begin(at: .zero) == nil)
    budget.end(bytes: nil, at: .zero)
    #expect(budget.begin(at: .zero) == nil)
  }

  @Test("the number of an account's clips in a day is limited, and the budget returns one clip at a time within a day")
  func clips() {
    var budget = AccountBudget(limits(clips: 4))
    for _ in 0..<4 {
      #expect(budget.begin(at: .zero) == nil)
      budget.end(bytes: 1, at: .zero)
    }
    #expect(budget.begin(at: .zero) == .day(day / 4) && budget.underWay == 0)
    #expect(budget.begin(at: day / 8) == .day(day / 8))
    #expect(budget.begin(at: day / 4) == nil)
    budget.end(bytes: 1, at: day / 4)
    #expect(budget.begin(at: day / 4) == .day(day / 4))
    #expect(budget.use(at: day / 2).clips == 3)
    #expect(!budget.isUnused(at: day) && budget.isUnused(at: day + day / 4))
  }

  @Test("an account's bytes in a day are limited, and the last clip may exceed the limit at the cost of a longer wait")
  func bytes() {
    var budget = AccountBudget(limits(bytes: 86_400))
    #expect(budget.begin(at: .zero) == nil)
    budget.end(bytes: 86_399, at: .zero)
    #expect(budget.begin(at: .zero) == nil)
    budget.end(bytes: 3_601, at: .zero)
    #expect(budget.begin(at: .zero) == .day(.seconds(3_601)))
    #expect(budget.use(at: .zero).bytes == 90_000)
    #expect(budget.begin(at: .seconds(3_601)) == nil)
  }

  @Test("a clip that was not made does not count against the daily limit")
  func notMade() {
    var budget = AccountBudget(limits(clips: 1))
    for _ in 0..<5 {
      #expect(budget.begin(at: .zero) == nil)
      budget.end(bytes: nil, at: .zero)
    }
    #expect(budget.isUnused(at: .zero))
  }

  @Test("the use that an earlier run of the service stored counts, minus the part that has come back since then")
  func restored() {
    var before = AccountBudget(limits(clips: 10, bytes: 1_000))
    for _ in 0..<10 {
      #expect(before.begin(at: .zero) == nil)
      before.end(bytes: 50, at: .zero)
    }
    let used = before.use(at: .zero)
    #expect(used == AccountBudget.Use(clips: 10, bytes: 500))
    var same = AccountBudget(limits(clips: 10, bytes: 1_000), used: used)
    #expect(same.begin(at: .zero) == .day(day / 10))
    let later = AccountBudget(limits(clips: 10, bytes: 1_000), used: used, at: .zero - day / 2)
    #expect(later.use(at: .zero) == AccountBudget.Use(clips: 5, bytes: 0))
    let forged = AccountBudget(limits(), used: AccountBudget.Use(clips: -5, bytes: -5))
    #expect(forged.isUnused(at: .zero))
  }

  @Test("after the limits were lowered, an account waits no longer than after a full use of the new limits")
  func lowered() {
    let used = AccountBudget.Use(clips: 20_000, bytes: 4 << 30)
    var budget = AccountBudget(limits(clips: 10, bytes: 1_000), used: used)
    #expect(budget.begin(at: .zero) == .day(day / 10))
    #expect(budget.use(at: .zero) == AccountBudget.Use(clips: 10, bytes: 1_000))
    #expect(budget.begin(at: day / 10) == nil)
    let forged = AccountBudget(limits(), used: AccountBudget.Use(clips: .max, bytes: .max))
    #expect(forged.isUnused(at: day))
  }

  @Test("lists may use four fifths of the daily clips, and the rest is reserved for announcements")
  func lists() {
    var budget = AccountBudget(limits(clips: 10))
    for _ in 0..<8 {
      #expect(budget.begin(.list, at: .zero) == nil)
      budget.end(bytes: 1, at: .zero)
    }
    #expect(budget.begin(.list, at: .zero) == .day(day / 10))
    for _ in 0..<2 {
      #expect(budget.begin(at: .zero) == nil)
      budget.end(bytes: 1, at: .zero)
    }
    #expect(budget.begin(at: .zero) == .day(day / 10))
    #expect(budget.begin(.list, at: .zero) == .day(day * 3 / 10), "clips of announcements count for lists too")
    #expect(budget.begin(.list, at: day * 3 / 10) == nil)
  }

  @Test("lists may use four fifths of the daily bytes, and the rest is reserved for announcements")
  func bytesOfLists() {
    var budget = AccountBudget(limits(bytes: 1_000))
    #expect(budget.begin(.list, at: .zero) == nil)
    budget.end(bytes: 800, at: .zero)
    #expect(budget.begin(.list, at: .zero) == .day(day / 1_000))
    #expect(budget.begin(at: .zero) == nil)
  }

  @Test(
    "lists may use a part of the daily limit even if the limit is small",
    arguments: [(1, 0), (2, 1), (4, 1), (5, 1), (9, 2), (20_000, 4_000)])
  func small(amount: Int, kept: Int) {
    #expect(DailyAllowance(amount).keptForAnnouncements == kept)
    var budget = AccountBudget(limits(clips: amount))
    #expect(budget.begin(.list, at: .zero) == nil)
  }

  @Test("an unneeded part of the daily limit can be given back, but never more than was taken")
  func givenBack() {
    var allowance = DailyAllowance(10)
    allowance.use(6, at: .zero)
    allowance.giveBack(4, at: .zero)
    #expect(allowance.count(at: .zero) == 2)
    allowance.giveBack(5, at: .zero)
    #expect(allowance.count(at: .zero) == 0 && allowance.wait(at: .zero) == .zero)
  }

  @Test("a clip that failed because of its text counts as a clip without bytes")
  func paid() {
    var budget = AccountBudget(limits(clips: 1))
    #expect(budget.begin(at: .zero) == nil)
    budget.end(bytes: 0, at: .zero)
    #expect(budget.use(at: .zero) == AccountBudget.Use(clips: 1, bytes: 0))
    #expect(budget.begin(at: .zero) == .day(day) && budget.underWay == 0)
  }

  @Test("a clock that runs backwards does not increase the budget of an account")
  func backwards() {
    var budget = AccountBudget(limits(clips: 1))
    #expect(budget.begin(at: day) == nil)
    budget.end(bytes: 1, at: day)
    #expect(budget.begin(at: .zero) != nil)
  }
}
