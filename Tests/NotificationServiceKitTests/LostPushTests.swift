// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("Lost pushes", .timeLimit(.minutes(5)))
struct LostPushTests {
  private static let words = ["Received", "two", "dollars"]

  private static func payloads(_ range: ClosedRange<Int64>) throws -> [Data] {
    try range.map { try TestPush(id: "p\($0)", sequence: $0).payload }
  }

  private struct Missed: MissedAnnouncements {
    let payloads: [Data]
    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) { (payloads, true) }
  }

  @Test("a lost push is heard before the next push, as a local notification")
  func lostPush() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let all = try Self.payloads(1...3)
    let service = phone.service(missed: Missed(payloads: all))
    try service.restart(after: 0)
    _ = await service.handOver(all[0])
    #expect(await service.handOver(all[2]).count == 1)
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p2"])
    #expect(phone.local.withLock { $0.map(\.delay) } == [0])
  }

  @Test("lost pushes are heard once when the app is opened")
  func catchUp() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let all = try Self.payloads(1...3)
    let service = phone.service(missed: Missed(payloads: all))
    try service.restart(after: 0)
    _ = await service.handOver(all[0])
    await service.catchUp()
    await service.catchUp()
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p2", "p3"])
  }

  @Test("a lost push whose local notification the system refuses is heard once after a later search")
  func refused() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    phone.refusals.withLock { $0 = 1 }
    let service = phone.service(missed: Missed(payloads: try Self.payloads(1...1)))
    try service.restart(after: 0)
    await service.catchUp()
    #expect(phone.local.withLock { $0.isEmpty })
    #expect(phone.errorCodes == [.localNotificationRefused])
    for _ in 0..<2 { await service.catchUp() }
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p1"])
  }

  /// Waits until the order has the payments with their sounds.
  private func waitUntilPrepared(_ ids: Set<String>, _ service: NotificationService) async throws {
    try await eventually("the order has the sounds of \(ids.sorted())") {
      Set(try service.file.read()?.entries.filter { $0.duration != nil }.map(\.id) ?? []) == ids
    }
  }

  /// A service that answers when the test says so.
  private final class SlowService: MissedAnnouncements {
    let payloads: [Data]
    let asked = AsyncStream<Void>.makeStream()
    let mayAnswer = AsyncStream<Void>.makeStream()
    let isAnswered = AsyncStream<Void>.makeStream()

    init(_ payloads: [Data]) { self.payloads = payloads }

    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
      asked.continuation.yield()
      for await _ in mayAnswer.stream { break }
      defer { isAnswered.continuation.yield() }
      return (payloads, true)
    }
  }

  @Test(
    "an answer that arrives after the last hand-over of a process is ignored, and the next process asks again"
  )
  func answerAfterHandOver() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let all = try Self.payloads(1...2)
    let slow = SlowService(all)
    let clock = PhoneClock(standsStill: true)
    let service = phone.service(missed: slow, clock: clock)
    try service.restart(after: 0)
    let record = HandOverRecord()
    let work = try record.receive(TestPush(id: "p2", sequence: 2), by: service)
    try await waitUntilPrepared(["p2"], service)
    clock.pass(600)
    for await _ in slow.asked.stream { break }
    work.expire()
    await work.finished()
    let before = try service.file.read()
    slow.mayAnswer.continuation.yield()
    for await _ in slow.isAnswered.stream { break }
    #expect(service.requests.isOpen == false)
    #expect(try service.file.read() == before)
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p2"])
    clock.pass(30_000)
    await phone.service(missed: Missed(payloads: all), clock: clock).catchUp()
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p2", "p1"])
  }

  @Test("before the last hand-over of a process, the lost pushes that it found become local notifications")
  func foundBeforeHandOver() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    try phone.publish("received.en-US.wav", milliseconds: 20_000)
    let clock = PhoneClock(standsStill: true)
    let service = phone.service(missed: Missed(payloads: try Self.payloads(2...4)), clock: clock)
    try service.restart(after: 0)
    _ = try await service.handOver(TestPush(hasTokens: false).payload)
    let record = HandOverRecord()
    let work = try record.receive(TestPush(id: "p5", sequence: 5), by: service)
    try await waitUntilPrepared(["p5"], service)
    clock.pass(600)
    try await waitUntilPrepared(["p2", "p3", "p4", "p5"], service)
    work.expire()
    await work.finished()
    // The sound of the first one lasts 20 s, and the clock stands still.
    let local = phone.local.withLock { $0.sorted { $0.delay < $1.delay } }
    #expect(local.map(\.identifier) == ["p2", "p3", "p4", "p5"])
    #expect(local.first?.delay == 19_420)
    #expect(!service.requests.isOpen)
  }

  @Test("the last hand-over of a process waits until the process's search for lost pushes has unlocked the order file")
  func drain() async throws {
    let requests = OpenRequests()
    requests.begin()
    let isInside = DispatchSemaphore(value: 0)
    let events = Locked<[String]>([])
    let thread = Thread {
      _ = requests.whileOpen { () throws(Never) -> Void in
        isInside.signal()
        // Long enough for a hand-over that does not wait.
        for _ in 0..<2_000 { sched_yield() }
        events.withLock { $0.append("changed") }
      }
    }
    thread.start()
    isInside.wait()
    requests.end()
    events.withLock { $0.append("handed over") }
    #expect(events.withLock { $0 } == ["changed", "handed over"])
    #expect(requests.whileOpen { () throws(Never) -> Int in 1 } == nil)
  }
}
