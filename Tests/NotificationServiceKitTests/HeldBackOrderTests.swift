// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NotificationServiceKit

@Suite("Limits on the time for which later payments wait")
struct HeldBackOrderTests {
  private typealias Push = VirtualPhone.Push
  private let settings = NotificationOrder.Settings()

  private func arrive(
    _ order: inout NotificationOrder, _ sequence: Int64, isMissed: Bool = false, at now: Int64
  ) throws -> Int64 {
    let push = Push.payment(sequence, at: 0).arrival
    let number = order.arrive(push, isMissed: isMissed, process: "a", at: now, settings)
    return try #require(number)
  }

  /// A work on a lost push gets no exact sound.
  private func tryInVain(_ order: inout NotificationOrder, at now: Int64) throws -> NotificationOrder.Turn {
    let number = try arrive(&order, 1, isMissed: true, at: now)
    order.prepared(number, duration: 1_000, settings)
    return order.turn(of: number, "p1", at: now, isExact: false, canAsk: true, settings)
  }

  @Test("if the process that handles the first push is killed, the phone asks the service for that push")
  func firstNumber() throws {
    var order = NotificationOrder()
    _ = try arrive(&order, 7, at: 0)
    let second = try arrive(&order, 8, at: 7_000)
    order.prepared(second, duration: 1_000, settings)
    _ = order.removeAbandoned(at: 8_100, settings) { _ in false }
    let early = order.turn(of: second, "p8", at: 8_100, canAsk: true, settings)
    #expect(early != .speak)
    let after = order.claimCatchUp(second, at: 8_600, settings)
    #expect(after == 6)
    let first = try arrive(&order, 7, isMissed: true, at: 8_700)
    order.prepared(first, duration: 1_000, settings)
    order.endCatchUp(second, upTo: 7, isComplete: true, at: 8_700, settings)
    let heard = order.turn(of: first, "p7", at: 8_700, canAsk: true, settings)
    #expect(heard == .speak)
    let next = order.turn(of: second, "p8", at: 9_950, canAsk: true, settings)
    #expect(next == .speak)
  }

  @Test("the number of tries for a sound that is unavailable is kept after a restart of the phone")
  func restartedPhone() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    order.notice(864_000_000)
    #expect(try tryInVain(&order, at: 864_000_000) == .postponed)
    order.notice(1_000)
    #expect(try tryInVain(&order, at: 11_000) == .postponed)
    #expect(try tryInVain(&order, at: 21_000) == .speak)
  }

  @Test("if many sounds are unavailable, only the tries for the lowest sequence numbers are counted")
  func manyFailures() {
    var order = NotificationOrder()
    for now: Int64 in [0, 10_000, 20_000] {
      for sequence: Int64 in 1...150 { order.countTry(for: sequence, at: now, settings) }
    }
    #expect(order.failures.map(\.sequence) == Array(1...Int64(NotificationOrder.failureCount)))
    #expect(order.failures.allSatisfy { $0.tries == 3 })
  }

  @Test("an unfinished try for a lost push counts only if it lasted at least 2 s")
  func unfinishedTry() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    for (now, tries): (Int64, Int?) in [(0, nil), (10_000, 1), (20_000, 2)] {
      let number = try arrive(&order, 1, isMissed: true, at: now)
      order.beginAgain(number, at: now, settings)
      order.releaseMissed(of: "a", at: now + (tries == nil ? 1_999 : 2_000), settings)
      #expect(order.failures.first?.tries == tries)
      #expect(order.postponed == [1])
    }
    // A work that has not begun does not count as a try.
    _ = try arrive(&order, 1, isMissed: true, at: 40_000)
    order.releaseMissed(of: "a", at: 60_000, settings)
    #expect(order.failures.first?.tries == 2)
  }

  @Test("a lost push whose process is killed counts as tried")
  func killedTry() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let number = try arrive(&order, 1, isMissed: true, at: 0)
    order.beginAgain(number, at: 0, settings)
    _ = order.removeAbandoned(at: 8_100, settings) { _ in true }
    #expect(order.failures.map(\.tries) == [1])
  }

  @Test("a payment that was heard without its amount is heard again, in order, when the service sends it again")
  func heardWithTone() throws {
    var order = NotificationOrder()
    order.restart(after: 3)
    order.note(UnwrittenHandOver(id: "p5", sequence: 5, at: 0, until: .min, isExact: false))
    let sixth = try arrive(&order, 6, at: 100)
    let after = order.claimCatchUp(sixth, at: 600, settings)
    #expect(after == 3)
    let fourth = try arrive(&order, 4, isMissed: true, at: 700)
    let fifth = try arrive(&order, 5, isMissed: true, at: 700)
    order.endCatchUp(sixth, upTo: 5, isComplete: true, at: 700, settings)
    var now: Int64 = 700
    for (number, id) in [(fourth, "p4"), (fifth, "p5"), (sixth, "p6")] {
      order.prepared(number, duration: 1_000, settings)
      let turn = order.turn(of: number, id, at: now, canAsk: true, settings)
      #expect(turn == .speak, "\(id)")
      now = order.freeAt
    }
    #expect(order.unheard.isEmpty)
    #expect(order.lastSequence == 6)
  }

  @Test("a summary does not include payments after a payment that the service must send again")
  func summaryBeforePostponed() throws {
    var order = NotificationOrder()
    order.restart(after: 3)
    _ = try arrive(&order, 5, isMissed: true, at: 0)
    order.releaseMissed(of: "a", at: 0, settings)
    var numbers: [Int64] = []
    for sequence in [4] + Array(Int64(6)...17) {
      let number = try arrive(&order, sequence, at: 0)
      order.prepared(number, duration: 3_000, settings)
      numbers.append(number)
    }
    let first = order.turn(of: numbers[0], "p4", at: 0, canAsk: true, settings)
    #expect(first == .speak)
    let second = order.turn(of: numbers[1], "p6", at: order.freeAt, canAsk: true, settings)
    #expect(second != .speak)
    if case .summarise = second { Issue.record("A summary passes the fifth payment.") }
  }

  @Test("a payment that is handed over by a process that counted as ended does not delay later payments")
  func handedOverLate() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = try arrive(&order, 1, at: 0)
    _ = order.removeAbandoned(at: 8_100, settings) { _ in false }
    #expect(order.postponed == [1])
    order.note(UnwrittenHandOver(id: "p1", sequence: 1, at: 8_200, until: .min, isExact: true))
    #expect(order.postponed.isEmpty)
    let second = try arrive(&order, 2, at: 8_300)
    order.prepared(second, duration: 1_000, settings)
    let turn = order.turn(of: second, "p2", at: 8_300, canAsk: true, settings)
    #expect(turn == .speak)
  }

  @Test("a payment whose clip iOS played for a killed process is not heard a second time")
  func shownAfterTone() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    order.note(UnwrittenHandOver(id: "p1", sequence: 1, at: 0, until: .min, isExact: false))
    #expect(order.unheard == [1])
    _ = try arrive(&order, 1, at: 100)
    _ = order.removeAbandoned(at: 8_200, settings) { _ in true }
    #expect(order.unheard.isEmpty)
  }
}
