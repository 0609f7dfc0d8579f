// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("What an account may have done")
struct AccountBudgetTests {
  private let day: Duration = .seconds(86_400)

  private func limits(atOnce: Int = 1_000, clips: Int = 1_000, bytes: Int = 1_000_000) -> WorkLimits {
    var limits = WorkLimits()
    (limits.clipsAtOnce, limits.clipsADay, limits.bytesADay) = (atOnce, clips, bytes)
    return limits
  }

  @Test("so many clips at once, and one more when one has ended")
  func atOnce() {
    var budget = AccountBudget(limits(atOnce: 2))
    #expect(budget.begin(at: .zero) == nil && budget.begin(at: .zero) == nil)
    #expect(budget.begin(at: .zero) == .clipsAtOnce && budget.underWay == 2)
    budget.end(bytes: 10, at: .zero)
    #expect(budget.begin(at: .zero) == nil)
    budget.end(bytes: nil, at: .zero)
    #expect(budget.begin(at: .zero) == nil)
  }

  @Test("so many clips a day, which come back one by one and are all back after a day")
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

  @Test("so many bytes a day; the last clip may go beyond, and is paid off")
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

  @Test("a clip that was not made costs nothing of the day")
  func notMade() {
    var budget = AccountBudget(limits(clips: 1))
    for _ in 0..<5 {
      #expect(budget.begin(at: .zero) == nil)
      budget.end(bytes: nil, at: .zero)
    }
    #expect(budget.isUnused(at: .zero))
  }

  @Test("what a former service counted counts on, less what has come back since")
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

  @Test("a clock that runs backwards gives nobody more")
  func backwards() {
    var budget = AccountBudget(limits(clips: 1))
    #expect(budget.begin(at: day) == nil)
    budget.end(bytes: 1, at: day)
    #expect(budget.begin(at: .zero) != nil)
  }
}
