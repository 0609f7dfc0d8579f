// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import FileSystem
import Foundation
import SoundLibrary
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("The hand-over of notifications", .timeLimit(.minutes(5)))
struct HandOverTests {
  private static let words = ["Received", "two", "dollars"]

  private static func pushes(_ range: ClosedRange<Int64>) -> [TestPush] {
    range.map { TestPush(id: "p\($0)", sequence: $0) }
  }

  @Test("two processes hand over notifications in the order of their numbers, and the sounds do not overlap")
  func twoProcesses() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let services = [phone.service(gap: 250), phone.service(gap: 250)]
    try services[0].restart(after: 0)
    let record = HandOverRecord()
    let works = try Self.pushes(1...4).reversed().enumerated().map { index, push in
      try record.receive(push, by: services[index % 2])
    }
    for work in works { await work.finished() }
    #expect(record.sounds == ["p1", "p2", "p3", "p4"])
    let times = record.handOvers.withLock { $0.map(\.at) }
    let name = try #require(try phone.library.names().first)
    let duration = try #require(phone.service().sounds.duration(of: name))
    for (first, second) in zip(times, times.dropFirst()) { #expect(second - first >= duration) }
  }

  @Test("a summary is heard once, and the payments in the summary are silent")
  func summary() async throws {
    let phone = try PhoneFolder()
    let payments = try (1...9).map { _ in try TestPush().payment("2.00") }
    var words = Set(Self.words)
    for count in 2...9 {
      let summary = try #require(PaymentSummary(of: Array(payments.prefix(count))))
      words.formUnion(try PhoneFolder.tokens(of: .summary(summary)).map(\.name))
    }
    try phone.installPack(tokens: words.sorted(), milliseconds: 700)
    let service = phone.service(budget: 10_000)
    try service.restart(after: 0)
    let record = HandOverRecord()
    let works = try Self.pushes(1...9).map { try record.receive($0, by: service) }
    for work in works { await work.finished() }
    let handOvers = record.handOvers.withLock { $0 }
    #expect(handOvers.count == 9)
    let summaries = handOvers.compactMap(\.handOver.summary)
    #expect(!summaries.isEmpty)
    let alone = handOvers.filter { $0.handOver.summary == nil && $0.handOver.sound != .silent(.inSummary) }
    #expect((summaries.flatMap(\.announcements) + alone.map(\.id)).sorted() == (1...9).map { "p\($0)" })
    #expect(summaries.allSatisfy { $0.body?.contains("$\(2 * $0.announcements.count).00") == true })
    #expect(phone.errorCodes.isEmpty)
  }

