// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import TestSupport
import Testing
import WebhookDelivery

@Suite("The schedule of webhooks")
struct WebhookScheduleTests {
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func message(_ number: Int64, to endpoint: Int64, after seconds: TimeInterval = 0) -> Ledger.UnfinishedWebhook
  {
    Ledger.UnfinishedWebhook(number: number, endpoint: endpoint, nextAt: Self.start.addingTimeInterval(seconds))
  }

  @Test("a few messages are under way to an endpoint, and the endpoints take turns")
  func turns() {
    var schedule = WebhookSchedule(mostOfOne: 2)
    for number in 1...6 { schedule.add(message(Int64(number), to: 1)) }
    for number in 7...8 { schedule.add(message(Int64(number), to: 2)) }
    let first = schedule.next(at: Self.start, room: 3)
    #expect(first.map(\.message) == [1, 7, 2] && schedule.underWay == 3 && schedule.count == 8)
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [8], "the first endpoint has two under way")
    #expect(schedule.next(at: Self.start, room: 10).isEmpty)
    schedule.ended(first[0], succeeded: true)
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [3])
  }

  @Test("a message waits for its time, and is not added twice")
  func times() {
    var schedule = WebhookSchedule()
    schedule.add(message(1, to: 1, after: 60))
    schedule.add(message(1, to: 1))
    #expect(schedule.count == 1 && schedule.nextMoment == Self.start.addingTimeInterval(60))
    #expect(schedule.next(at: Self.start.addingTimeInterval(59), room: 1).isEmpty)
    let entries = schedule.next(at: Self.start.addingTimeInterval(60), room: 1)
    #expect(entries.map(\.message) == [1] && schedule.nextMoment == nil)
    schedule.retry(entries[0], at: Self.start.addingTimeInterval(65))
    #expect(schedule.nextMoment == Self.start.addingTimeInterval(65) && schedule.underWay == 0)
    #expect(schedule.next(at: Self.start.addingTimeInterval(65), room: 1) == entries)
  }

  @Test("while an endpoint fails, one message at a time is sent to it, until one is delivered")
  func failing() {
    var schedule = WebhookSchedule(mostOfOne: 3)
    for number in 1...9 { schedule.add(message(Int64(number), to: 1)) }
    let first = schedule.next(at: Self.start, room: 10)
    #expect(first.count == 3)
    for entry in first { schedule.retry(entry, at: Self.start.addingTimeInterval(1_000)) }
    let second = schedule.next(at: Self.start, room: 10)
    #expect(second.count == 1)
    schedule.ended(second[0], succeeded: true)
    #expect(schedule.next(at: Self.start, room: 10).count == 3)
  }

  @Test("the messages of a disabled endpoint are dropped, and those that were under way are forgotten when they end")
  func dropped() {
    var schedule = WebhookSchedule(mostOfOne: 2)
    for number in 1...4 { schedule.add(message(Int64(number), to: 1)) }
    let entries = schedule.next(at: Self.start, room: 10)
    schedule.ended(entries[0], succeeded: false)
    schedule.drop([2, 3, 4], of: 1)
    #expect(schedule.count == 0)
    schedule.retry(entries[1], at: Self.start)
    #expect(schedule.next(at: Self.start, room: 10).isEmpty && schedule.underWay == 0)
    schedule.add(message(5, to: 1))
    #expect(schedule.next(at: Self.start, room: 10).map(\.message) == [5], "it was enabled again")
  }

  @Test("whatever happens, each message ends once, and no endpoint has too many under way")
  func random() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<50 {
      var schedule = WebhookSchedule(mostOfOne: 3)
      var now = Self.start
      var underWay: [WebhookSchedule.Entry] = []
      var ended: [Int64] = []
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
          schedule.retry(entry, at: now.addingTimeInterval(TimeInterval(Int.random(in: 0...100, using: &random))))
        } else {
          schedule.ended(entry, succeeded: Bool.random(using: &random))
          ended.append(entry.message)
        }
      }
      #expect(Set(ended).count == 60 && schedule.nextMoment == nil)
    }
  }
}
