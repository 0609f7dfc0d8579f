// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import NotificationServiceKit

@Suite("Announcements that are heard another time")
struct PostponedOrderTests {
  private typealias Push = VirtualPhone.Push
  private let settings = NotificationOrder.Settings()

  private func arrive(
    _ order: inout NotificationOrder, _ sequence: Int64, isMissed: Bool = false, process: String? = nil,
    since: Int64? = nil, at now: Int64
  ) throws -> Int64 {
    let push = Push.payment(sequence, at: 0).arrival
    let number = order.arrive(push, isMissed: isMissed, process: process, since: since, at: now, settings)
    return try #require(number)
  }

  /// An order after number 0, in which the work on the lost push with number 1 was given up, and a push with number 2
  /// is ready.
  private func givenUp() throws -> (order: NotificationOrder, second: Int64) {
    var order = NotificationOrder()
    order.restart(after: 0)
    _ = try arrive(&order, 1, isMissed: true, process: "a", at: 0)
    let second = try arrive(&order, 2, process: "b", at: 0)
    order.prepared(second, duration: 1_000, settings)
    order.releaseMissed(of: "a", at: 100, settings)
    return (order, second)
  }

  @Test(
    "no later payment is heard before a lost push whose process gave it up, however late the service sends it again")
  func nothingPasses() throws {
    var (order, second) = try givenUp()
    let late = order.turn(of: second, "p2", at: 20_000, canAsk: true, settings)
    #expect(late == .wait(until: 21_000))
    let end = order.turn(of: second, "p2", at: 23_000, canAsk: true, settings)
    #expect(end == .postponed)
    #expect(order.postponed == [1, 2])
    // Both are heard as soon as the service has named them again.
    for sequence: Int64 in 1...2 {
      let number = try arrive(&order, sequence, isMissed: true, process: "c", at: 24_000)
      order.prepared(number, duration: 1_000, settings)
      let turn = order.turn(of: number, "p\(sequence)", at: 20_000 + sequence * 10_000, canAsk: true, settings)
      #expect(turn == .speak)
    }
    #expect(order.postponed.isEmpty)
    #expect(order.lastSequence == 2)
  }

  @Test("after three requests without an answer, a payment is heard before the lost push")
  func serviceUnreachable() throws {
    var (order, second) = try givenUp()
    for attempt in 1...3 {
      let turn = order.turn(of: second, "p2", at: 7_000, canAsk: true, settings)
      #expect(turn == .wait(until: 8_000))
      let now = Int64(attempt) * 5_000
      let after = order.claimCatchUp(second, at: now, settings)
      #expect(after == 0)
      let upTo = try #require(order.catchUpEnd)
      order.endCatchUp(second, upTo: upTo, isAnswered: false, isComplete: false, at: now, settings)
    }
    let turn = order.turn(of: second, "p2", at: 16_000, canAsk: true, settings)
    #expect(turn == .speak)
    // The service is still asked for the other one.
    #expect(order.lastHeard == 0)
  }

  @Test("a payment does not wait for a lost push that the service does not have any more")
  func removedAnnouncement() throws {
    var (order, second) = try givenUp()
    let after = order.claimCatchUp(second, at: 1_000, settings)
    #expect(after == 0)
    let upTo = try #require(order.catchUpEnd)
    order.endCatchUp(second, upTo: upTo, isComplete: true, at: 2_000, settings)
    #expect(order.postponed.isEmpty)
    let turn = order.turn(of: second, "p2", at: 2_000, canAsk: true, settings)
    #expect(turn == .speak)
  }

  @Test("a notification whose time limit ends follows a lost push only if the lost push's sound is ready")
  func unpreparedLostPush() throws {
    for isReady in [false, true] {
      var order = NotificationOrder()
      order.restart(after: 0)
      let first = try arrive(&order, 1, isMissed: true, process: "a", at: 0)
      let second = try arrive(&order, 2, process: "a", at: 0)
      order.prepared(second, duration: 1_000, settings)
      if isReady { order.prepared(first, duration: 2_000, settings) }
      let turn = order.turn(of: second, "p2", at: 0, isLast: true, canAsk: true, settings)
      #expect(turn == (isReady ? .later(at: 2_250) : .postponed))
    }
  }

  @Test("the phone tries three times within 20 s to get a lost push's sound, and then plays the push once with a tone")
  func noSound() throws {
    var order = NotificationOrder()
    order.restart(after: 0)
    for now: Int64 in [0, 5_000, 9_999, 10_000, 19_000] {
      let number = try arrive(&order, 1, isMissed: true, at: now)
      order.prepared(number, duration: 1_000, settings)
      let turn = order.turn(of: number, "p1", at: now, isExact: false, canAsk: true, settings)
      #expect(turn == .postponed, "at \(now) ms")
    }
    let number = try arrive(&order, 1, isMissed: true, at: 20_000)
    order.prepared(number, duration: 1_000, settings)
    let last = order.turn(of: number, "p1", at: 20_000, isExact: false, canAsk: true, settings)
    #expect(last == .speak)
    #expect(order.lastSequence == 1 && order.unheard.isEmpty && order.failures.isEmpty)
    let again = order.arrive(Push.payment(1, at: 0).arrival, isMissed: true, at: 90_000, settings)
    #expect(again == nil)
  }

  @Test("a push whose process was stopped gets no second time limit when it arrives again")
  func oneBudget() throws {
    var order = NotificationOrder()
    let number = try arrive(&order, 1, since: 1_000, at: 16_000)
    #expect(order.entry(number)?.deadline == 24_000)
    // A clock that was set anew gives no more time either.
    let other = try arrive(&order, 2, since: 90_000, at: 16_000)
    #expect(order.entry(other)?.deadline == 39_000)
  }

  @Test("an order file is read exactly as it was written")
  func readBack() throws {
    let (order, _) = try givenUp()
    var fields = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(order)) as? [String: Any])
    // No field has the value that it has in a new order.
    fields["freeAt"] = 80
    fields["ended"] = [["id": "p0", "outcome": "summarised"]]
    fields["settled"] = [["sequence": 9, "at": 10]]
    fields["unheard"] = [-1]
    fields["pending"] = [70]
    fields["failures"] = [["sequence": 4, "tries": 2, "at": 50]]
    fields["failedRequests"] = 2
    fields["summaryUntil"] = 30
    fields["refusedSummary"] = 1
    fields["catchUp"] = ["number": 1, "until": 2, "upTo": 3, "asked": [1], "isEnded": true]
    fields["toldTime"] = 99
    #expect(fields.count == 15)
    let written = try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let again = try encoder.encode(JSONDecoder().decode(NotificationOrder.self, from: written))
    #expect(String(decoding: again, as: UTF8.self) == String(decoding: written, as: UTF8.self))
  }

  @Test("an order file from another version of the app keeps all fields that this version can read")
  func otherVersion() throws {
    let (order, _) = try givenUp()
    var fields = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(order)) as? [String: Any])
    fields["failures"] = nil
    fields["catchUp"] = "in another form"
    fields["entries"] = [["number": 1]]
    fields["newField"] = true
    let read = try JSONDecoder().decode(
      NotificationOrder.self, from: try JSONSerialization.data(withJSONObject: fields))
    #expect(read.lastSequence == 0 && read.postponed == [1] && read.lastNumber == order.lastNumber)
    #expect(read.entries.isEmpty && read.catchUp == nil && read.failures.isEmpty)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(NotificationOrder.self, from: Data("[]".utf8))
    }
  }
}
