// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PushDelivery
import PushMessages
import TestSupport
import Testing

@Suite("The schedule of pushes")
struct PushScheduleTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func push(
    _ number: Int64, to device: String, app: String = "com.example.shop", _ kind: PushType = .alert,
    lifetime: TimeInterval = 3600, starts: Int = 0
  ) -> Ledger.UnfinishedPush {
    Ledger.UnfinishedPush(
      number: number, account: "shop", device: device, app: app, environment: .production, kind: kind,
      expiresAt: start.addingTimeInterval(lifetime), starts: starts)
  }

  private func topic(isFileProvider: Bool = false) -> PushSchedule.Topic {
    let app = PushSchedule.App(bundleID: "com.example.shop", environment: .production)
    return PushSchedule.Topic(app, isFileProvider: isFileProvider)
  }

  @Test("the pushes to a device are sent one after the other, in their order")
  func order() {
    var schedule = PushSchedule()
    for number in 1...3 { schedule.add(push(Int64(number), to: "a")) }
    for number in 1...3 {
      let turn = schedule.next(at: start, room: 10)
      #expect(turn.send.map(\.number) == [Int64(number)])
      #expect(schedule.next(at: start, room: 10).send.isEmpty)
      schedule.ended(turn.send[0])
    }
    #expect(schedule.count == 0)
    #expect(schedule.underWay == 0)
    #expect(schedule.nextMoment == nil)
  }

  @Test("a device whose push waits for another attempt delays no other device")
  func waiting() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a"))
    schedule.add(push(2, to: "a"))
    schedule.add(push(3, to: "b"))
    let turn = schedule.next(at: start, room: 10)
    #expect(turn.send.map(\.number) == [1, 3])
    let later = start.addingTimeInterval(5)
    schedule.retry(turn.send[0], at: later)
    schedule.ended(turn.send[1])
    #expect(schedule.next(at: start.addingTimeInterval(4), room: 10).send.isEmpty)
    #expect(schedule.nextMoment == later)
    #expect(schedule.next(at: later, room: 10).send.map(\.number) == [1])
  }

  @Test(
    "a push that was set aside after two crashes is sent alone, after its time and after all other pushes have ended")
  func setAside() {
    var schedule = PushSchedule()
    let later = start.addingTimeInterval(600)
    schedule.setAside(push(1, to: "a"), until: later)
    schedule.add(push(2, to: "a"))
    schedule.add(push(3, to: "b"))
    #expect(schedule.count == 3 && schedule.setAsideCount == 1)
    let others = schedule.next(at: start, room: 10).send
    #expect(others.map(\.number) == [2, 3] && schedule.nextMoment == later)
    schedule.add(push(4, to: "a"))
    schedule.ended(others[0])
    #expect(schedule.next(at: later, room: 10).send.isEmpty && schedule.nextMoment == nil, "another is being sent")
    schedule.ended(others[1])
    let alone = schedule.next(at: later, room: 10).send
    #expect(alone.map(\.number) == [1] && schedule.setAsideCount == 1)
    #expect(schedule.next(at: later, room: 10).send.isEmpty && schedule.nextMoment == nil, "it is alone")
    schedule.retry(alone[0], at: later.addingTimeInterval(5))
    #expect(schedule.setAsideCount == 0)
    #expect(schedule.next(at: later, room: 10).send.isEmpty, "it is the first of its device again")
    for number in [1, 4] {
      let next = schedule.next(at: later.addingTimeInterval(5), room: 10).send
      #expect(next.map(\.number) == [Int64(number)])
      schedule.ended(next[0])
    }
    #expect(schedule.count == 0 && schedule.underWay == 0 && schedule.nextMoment == nil)
  }

  @Test("only one of the pushes that were interrupted once is sent at a time, and all other pushes are sent beside it")
  func suspects() {
    var schedule = PushSchedule()
    for (number, device) in [(1, "a"), (2, "b"), (3, "c")] {
      schedule.add(push(Int64(number), to: device, lifetime: number == 3 ? 60 : 3_600, starts: 1))
    }
    schedule.add(push(4, to: "a"))
    schedule.add(push(5, to: "d"))
    let first = schedule.next(at: start, room: 10).send
    #expect(first.map(\.number) == [1, 5])
    #expect(schedule.next(at: start, room: 10).send.isEmpty && schedule.nextMoment == start.addingTimeInterval(60))
    schedule.ended(first[0])
    let second = schedule.next(at: start, room: 10).send
    #expect(Set(second.map(\.number)) == [2, 4])
    #expect(schedule.next(at: start.addingTimeInterval(60), room: 10).expired.map(\.number) == [3])
    let suspect = second.first { $0.number == 2 }
    if let suspect { schedule.retry(suspect, at: start) }
    #expect(schedule.next(at: start, room: 10).send.map(\.starts) == [0], "one that came back is like the others")
  }

  @Test("of many interrupted pushes, at most one in sixty-four is sent at a time")
  func manySuspects() {
    var schedule = PushSchedule()
    for number in 1...256 { schedule.add(push(Int64(number), to: "\(number)", starts: 1)) }
    #expect(schedule.next(at: start, room: 1_000).send.count == 4)
  }

  @Test("a push that was set aside after two crashes can expire, and waits while its topic is paused")
  func setAsideEnds() {
    var schedule = PushSchedule()
    schedule.setAside(push(1, to: "a", lifetime: 60), until: start.addingTimeInterval(90))
    #expect(schedule.nextMoment == start.addingTimeInterval(60), "it ends before its time")
    #expect(schedule.next(at: start.addingTimeInterval(60), room: 1).expired.map(\.number) == [1])
    #expect(schedule.count == 0)
    schedule.setAside(push(2, to: "a"), until: start)
    schedule.pause(topic(), until: start.addingTimeInterval(100))
    #expect(schedule.next(at: start, room: 1).send.isEmpty)
    #expect(schedule.next(at: start.addingTimeInterval(99), room: 1).send.isEmpty)
    #expect(schedule.next(at: start.addingTimeInterval(100), room: 1).send.map(\.number) == [2])
  }

  @Test("no more pushes are sent at a time than the given number, and the devices take turns")
  func room() {
    var schedule = PushSchedule()
    for number in 1...6 { schedule.add(push(Int64(number), to: "abc".map(String.init)[number % 3])) }
    var sent: [Int64] = []
    while schedule.count > 0 {
      let turn = schedule.next(at: start, room: 1)
      #expect(turn.send.count == 1)
      sent += turn.send.map(\.number)
      for push in turn.send { schedule.ended(push) }
    }
    #expect(sent == [1, 2, 3, 4, 5, 6])
  }

  @Test("an expired push is not sent, and the next push takes its turn at once")
  func expiry() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a", lifetime: 10))
    schedule.add(push(2, to: "a", lifetime: 60))
    let turn = schedule.next(at: start.addingTimeInterval(10), room: 10)
    #expect(turn.expired.map(\.number) == [1])
    #expect(turn.send.map(\.number) == [2])
    #expect(schedule.count == 1)
  }

  @Test("a push that expires while it waits for another attempt is reported at its expiry")
  func expiryWhileWaiting() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a", lifetime: 10))
    let turn = schedule.next(at: start, room: 10)
    schedule.retry(turn.send[0], at: start.addingTimeInterval(300))
    #expect(schedule.nextMoment == start.addingTimeInterval(10))
    #expect(schedule.next(at: start.addingTimeInterval(10), room: 10).expired.map(\.number) == [1])
    #expect(schedule.count == 0)
  }

  @Test("an app that APNs refused is tried with one push, and its other pushes follow after a success")
  func stoppedApp() throws {
    var schedule = PushSchedule()
    for number in 1...3 { schedule.add(push(Int64(number), to: "device \(number)")) }
    schedule.add(push(4, to: "other", app: "com.example.other"))
    let first = schedule.next(at: start, room: 1).send[0]
    let later = start.addingTimeInterval(900)
    schedule.pause(topic(), until: later)
    schedule.retry(first, at: later)
    // Another app goes on.
    #expect(schedule.next(at: start, room: 10).send.map(\.number) == [4])
    let trial = schedule.next(at: later, room: 10).send
    #expect(trial.count == 1)
    #expect(schedule.next(at: later, room: 10).send.isEmpty)
    schedule.ended(try #require(trial.first))
    #expect(schedule.next(at: later, room: 10).send.count == 2)
    schedule.add(push(5, to: "device 5"))
    #expect(schedule.next(at: later, room: 10).send.map(\.number) == [5])
  }

  @Test("a refused topic of the file provider does not stop the app's announcements")
  func fileProviderTopic() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a", .fileProvider))
    let first = schedule.next(at: start, room: 10).send
    let later = start.addingTimeInterval(900)
    schedule.pause(topic(isFileProvider: true), until: later)
    schedule.retry(first[0], at: later)
    schedule.add(push(2, to: "a"))
    schedule.add(push(3, to: "b", .fileProvider))
    #expect(schedule.next(at: start, room: 10).send.map(\.number) == [2])
    #expect(schedule.next(at: later, room: 10).send.count == 1, "one push tries the topic of the file provider")
  }

  @Test("an announcement does not wait for a push that only prepares the phone")
  func kinds() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a", .background))
    schedule.add(push(2, to: "a"))
    schedule.add(push(3, to: "a"))
    let turn = schedule.next(at: start, room: 10).send
    #expect(turn.map(\.number) == [1, 2])
    schedule.retry(turn[0], at: start.addingTimeInterval(60))
    schedule.ended(turn[1])
    #expect(schedule.next(at: start, room: 10).send.map(\.number) == [3])
  }

  @Test("an expired push keeps the reason why it had to wait")
  func reason() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a", lifetime: 10))
    var first = schedule.next(at: start, room: 1).send[0]
    first.reason = "ServiceUnavailable"
    schedule.retry(first, at: start.addingTimeInterval(300))
    #expect(schedule.next(at: start.addingTimeInterval(10), room: 1).expired.map(\.reason) == ["ServiceUnavailable"])
  }

  @Test("the pushes to an app that APNs refused stay stopped if the trial push fails, and are tried again later")
  func failedTrial() throws {
    var schedule = PushSchedule()
    for number in 1...3 { schedule.add(push(Int64(number), to: "device \(number)", lifetime: 100_000)) }
    let first = schedule.next(at: start, room: 1).send[0]
    var moment = start
    schedule.pause(topic(), until: start.addingTimeInterval(900))
    schedule.retry(first, at: start.addingTimeInterval(900))
    for _ in 0..<5 {
      moment.addTimeInterval(900)
      let trial = schedule.next(at: moment, room: 10).send
      #expect(trial.count == 1)
      schedule.pause(topic(), until: moment.addingTimeInterval(900))
      schedule.retry(try #require(trial.first), at: moment.addingTimeInterval(900))
      #expect(schedule.next(at: moment, room: 10).send.isEmpty)
    }
  }

  @Test("if the pushes to an app get no answers, only a limited number of them is in progress at a time")
  func roomOfAnApp() {
    var schedule = PushSchedule()
    for number in 1...4 { schedule.add(push(Int64(number), to: "slow-\(number)", app: "com.example.slow")) }
    schedule.add(push(5, to: "a"))
    let first = schedule.next(at: start, room: 10, mostToApp: 2).send
    #expect(first.map(\.number) == [1, 2, 5])
    #expect(schedule.next(at: start, room: 10, mostToApp: 2).send.isEmpty)
    schedule.retry(first[0], at: start.addingTimeInterval(5))
    #expect(schedule.next(at: start, room: 10, mostToApp: 2).send.map(\.number) == [3])
    schedule.ended(first[1])
    #expect(schedule.next(at: start, room: 10, mostToApp: 2).send.map(\.number) == [4])
  }

  @Test("a push that waits because too many pushes to its app are in progress expires at its time")
  func expiryInLine() {
    var schedule = PushSchedule()
    schedule.add(push(1, to: "a"))
    schedule.add(push(2, to: "b", lifetime: 5))
    #expect(schedule.next(at: start, room: 10, mostToApp: 1).send.map(\.number) == [1])
    #expect(schedule.nextMoment == start.addingTimeInterval(5))
    #expect(schedule.next(at: start.addingTimeInterval(5), room: 10, mostToApp: 1).expired.map(\.number) == [2])
    #expect(schedule.count == 1)
  }

  /// Random devices, apps, answers and times. An independent record checks every promise of the schedule.
  @Test(
    "every push ends exactly once, and the pushes to a device end in order, whatever the answers are", arguments: 0..<20
  )
  func randomAnswers(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var schedule = PushSchedule()
    var now = start
    var next: Int64 = 0
    var ended: Set<Int64> = []
    var lastEnded: [String: Int64] = [:]
    var underWay: [Ledger.UnfinishedPush] = []

    func end(_ push: Ledger.UnfinishedPush) {
      #expect(ended.insert(push.number).inserted)
      let line = "\(push.device) \(push.kind)"
      #expect(push.number > lastEnded[line] ?? 0)
      lastEnded[line] = push.number
    }

    let total: Int64 = 2_000
    while next < total || schedule.count > 0 {
      if next < total, Bool.random(using: &random) {
        next += 1
        let device = Int.random(in: 0..<40, using: &random)
        schedule.add(
          push(
            next, to: "\(device)", app: "com.example.app\(device % 3)",
            PushType.allCases.randomElement(using: &random) ?? .alert,
            lifetime: now.timeIntervalSince(start) + Double.random(in: 1..<600, using: &random)))
      }
      let turn = schedule.next(at: now, room: Int.random(in: 0..<8, using: &random), mostToApp: 3)
      for push in turn.expired { end(push) }
      for push in turn.send {
        #expect(!underWay.contains { $0.device == push.device && $0.kind == push.kind })
        #expect(push.expiresAt > now)
        underWay.append(push)
      }
      #expect(schedule.underWay == underWay.count)
      #expect(Dictionary(grouping: underWay, by: \.app).values.allSatisfy { $0.count <= 3 })
      while let index = underWay.indices.randomElement(using: &random), Int.random(in: 0..<3, using: &random) > 0 {
        let push = underWay.remove(at: index)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
          end(push)
          schedule.ended(push)
        case 6:
          end(push)
          schedule.ended(push, provesTopic: false)
        case 7:
          let until = now.addingTimeInterval(30)
          let app = PushSchedule.App(bundleID: push.app, environment: push.environment)
          schedule.pause(PushSchedule.Topic(app, isFileProvider: push.kind == .fileProvider), until: until)
          schedule.retry(push, at: until)
        default:
          schedule.retry(push, at: now.addingTimeInterval(Double.random(in: 0..<20, using: &random)))
        }
      }
      // With nothing under way and nothing to do, only time helps: the schedule must say which.
      if turn.send.isEmpty, turn.expired.isEmpty, underWay.isEmpty, schedule.count > 0 {
        now = max(now, try #require(schedule.nextMoment))
      }
      now.addTimeInterval(Double.random(in: 0..<0.5, using: &random))
    }
    #expect(ended.count == Int(total))
    #expect(schedule.underWay == 0)
  }
}
