// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("The memory budget for bodies of unverified senders")
struct BodyBudgetTests {
  private let budget: BodyBudget

  init() {
    var limits = BodyBudget.Limits()
    (limits.bytes, limits.bytesOfOne, limits.bodies, limits.bodiesOfOne) = (100, 40, 6, 3)
    limits.patience = .seconds(5)
    budget = BodyBudget(limits)
  }

  private func begin(_ budget: inout BodyBudget, _ keyID: String, at now: Duration = .zero) throws -> Int {
    try #require(budget.begin(keyID, at: now).ticket)
  }

  @Test("the bodies of one key id can use only its share of the memory, and the rest stays free for other ids")
  func share() throws {
    var budget = budget
    for (index, keyID) in ["a", "b"].enumerated() {
      let ticket = try begin(&budget, keyID)
      #expect(budget.grow(ticket, by: 40, at: .zero).isHeld)
      #expect(!budget.grow(ticket, by: 1, at: .zero).isHeld)
      #expect(budget.bytes == 40 * (index + 1))
    }
    let third = try begin(&budget, "c")
    #expect(budget.grow(third, by: 20, at: .zero).isHeld)
    #expect(!budget.grow(third, by: 1, at: .zero).isHeld, "the total limit applies too")
  }

  @Test("the number of unverified bodies is limited for each key id and in total")
  func bodies() throws {
    var budget = budget
    for _ in 0..<3 { _ = try begin(&budget, "a") }
    #expect(budget.begin("a", at: .zero).ticket == nil)
    for _ in 0..<3 { _ = try begin(&budget, "b") }
    #expect(budget.begin("c", at: .zero).ticket == nil && budget.count == 6)
  }

  @Test("an unverified body that ends frees its memory exactly once")
  func ended() throws {
    var budget = budget
    let ticket = try begin(&budget, "a")
    #expect(budget.grow(ticket, by: 40, at: .zero).isHeld)
    for _ in 0..<2 { budget.end(ticket) }
    #expect(budget.count == 0 && budget.bytes == 0)
    #expect(!budget.grow(ticket, by: 1, at: .zero).isHeld)
    let next = try begin(&budget, "a")
    #expect(budget.grow(next, by: 40, at: .zero).isHeld)
  }

  @Test("an unverified body that ends frees only its own memory")
  func endedFirst() throws {
    var budget = budget
    let (first, second) = (try begin(&budget, "a"), try begin(&budget, "a"))
    #expect(budget.grow(first, by: 30, at: .zero).isHeld)
    budget.end(second)
    let third = try begin(&budget, "a")
    #expect(!budget.grow(third, by: 11, at: .zero).isHeld, "the first body still has its share")
    #expect(budget.grow(third, by: 10, at: .zero).isHeld)
  }

  @Test("an unverified body that grows drops no other body if there is memory, even if no new body could begin")
  func growsWhenFull() throws {
    var budget = budget
    let tickets = try (0..<3).map { _ in try begin(&budget, "a") }
    #expect(budget.grow(tickets[0], by: 1, at: .seconds(60)) == (true, []))
    #expect(budget.count == 3)
  }

  @Test("an unverified body is dropped for another body with its key id only after five seconds")
  func givesWay() throws {
    var budget = budget
    let slow = try begin(&budget, "a")
    #expect(budget.grow(slow, by: 30, at: .zero).isHeld)
    let other = try begin(&budget, "b")
    let quick = try begin(&budget, "a", at: .seconds(4))
    #expect(budget.grow(quick, by: 11, at: .seconds(4)) == (false, []))
    #expect(budget.grow(quick, by: 11, at: .seconds(5)) == (true, [slow]))
    #expect(budget.grow(slow, by: 1, at: .seconds(5)) == (false, []), "it was dropped")
    #expect(budget.grow(other, by: 1, at: .seconds(5)).isHeld, "an older body of another id stays")
    #expect(budget.bytes == 12)
  }

  @Test("when the memory for unverified bodies is used up, the oldest body of any key id is dropped")
  func oldest() throws {
    var budget = budget
    var tickets: [Int] = []
    for (second, keyID) in ["a", "b", "a", "b", "c", "d"].enumerated() {
      tickets.append(try begin(&budget, keyID, at: .seconds(second)))
    }
    let answer = budget.begin("e", at: .seconds(6))
    #expect(answer.ticket != nil && answer.dropped == [tickets[0]])
    #expect(budget.begin("e", at: .seconds(6)).dropped == [tickets[1]])
    #expect(budget.begin("f", at: .seconds(6)).ticket == nil, "the others are not old enough")
  }

  @Test("the budget for unverified bodies stays within its limits, whatever bodies arrive")
  func bounded() {
    var budget = budget
    var tickets: [Int] = []
    for step in 0..<5_000 {
      let now = Duration.milliseconds(step * 37)
      if step % 3 == 0, let ticket = budget.begin("\(step % 5)", at: now).ticket { tickets.append(ticket) }
      if !tickets.isEmpty { _ = budget.grow(tickets[step * 7 % tickets.count], by: step % 23, at: now) }
      if step % 4 == 0, !tickets.isEmpty { budget.end(tickets.remove(at: step * 11 % tickets.count)) }
      #expect(budget.bytes <= 100 && budget.count <= 6 && budget.bytes >= 0)
    }
    for ticket in tickets { budget.end(ticket) }
    #expect(budget.bytes == 0 && budget.count == 0)
  }
}