  @Test("a second push with the same announcement makes no sound")
  func duplicate() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let service = phone.service()
    _ = try await service.handOver(TestPush().payload)
    #expect(try await service.handOver(TestPush().payload).first?.sound == .silent(.duplicate))
  }

  @Test(
    "a notification whose time limit ends before its turn is silent, and a local notification plays the sound",
    arguments: [(nil, "p2"), ("request-2", "request-2")])
  func expiry(identifier: String?, local expected: String) async throws {
    let phone = try PhoneFolder()
    try phone.publish("received.en-US.wav", milliseconds: 20_000)
    let service = phone.service()
    let record = HandOverRecord()
    _ = try await service.handOver(TestPush(hasTokens: false).payload)
    let work = try record.receive(
      TestPush(id: "p2", sequence: 2, hasTokens: false), identifier: identifier, by: service)
    work.expire()
    await work.finished()
    try await eventually("the notification is handed over") { record.handOvers.withLock { !$0.isEmpty } }
    #expect(record.handOvers.withLock { $0.map(\.handOver.sound) } == [.silent(.later)])
    let first = phone.local.withLock { $0.first }
    let local = try #require(first)
    #expect(local.identifier == expected)
    #expect((10_000...20_020).contains(local.delay))
  }

  @Test("without local notifications, a notification whose time limit ends before its turn is still heard")
  func expiryWithoutNotifier() async throws {
    let phone = try PhoneFolder()
    try phone.publish("received.en-US.wav", milliseconds: 20_000)
    let service = phone.service(notifies: false)
    let record = HandOverRecord()
    _ = try await service.handOver(TestPush(hasTokens: false).payload)
    let work = try record.receive(TestPush(id: "p2", sequence: 2, hasTokens: false), by: service)
    work.expire()
    await work.finished()
    try await eventually("the notification is handed over") { record.handOvers.withLock { !$0.isEmpty } }
    #expect(record.sounds == ["p2"])
  }

  @Test(
    "if a notification's turn comes at the end of its time limit, the notification is handed over once",
    arguments: 0..<60
  )
  func race(round: Int) async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let service = phone.service()
    let record = HandOverRecord()
    let work = try record.receive(TestPush(), by: service)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          for _ in 0..<(round * number * 20) { await Task.yield() }
          work.expire()
        }
      }
    }
    await work.finished()
    try await eventually("the notification is handed over") { record.handOvers.withLock { !$0.isEmpty } }
    #expect(record.handOvers.withLock { $0.count } == 1)
  }

  @Test("if the announcement's sound is found while a decision is made, it is heard instead of the earlier sound")
  func foundDuringDecision() throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let found = Locked<(@Sendable () -> Void)?>(nil)
    var configuration = phone.service().configuration
    let now = configuration.now
    configuration.now = {
      let find = found.withLock { find in
        defer { find = nil }
        return find
      }
      find?()
      return now()
    }
    let service = NotificationService(configuration)
    try service.restart(after: 0)
    let work = NotificationWork(try TestPush().payload, service: service)
    // The whole search takes place when the decision reads the clock.
    found.withLock { found in
      found = {
        let end = ContinuousClock.now + .seconds(120)
        service.requests.begin()
        work.preparation.begin()
        while work.preparation.best?.quality != .announcement, ContinuousClock.now < end { sched_yield() }
      }
    }
    guard case .act(.speak(let sound, nil)) = work.decide(isLast: false) else {
      Issue.record("The notification is not handed over.")
      return
    }
    #expect(sound?.quality == .announcement)
    work.preparation.end()
  }

  @Test("the order file is not locked when the system's handler is called")
  func lockAtHandOver() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let lock = phone.lock
    let free = Locked<[Bool]>([])
    let service = phone.service()
    for number in Int64(1)...5 {
      let work = service.receive(try TestPush(id: "p\(number)", sequence: number).payload) { _ in
        let isFree = (try? LockedFile(lock, patience: 0)) != nil
        free.withLock { $0.append(isFree) }
      }
      await work.finished()
    }
    #expect(free.withLock { $0 } == [true, true, true, true, true])
  }

  @Test("a damaged order file is replaced, and the notification is handed over")
  func damagedOrder() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let folder = phone.container.directory.appending(path: "Library/Crier")
    try Data("{\"entries\":".utf8).write(to: folder.appending(path: "order.json"))
    guard case .named? = try await phone.service().handOver(TestPush().payload).first?.sound else {
      Issue.record("The announcement is not heard.")
      return
    }
    #expect(phone.errorCodes.isEmpty)
  }

  @Test("if the order file cannot be read, the notification is handed over with its sound, and the error is reported")
  func noOrder() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words)
    let lock = phone.lock
    try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: true)
    guard case .named? = try await phone.service().handOver(TestPush().payload).first?.sound else {
      Issue.record("The announcement is not heard.")
      return
    }
    #expect(phone.errorCodes == [.orderUnavailable])
  }

  @Test(
    "a payload that is not a JSON object gets the default sound, and the error contains no value",
    arguments: ["", "[]"])
  func noObject(_ payload: String) async throws {
    let phone = try PhoneFolder()
    #expect(await phone.service().handOver(Data(payload.utf8)).map(\.sound) == [.systemDefault])
    #expect(phone.errorCodes == [.payloadUnreadable])
  }

  // iOS would play nothing for these pushes.
  @Test(
    "a push without a sound and with an unreadable announcement stays silent, and the error code is reported",
    arguments: ["{\"crier\":{}}", "{\"crier\":{\"id\":7,\"locale\":\"en\"}}", "{\"aps\":3,\"crier\":[]}"])
  func badAnnouncement(_ payload: String) async throws {
    let phone = try PhoneFolder()
    #expect(await phone.service().handOver(Data(payload.utf8)).map(\.sound) == [.silent(.asSent)])
    #expect(phone.errorCodes == [.payloadUnreadable])
  }

  @Test("a push of another sender keeps its own sound or stays silent")
  func otherSenders() async throws {
    let phone = try PhoneFolder()
    let service = phone.service()
    let named = Data(#"{"aps":{"alert":"Hello","sound":"ding.wav"}}"#.utf8)
    #expect(await service.handOver(named).map(\.sound) == [.named("ding.wav")])
    let silent = Data(#"{"aps":{"alert":"Hello"}}"#.utf8)
    #expect(await service.handOver(silent).map(\.sound) == [.silent(.asSent)])
  }

  @Test("a push without a sound is handed over at once, and delays no other sound")
  func silentPush() async throws {
    let phone = try PhoneFolder()
    try phone.publish("received.en-US.wav", milliseconds: 20_000)
    let service = phone.service()
    _ = try await service.handOver(TestPush(hasTokens: false).payload)
    let before = try service.file.read()
    #expect(await service.handOver(Data(#"{"aps":{"alert":"Hello"}}"#.utf8)).map(\.sound) == [.silent(.asSent)])
    #expect(try service.file.read() == before)
  }

  @Test("the length of another sender's sound is read from its file in the group or in the app")
  func lengthOfTone() async throws {
    let phone = try PhoneFolder()
    try phone.publish("ding.wav", milliseconds: 7_000)
    let bundle = phone.container.directory.appending(path: "Shop.app", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
    // AIFF with 8 s of 8-bit samples: the chunks COMM and SSND.
    var aiff = Array("FORM".utf8) + [0, 0, 0, 0] + Array("AIFFCOMM".utf8) + [0, 0, 0, 18, 0, 1, 0, 0, 0xFA, 0, 0, 8]
    aiff += [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0] + Array("SSND".utf8) + [0, 0, 0xFA, 8, 0, 0, 0, 0, 0, 0, 0, 0]
    aiff += [UInt8](repeating: 1, count: 64_000)
    aiff[6] = UInt8((aiff.count - 8) >> 8)
    aiff[7] = UInt8((aiff.count - 8) & 0xFF)
    try Data(aiff).write(to: bundle.appending(path: "bell.aiff"))
    var configuration = phone.service().configuration
    configuration.bundle = bundle
    let sounds = NotificationService(configuration).sounds
    #expect(sounds.tone(payload: "ding.wav").duration == 7_001)
    #expect(sounds.tone(payload: "bell.aiff").duration == 8_001)
    #expect(sounds.tone(payload: "missing.caf").duration == PreparedSound.assumedDuration)
    #expect(sounds.tone(payload: "../bell.aiff").duration == PreparedSound.assumedDuration)
  }

  @Test("a critical alert keeps its volume")
  func criticalAlert() async throws {
    let phone = try PhoneFolder()
    let critical = Data(#"{"aps":{"alert":"Hello","sound":{"critical":1,"name":"ding.wav","volume":0.5}}}"#.utf8)
    let handOver = await phone.service().handOver(critical).first
    #expect(handOver?.sound == .named("ding.wav"))
    #expect(handOver?.criticalVolume == 0.5)
  }
}
