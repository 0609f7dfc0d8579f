// SPDX-License-Identifier: Apache-2.0

import Foundation
import PlaybackOrder
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("The order of notifications")
struct NotificationOrderTests {
  private typealias Push = VirtualPhone.Push
  private let settings = NotificationOrder.Settings()

  private func arrive(
    _ order: inout NotificationOrder, _ sequence: Int64, isMissed: Bool = false, at now: Int64
  ) throws -> Int64 {
    let number = order.arrive(Push.payment(sequence, at: 0).arrival, isMissed: isMissed, at: now, settings)
    return try #require(number)
  }

  @Test("the sound of a notification begins after the end of the previous sound and a gap")
  func spacing() {
    var phone = VirtualPhone()
    phone.run([.payment(1, at: 0), .payment(2, at: 10), .payment(3, at: 20)])
    #expect(phone.sounds.map(\.ids) == [["p1"], ["p2"], ["p3"]])
    #expect(phone.sounds[0].begin == 0)
    for (first, second) in zip(phone.sounds, phone.sounds.dropFirst()) {
      let silence = second.begin - first.begin - first.duration
      #expect((250...270).contains(silence))
    }
  }

  @Test(
    "a push that arrives late, but before the wait for its number ends, is heard before the pushes with later numbers")
  func reordered() {
    var phone = VirtualPhone()
    phone.run([.payment(1, at: 0, duration: 500), .payment(3, at: 1_000), .payment(2, at: 2_500)])
    #expect(phone.heard == ["p1", "p2", "p3"])
    #expect(phone.sounds[1].begin == 2_500)
  }

  @Test("a push waits for a missing number no longer than the configured time")
  func missing() {
    var phone = VirtualPhone()
    phone.run([.payment(1, at: 0, duration: 500), .payment(3, at: 1_000)])
    #expect(phone.heard == ["p1", "p3"])
    #expect((3_000...3_020).contains(phone.sounds[1].begin))
  }

  @Test("the service is asked for a lost push, and the push is heard in the place of its number")
  func caughtUp() {
    var phone = VirtualPhone()
    phone.canAsk = true
    phone.known = [.payment(1, at: 0), .payment(2, at: 0), .payment(3, at: 0)]
    phone.run([.payment(1, at: 0, duration: 500), .payment(3, at: 1_000)])
    #expect(phone.heard == ["p1", "p2", "p3"])
    // The service was asked after half a second, and answered 200 ms later.
    #expect((1_700...1_760).contains(phone.sounds[1].begin))
  }

  @Test("a push stops waiting for a number if the service does not know the number")
  func unknownToTheService() {
    var phone = VirtualPhone()
    phone.canAsk = true
    phone.run([.payment(1, at: 0, duration: 500), .payment(9, at: 1_000)])
    #expect(phone.heard == ["p1", "p9"])
    #expect((1_700...1_760).contains(phone.sounds[1].begin))
  }

  @Test("one process asks for missing numbers, and another process asks if the first one is silent for too long")
  func oneAsks() {
    let settings = NotificationOrder.Settings()
    var order = NotificationOrder()
    order.restart(after: 1)
    let first = order.arrive(Push.payment(3, at: 0).arrival, at: 0, settings)
    let second = order.arrive(Push.payment(4, at: 0).arrival, at: 0, settings)
    let answer1 = order.claimCatchUp(first ?? 0, at: 499, settings)
    #expect(answer1 == nil)
    let answer2 = order.claimCatchUp(first ?? 0, at: 500, settings)
    #expect(answer2 == 1)
    let answer3 = order.claimCatchUp(second ?? 0, at: 600, settings)
    #expect(answer3 == nil)
    let answer4 = order.claimCatchUp(second ?? 0, at: 4_500, settings)
    #expect(answer4 == 1)
  }

  @Test("a push that arrives twice is heard once")
  func duplicates() {
    var phone = VirtualPhone()
    phone.run([
      .payment(1, at: 0), .payment(1, at: 5), .payment(2, at: 10), .payment(2, at: 20), .payment(1, at: 9_000),
    ])
    #expect(phone.heard == ["p1", "p2"])
    #expect(phone.silent == ["p1", "p2", "p1"])
  }

  @Test("if the last waiting payment would begin too late, one summary replaces all waiting payments")
  func summary() {
    var phone = VirtualPhone()
    phone.run((1...12).map { .payment($0, at: $0) })
    #expect(phone.sounds.count == 2)
    #expect(phone.sounds[0].ids == ["p1"])
    #expect(phone.sounds[1].ids == (2...12).map { "p\($0)" })
    #expect(phone.overlaps == 0)
  }

