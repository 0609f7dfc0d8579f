// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import TestSupport
import Testing
import WebhookDelivery

@Suite("The schedule of webhooks")
struct WebhookScheduleTests {
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func message(
    _ number: Int64, to endpoint: Int64, after seconds: TimeInterval = 0, starts: Int = 0
  ) -> Ledger.UnfinishedWebhook {
    Ledger.UnfinishedWebhook(
      number: number, endpoint: endpoint, nextAt: Self.start.addingTimeInterval(seconds), starts: starts)
  }

  @Test("a limited number of messages is sent to a webhook endpoint at a time, and the endpoints take turns")
  func turns() {
    var schedule = WebhookSchedule(mostOfOne: 2)
    for number in 1...6 { schedule.add(message(Int64(number), to: 1)) }
    for number in 7...8 { schedule.add(message(Int64(number), to: 2)) }
    let first = schedule.next(at: Self.start, room: 3)
    #expect(first.map(\.message) == [1, 7, 2] && schedule.underWay == 3 && schedule.count == 8)
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [8], "the first endpoint has two under way")
    #expect(schedule.next(at: Self.start, room: 10).isEmpty)
    schedule.ended(first[0], .succeeded)
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [3])
  }

  @Test(
    "a message that is set aside after two crashes is sent alone, after its time and when all others have ended"
  )
  func setAside() {
    var schedule = WebhookSchedule()
    let later = Self.start.addingTimeInterval(600)
    schedule.add(message(1, to: 1), setAsideUntil: later)
    schedule.add(message(2, to: 1))
    #expect(schedule.count == 2 && schedule.setAsideCount == 1)
    let others = schedule.next(at: Self.start, room: 10)
    #expect(others.map(\.message) == [2] && schedule.nextMoment == later)
    schedule.add(message(3, to: 2))
    #expect(schedule.next(at: later, room: 10).isEmpty && schedule.nextMoment == nil, "the other is under way")
    schedule.ended(others[0], .succeeded)
    let alone = schedule.next(at: later, room: 10)
    #expect(alone.map(\.message) == [1] && schedule.setAsideCount == 1)
    #expect(schedule.next(at: later, room: 10).isEmpty && schedule.nextMoment == nil, "it is alone")
    schedule.retry(alone[0], at: later.addingTimeInterval(5), .failed(restUntil: later.addingTimeInterval(5)))
    #expect(schedule.setAsideCount == 0)
    #expect(schedule.next(at: later, room: 10).map(\.message) == [3])
    #expect(schedule.next(at: later.addingTimeInterval(5), room: 10).map(\.message) == [1], "it is one of many again")
  }

  @Test(
    "only one of the messages that were interrupted once is sent at a time, and all other messages are sent beside it")
  func suspects() {
    var schedule = WebhookSchedule()
    for number in 1...3 { schedule.add(message(Int64(number), to: Int64(number), starts: 1)) }
    for number in 4...5 { schedule.add(message(Int64(number), to: 4)) }
    let first = schedule.next(at: Self.start, room: 10)
    #expect(first.map(\.message) == [1, 4, 5])
    #expect(schedule.next(at: Self.start, room: 10).isEmpty && schedule.nextMoment == nil)
    schedule.retry(first[0], at: Self.start, .unknown)
    let second = schedule.next(at: Self.start, room: 10)
    #expect(second.map(\.message) == [2, 1], "one that came back is like the others")
    schedule.drop([3], of: 3)
    schedule.ended(second[0], .succeeded)
    #expect(schedule.next(at: Self.start, room: 10).isEmpty && schedule.count == 3)
  }

  @Test("an interrupted message whose endpoint must pause does not delay other interrupted messages")
  func restingSuspect() {
    var schedule = WebhookSchedule()
    for number in 1...2 { schedule.add(message(Int64(number), to: 1, starts: 1)) }
    schedule.add(message(3, to: 2, starts: 1))
    let first = schedule.next(at: Self.start, room: 10)
    #expect(first.map(\.message) == [1])
    let rested = Self.start.addingTimeInterval(5)
    schedule.retry(first[0], at: rested, .failed(restUntil: rested))
    let second = schedule.next(at: Self.start, room: 10)
    #expect(second.map(\.message) == [3] && schedule.nextMoment == rested)
    schedule.ended(second[0], .succeeded)
    #expect(schedule.next(at: rested, room: 10).map(\.message) == [2])
  }

  @Test("a webhook message whose attempt could not be recorded keeps its state, and the next message is sent alone")
  func notStarted() {
    var schedule = WebhookSchedule()
    for number in 1...2 { schedule.add(message(Int64(number), to: 1), setAsideUntil: Self.start) }
    for number in 3...4 { schedule.add(message(Int64(number), to: 2, starts: 1)) }
    let alone = schedule.next(at: Self.start, room: 10)
    schedule.notStarted(alone[0], at: Self.start.addingTimeInterval(1))
    #expect(schedule.setAsideCount == 2)
    let suspect = schedule.next(at: Self.start.addingTimeInterval(1), room: 10)
    #expect(suspect.map(\.message) == [3])
    schedule.notStarted(suspect[0], at: Self.start.addingTimeInterval(2))
    #expect(schedule.next(at: Self.start.addingTimeInterval(2), room: 10).map(\.message) == [4])
    #expect(schedule.next(at: Self.start.addingTimeInterval(3), room: 10).isEmpty)
  }

  @Test("a message that was set aside after two crashes is removed with its webhook endpoint")
  func setAsideDropped() {
    var schedule = WebhookSchedule()
    schedule.add(message(1, to: 1), setAsideUntil: Self.start)
    schedule.drop([1], of: 1)
    #expect(schedule.count == 0 && schedule.setAsideCount == 0)
    #expect(schedule.next(at: Self.start, room: 1).isEmpty && schedule.nextMoment == nil)
  }

  @Test("a webhook message waits for its time, and is not added to the schedule twice")
  func times() {
    var schedule = WebhookSchedule()
    schedule.add(message(1, to: 1, after: 60))
    schedule.add(message(1, to: 1))
    #expect(schedule.count == 1 && schedule.nextMoment == Self.start.addingTimeInterval(60))
    #expect(schedule.next(at: Self.start.addingTimeInterval(59), room: 1).isEmpty)
    let entries = schedule.next(at: Self.start.addingTimeInterval(60), room: 1)
    #expect(entries.map(\.message) == [1] && schedule.nextMoment == nil)
    schedule.retry(entries[0], at: Self.start.addingTimeInterval(65), .unknown)
    #expect(schedule.nextMoment == Self.start.addingTimeInterval(65) && schedule.underWay == 0)
    let again = schedule.next(at: Self.start.addingTimeInterval(65), room: 1)
    #expect(again.map(\.message) == [1] && again.map(\.dueAt) == [Self.start.addingTimeInterval(65)])
  }

  @Test("while an endpoint fails, one message at a time is sent to it, with pauses, until a message is delivered")
  func failing() {
    var schedule = WebhookSchedule(mostOfOne: 3)
    for number in 1...9 { schedule.add(message(Int64(number), to: 1)) }
    let first = schedule.next(at: Self.start, room: 10)
    #expect(first.count == 3)
    let rested = Self.start.addingTimeInterval(5)
    for entry in first { schedule.retry(entry, at: Self.start.addingTimeInterval(1_000), .failed(restUntil: rested)) }
    #expect(schedule.next(at: rested.addingTimeInterval(-0.001), room: 10).isEmpty && schedule.nextMoment == rested)
    let second = schedule.next(at: rested, room: 10)
    #expect(second.count == 1)
    schedule.ended(second[0], .succeeded)
    #expect(schedule.next(at: rested, room: 10).count == 3)
  }

  @Test("a pause that a receiver asks for applies to all of its messages, and to no other endpoint")
  func rest() {
    var schedule = WebhookSchedule(mostOfOne: 1)
    for number in 1...3 { schedule.add(message(Int64(number), to: 1)) }
    schedule.add(message(4, to: 2, after: 10))
    let hour = Self.start.addingTimeInterval(3_600)
    let first = schedule.next(at: Self.start, room: 10)
    schedule.retry(first[0], at: hour, .failed(restUntil: hour))
    #expect(schedule.next(at: Self.start.addingTimeInterval(10), room: 10).map(\.message) == [4])
    #expect(schedule.next(at: hour.addingTimeInterval(-1), room: 10).isEmpty)
    #expect(schedule.next(at: hour, room: 10).count == 1)
  }

  @Test("the messages of a disabled endpoint are removed, and its messages in progress are removed when they end")
  func dropped() {
    var schedule = WebhookSchedule(mostOfOne: 2)
    for number in 1...4 { schedule.add(message(Int64(number), to: 1)) }
    let entries = schedule.next(at: Self.start, room: 10)
    schedule.ended(entries[0], .failed(restUntil: Self.start.addingTimeInterval(60)))
    schedule.drop([2, 3, 4], of: 1)
    #expect(schedule.count == 0)
    schedule.retry(entries[1], at: Self.start, .unknown)
    #expect(schedule.next(at: Self.start, room: 10).isEmpty && schedule.underWay == 0)
    schedule.add(message(5, to: 1))
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [5], "it was enabled again")
  }

  @Test("each webhook message ends once, and no endpoint has too many in progress, whatever the results are")
  func random() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<50 {
      var schedule = WebhookSchedule(mostOfOne: 3)
      var now = Self.start
      var underWay: [WebhookSchedule.Entry] = []
      var ended: [Int64] = []
      func result() -> WebhookSchedule.Result {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .unknown
        case 1: .failed(restUntil: now.addingTimeInterval(TimeInterval(Int.random(in: 1...50, using: &random))))
        default: .succeeded
        }
      }
      for number in 1...60 { schedule.add(message(Int64(number), to: Int64.random(in: 1...5, using: &random))) }
      while ended.count < 60 {
        underWay += schedule.next(at: now, room: Int.random(in: 0...8, using: &random))
        #expect(schedule.underWay == underWay.count && schedule.count == 60 - ended.count)
        for endpoint in Int64(1)...5 { #expect(underWay.count { $0.endpoint == endpoint } <= 3) }
        if underWay.isEmpty {
          now = max(now, schedule.nextMoment ?? now)
          continue
        }
        let entry = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
        if Bool.random(using: &random) {
          let moment = now.addingTimeInterval(TimeInterval(Int.random(in: 0...100, using: &random)))
          schedule.retry(entry, at: moment, result())
        } else {
          schedule.ended(entry, result())
          ended.append(entry.message)
        }
      }
      #expect(Set(ended).count == 60)
      #expect(schedule.next(at: .distantFuture, room: 10).isEmpty && schedule.nextMoment == nil)
    }
  }
}
