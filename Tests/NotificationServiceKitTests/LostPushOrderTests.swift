// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NotificationServiceKit

@Suite("Lost pushes in the order of notifications")
struct LostPushOrderTests {
  private typealias Push = VirtualPhone.Push
  private let settings = NotificationOrder.Settings()

  private func arrive(
    _ order: inout NotificationOrder, _ sequence: Int64, isMissed: Bool = false, at now: Int64
  ) throws -> Int64 {
    let number = order.arrive(Push.payment(sequence, at: 0).arrival, isMissed: isMissed, at: now, settings)
    return try #require(number)
  }

  @Test("an answer to an older request for lost pushes does not end the newer request of the same process")
  func staleAnswer() throws {
    var order = NotificationOrder()
    order.restart(after: 1)
    let first = try arrive(&order, 3, at: 0)
    let claim1 = order.claimCatchUp(first, at: 500, settings)
    #expect(claim1 == 1)
    let second = try arrive(&order, 7, at: 600)
    let claim2 = order.claimCatchUp(first, at: 5_000, settings)
    #expect(claim2 == 1)
    #expect(order.catchUpEnd == 6)
    order.endCatchUp(first, upTo: 2, isComplete: true, at: 5_100, settings)
    // The order still waits for the fifth push.
    #expect(order.catchUpEnd == 6)
    let fifth = order.arrive(Push.payment(5, at: 0).arrival, isMissed: true, at: 5_200, settings)
    #expect(fifth != nil)
    _ = second
  }

  @Test("a payment whose sound failed while lost pushes were requested stays unheard after that request ends")
  func unheardDuringRequest() throws {
    var order = NotificationOrder()
    order.restart(after: 1)
    let third = try arrive(&order, 3, at: 0)
    _ = order.claimCatchUp(third, at: 500, settings)
    let second = try arrive(&order, 2, isMissed: true, at: 600)
    order.prepared(second, duration: 1_000, settings)
    let answer = order.turn(of: second, "p2", at: 600, canAsk: true, settings)
    #expect(answer == .speak)
    order.note(UnwrittenHandOver(id: "p2", sequence: 2, at: 700, until: .min, isExact: false))
    order.endCatchUp(third, upTo: 2, isComplete: true, at: 800, settings)
    #expect(order.unheard == [2])
  }

  @Test("a push that arrives late replaces the copy that the service was asked for")
  func latePush() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let asked = try arrive(&order, 1, isMissed: true, at: 0)
    let late = try arrive(&order, 1, at: 100)
    #expect(order.entries.map(\.number) == [late])
    order.prepared(late, duration: 1_000, settings)
    let answer1 = order.turn(of: asked, "p1", at: 200, canAsk: true, settings)
    #expect(answer1 == .forgotten)
    let again = order.arrive(Push.payment(1, at: 0).arrival, isMissed: true, at: 200, settings)
    #expect(again == nil)
    let answer2 = order.turn(of: late, "p1", at: 200, canAsk: true, settings)
    #expect(answer2 == .speak)
  }

  @Test("a number that becomes missing again during a request for lost pushes stays missing after the answer")
  func missingAgain() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let third = try arrive(&order, 3, at: 0)
    _ = order.claimCatchUp(third, at: 500, settings)
    let second = order.arrive(
      Push.payment(2, at: 0).arrival, isMissed: true, process: "a", at: 600, settings)
    #expect(second != nil)
    order.releaseMissed(of: "a", at: 700, settings)
    order.endCatchUp(third, upTo: 2, isComplete: true, at: 800, settings)
    #expect(order.lastSequence == 0)
    #expect(order.catchUpTime(settings) == 1_200)
  }

  @Test("the service is asked again for the same missing numbers after 4 s, and for further numbers at once")
  func askedAgain() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let third = try arrive(&order, 3, at: 0)
    _ = order.claimCatchUp(third, at: 500, settings)
    order.endCatchUp(third, upTo: 2, isAnswered: false, isComplete: false, at: 800, settings)
    #expect(order.catchUpTime(settings) == 4_800)
    _ = try arrive(&order, 5, at: 900)
    #expect(order.catchUpTime(settings) == 500)
  }

  @Test(
    "lost pushes that a process gives up are removed from the order, and their sequence numbers count as missing again")
  func released() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let lost = order.arrive(Push.payment(1, at: 0).arrival, isMissed: true, process: "a", at: 0, settings)
    let second = order.arrive(Push.payment(2, at: 0).arrival, process: "a", at: 0, settings)
    #expect(lost != nil)
    // The process still works on the second one, which does not keep the lost one alive.
    order.renew(second ?? 0, at: 5_000, settings)
    #expect(order.entry(lost ?? 0)?.aliveUntil == 8_000)
    order.releaseMissed(of: "a", at: 5_100, settings)
    #expect(order.entries.map(\.id) == ["p2"])
    #expect(order.catchUpTime(settings) == 5_600)
  }

  @Test(
    "a hand-over that is not yet in the order file is not repeated, and the next push waits for the end of that sound")
  func unwrittenHandOver() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = order.arrive(Push.payment(1, at: 0).arrival, at: 0, settings)
    let second = try arrive(&order, 2, at: 0)
    order.prepared(second, duration: 1_000, settings)
    order.note(UnwrittenHandOver(id: "p1", sequence: 1, at: 500, until: 3_750, isExact: true))
    let answer7 = order.turn(of: second, "p2", at: 600, canAsk: false, settings)
    #expect(answer7 == .wait(until: 3_750))
    let answer8 = order.arrive(Push.payment(1, at: 0).arrival, at: 700, settings)
    #expect(answer8 == nil)
    let answer9 = order.turn(of: second, "p2", at: 3_750, canAsk: false, settings)
    #expect(answer9 == .speak)
  }

  @Test("if the system refuses a local notification, the service is asked for the payment again")
  func refusedNotification() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let first = try arrive(&order, 1, isMissed: true, at: 0)
    order.prepared(first, duration: 1_000, settings)
    let answer10 = order.turn(of: first, "p1", at: 0, canAsk: true, settings)
    #expect(answer10 == .speak)
    order.note(UnwrittenHandOver(id: "p1", sequence: 1, at: 10, until: .min, isExact: false))
    #expect(order.lastHeard == 0)
    let answer11 = order.arrive(Push.payment(1, at: 0).arrival, isMissed: true, at: 9_000, settings)
    #expect(answer11 != nil)
  }
}