  @Test("a backlog that can be heard in time is not summarised")
  func noSummary() {
    var phone = VirtualPhone()
    phone.run((1...7).map { .payment($0, at: $0) })
    #expect(phone.sounds.allSatisfy { $0.ids.count == 1 })
    #expect(phone.heard == (1...7).map { "p\($0)" })
  }

  @Test("a summary contains payments only, and ends before a refund")
  func refundInBacklog() {
    var phone = VirtualPhone()
    phone.run((1...20).map { .payment($0, at: $0, category: $0 == 5 ? .refund : .payment) })
    #expect(phone.sounds.first { $0.ids.contains("p5") }?.ids == ["p5"])
    #expect(phone.heard == (1...20).map { "p\($0)" })
    #expect(phone.overlaps == 0)
  }

  @Test("if no summary can be made, payments that would be late follow as local notifications, one after the other")
  func refusedSummary() {
    var phone = VirtualPhone()
    phone.canSummarise = false
    phone.run((1...15).map { .payment($0, at: $0) })
    #expect(phone.heard == (1...15).map { "p\($0)" })
    #expect(phone.overlaps == 0)
    #expect(phone.handOvers.allSatisfy { $0.at <= $0.arrivedAt + 23_020 })
  }

  @Test("if the system keeps no more local notifications, the other payments are heard later, in order")
  func pendingLimit() {
    var phone = VirtualPhone()
    phone.canSummarise = false
    phone.canAsk = true
    phone.settings.pendingLimit = 4
    phone.order.restart(after: 0)
    let burst = (1...20).map { Push.payment($0, at: $0) }
    // Each later payment brings a part of the rest.
    let later = (21...24).map { Push.payment($0, at: ($0 - 20) * 60_000) }
    phone.known = burst + later
    phone.run(burst + later)
    #expect(phone.heard == (1...24).map { "p\($0)" })
    #expect(phone.mostPending == 4)
    #expect(phone.overlaps == 0)
  }

  @Test("a payment that was postponed because too many sounds wait is heard before later payments")
  func postponed() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    var settings = NotificationOrder.Settings()
    settings.pendingLimit = 1
    var turns: [NotificationOrder.Turn] = []
    let numbers = try (1...3).map { sequence in try arrive(&order, sequence, at: 0) }
    for number in numbers { order.prepared(number, duration: 9_000, settings) }
    for (index, number) in numbers.enumerated() {
      turns.append(order.turn(of: number, "p\(index + 1)", at: 0, isLast: true, canAsk: true, settings))
    }
    #expect(turns == [.speak, .later(at: 9_250), .postponed])
    // Although a place is free by then, the fourth one waits for the third one.
    let fourth = try arrive(&order, 4, at: 9_500)
    order.prepared(fourth, duration: 1_000, settings)
    let answer1 = order.turn(of: fourth, "p4", at: 9_500, isLast: true, canAsk: true, settings)
    #expect(answer1 == .postponed)
    #expect(order.postponed == [3, 4])
    let answer2 = order.arrive(Push.payment(3, at: 0).arrival, isMissed: true, at: 30_000, settings)
    #expect(answer2 != nil)
    #expect(order.postponed == [4])
  }

  @Test("the last possible local notification goes to an earlier payment, and not to a payment whose time limit ends")
  func places() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    var settings = NotificationOrder.Settings()
    settings.pendingLimit = 1
    let numbers = try (1...3).map { sequence in try arrive(&order, sequence, at: 0) }
    for number in numbers { order.prepared(number, duration: 9_000, settings) }
    let first = order.turn(of: numbers[0], "p1", at: 0, canAsk: true, settings)
    let third = order.turn(of: numbers[2], "p3", at: 0, isLast: true, canAsk: true, settings)
    #expect(first == .speak && third == .postponed)
    #expect(order.entry(numbers[1])?.slot == 9_250)
  }

  @Test("a payment counts towards the limit of local notifications as soon as it has a time for its local notification")
  func givenPlaces() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    var settings = NotificationOrder.Settings()
    settings.pendingLimit = 2
    let numbers = try (1...4).map { sequence in try arrive(&order, sequence, at: 0) }
    for number in numbers where number != numbers[1] { order.prepared(number, duration: 9_000, settings) }
    let first = order.turn(of: numbers[0], "p1", at: 0, canAsk: true, settings)
    let third = order.turn(of: numbers[2], "p3", at: 0, isLast: true, canAsk: true, settings)
    // The second one is not prepared, so its duration is assumed.
    #expect(first == .speak && third == .later(at: 13_500))
    let fourth = order.turn(of: numbers[3], "p4", at: 0, isLast: true, canAsk: true, settings)
    #expect(fourth == .postponed)
    let early = order.turn(of: numbers[1], "p2", at: 9_249, canAsk: true, settings)
    let due = order.turn(of: numbers[1], "p2", at: 9_250, canAsk: true, settings)
    #expect(early == .wait(until: 9_250) && due == .later(at: 9_250))
  }

  @Test("a summary that was not decided on cannot begin, and its payments stay in the order of notifications")
  func undecidedSummary() throws {
    var order = NotificationOrder()
    let numbers = try (1...2).map { sequence in try arrive(&order, sequence, at: 0) }
    for number in numbers { order.prepared(number, duration: 1_000, settings) }
    let begins = order.beginSummary(numbers[0], of: numbers, lasting: 1_000, at: 0, canAsk: false, settings)
    #expect(!begins && order.entries.count == 2)
  }

  @Test(
    "a push waits 2 s for a missing number if nobody can be asked for it, and 6 s while the service is asked",
    arguments: [(false, 2_000), (true, 6_000)])
  func patience(canAsk: Bool, patience: Int64) throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let second = try arrive(&order, 2, at: 0)
    order.prepared(second, duration: 1_000, settings)
    let early = order.turn(of: second, "p2", at: patience - 1, canAsk: canAsk, settings)
    let due = order.turn(of: second, "p2", at: patience, canAsk: canAsk, settings)
    #expect(early == .wait(until: patience) && due == .speak)
  }

  @Test("the times of local notifications follow the lengths of the clips that the pushes name")
  func expectedDuration() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let first = try arrive(&order, 1, at: 0)
    order.prepared(first, duration: 20_000, settings)
    let answer1 = order.turn(of: first, "p1", at: 0, canAsk: false, settings)
    #expect(answer1 == .speak)
    var arrival = Push.payment(2, at: 0).arrival
    arrival.expectedDuration = 6_000
    let second = try #require([order.arrive(arrival, at: 50, settings)].first ?? nil)
    let third = try arrive(&order, 3, at: 50)
    order.prepared(third, duration: 1_000, settings)
    let answer2 = order.turn(of: third, "p3", at: 100, isLast: true, canAsk: false, settings)
    #expect(answer2 == .later(at: 20_250 + 6_000 + 250))
    // The second one was given a place before it, and has time to prepare its sound.
    let answer3 = order.turn(of: second, "p2", at: 200, canAsk: false, settings)
    #expect(answer3 == .wait(until: 20_250))
    order.prepared(second, duration: 6_000, settings)
    let answer4 = order.turn(of: second, "p2", at: 300, canAsk: false, settings)
    #expect(answer4 == .later(at: 20_250))
  }

  @Test("if a sound is longer than expected, the local notifications after it begin later")
  func longerThanExpected() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    let first = try arrive(&order, 1, at: 0)
    order.prepared(first, duration: 20_000, settings)
    _ = order.turn(of: first, "p1", at: 0, canAsk: false, settings)
    let others = try (2...4).map { sequence in try arrive(&order, sequence, at: 50) }
    order.prepared(others[2], duration: 1_000, settings)
    // The fourth payment gives the two payments before it their places.
    _ = order.turn(of: others[2], "p4", at: 100, isLast: true, canAsk: false, settings)
    order.prepared(others[0], duration: 6_000, settings)
    order.prepared(others[1], duration: 1_000, settings)
    let answer1 = order.turn(of: others[0], "p2", at: 200, canAsk: false, settings)
    let answer2 = order.turn(of: others[1], "p3", at: 200, canAsk: false, settings)
    #expect(answer1 == .later(at: 20_250))
    #expect(answer2 == .later(at: 20_250 + 6_000 + 250))
  }

  @Test("if no service can be asked, every payment is heard, however many sounds wait")
  func nobodyToAsk() {
    var phone = VirtualPhone()
    phone.canSummarise = false
    phone.settings.pendingLimit = 4
    phone.run((1...20).map { .payment($0, at: $0) })
    #expect(phone.heard == (1...20).map { "p\($0)" })
    #expect(phone.overlaps == 0)
  }

  @Test("a push that arrives during a registration does not restart the order of notifications")
  func registration() {
    var order = NotificationOrder()
    order.restart(after: 7)
    for sequence in Int64(8)...9 {
      let number = order.arrive(Push.payment(sequence, at: 0).arrival, at: 0, settings)
      order.prepared(number ?? 0, duration: 0, settings)
      _ = order.turn(of: number ?? 0, "p\(sequence)", at: sequence * 1_000, canAsk: false, settings)
    }
    // The service had answered before the ninth push.
    order.restart(after: 8, known: 7)
    #expect(order.lastSequence == 9)
    order.restart(after: 9, known: 9)
    #expect(order.lastSequence == 9)
  }

  @Test("if the service has forgotten the phone, the order of notifications starts again with the service's numbers")
  func forgottenDevice() {
    var order = NotificationOrder()
    order.restart(after: 50)
    order.restart(after: 0, known: 50)
    #expect(order.lastSequence == 0)
    // Another process has restarted the order meanwhile.
    order.restart(after: 3, known: 50)
    #expect(order.lastSequence == 0)
  }

  @Test(
    "a notification with extreme numbers and times leaves no entry in the order of notifications",
    arguments: [Int64.min, -1, 0, Int64.max - 1, Int64.max])
  func extremes(_ value: Int64) {
    var order = NotificationOrder()
    order.restart(after: 5)
    for sequence in [7, value, .max, .min] {
      let number = order.arrive(Push.payment(sequence, at: 0).arrival, at: value, settings) ?? 0
      order.prepared(number, duration: value, settings)
      _ = order.claimCatchUp(number, at: .max, settings)
      order.endCatchUp(number, upTo: order.catchUpEnd ?? value, isComplete: true, at: .min, settings)
      _ = order.turn(of: number, "p\(sequence)", at: value, canAsk: true, settings)
      _ = order.turn(of: number, "p\(sequence)", at: .max, isLast: true, canAsk: true, settings)
      order.notice(value)
    }
    #expect(order.entries.isEmpty)
  }

  @Test("a payment that arrives during a sound of 29 s follows it as a local notification")
  func longSound() {
    var phone = VirtualPhone()
    phone.run([.payment(1, at: 0, duration: 29_000), .payment(2, at: 1_000)])
    #expect(phone.sounds.map(\.begin) == [0, 29_250])
    #expect(phone.handOvers[1].at <= 24_020)
  }

  @Test("a payment whose clip downloads slowly keeps its place in the order")
  func slowPreparation() {
    var phone = VirtualPhone()
    phone.run([.payment(1, at: 0, preparation: 4_000), .payment(2, at: 10)])
    #expect(phone.heard == ["p1", "p2"])
  }

  @Test("a notification that is only information is heard after the payments that wait")
  func information() {
    var phone = VirtualPhone()
    phone.run([
      .payment(1, at: 0), .payment(2, at: 10, category: .information), .payment(3, at: 20), .payment(4, at: 30),
    ])
    #expect(phone.heard == ["p1", "p3", "p4", "p2"])
  }

  @Test("payments are heard once, in order, in time, and without overlap, whatever pushes arrive", arguments: 0..<60)
  func random(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var phone = VirtualPhone(seed: UInt64(seed))
    phone.canAsk = true
    phone.canSummarise = seed % 5 != 4
    phone.order.restart(after: 0)
    var pushes: [Push] = []
    var time: Int64 = 0
    for sequence in Int64(1)...60 {
      time += Int.random(in: 0..<4, using: &random) == 0 ? .random(in: 0...9_000, using: &random) : 30
      let category: PlaybackItem.Category = Int.random(in: 0..<12, using: &random) == 0 ? .refund : .payment
      let push = Push.payment(
        sequence, at: time, duration: .random(in: 900...6_000, using: &random),
        preparation: .random(in: 0...300, using: &random), category: category)
      phone.known.append(push)
      if Int.random(in: 0..<50, using: &random) == 0, sequence < 60 { continue }
      var sent = push
      if Int.random(in: 0..<10, using: &random) == 0 { sent.at += .random(in: 0...400, using: &random) }
      pushes.append(sent)
      if Int.random(in: 0..<20, using: &random) == 0 {
        var again = sent
        again.at += .random(in: 0...20_000, using: &random)
        pushes.append(again)
      }
    }
    phone.run(pushes)
    #expect(phone.overlaps == 0)
    #expect(phone.heard == (1...60).map { "p\($0)" })
    #expect(phone.handOvers.count == pushes.count)
    #expect(phone.handOvers.allSatisfy { $0.at <= $0.arrivedAt + 23_020 })
  }
}
