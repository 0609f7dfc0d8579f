// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import SoundLibrary
import Testing

@testable import NotificationServiceKit

@Suite("An order file of notifications that another process has locked", .timeLimit(.minutes(5)))
struct BusyOrderTests {
  private static let words = ["Received", "two", "dollars"]

  @Test(
    "a notification whose time limit ends while the order file is locked is heard, and is recorded by the next process")
  func expiresWithoutOrder() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words, milliseconds: 700)
    let service = phone.service(blocking: BlockingLimits())
    try service.restart(after: 0)
    var lock = try LockedFile(phone.lock, patience: 1)
    #expect(lock != nil)
    let record = HandOverRecord()
    let work = try record.receive(TestPush(), by: service)
    work.expire()
    await work.finished()
    #expect(record.sounds == ["p1"])
    #expect(phone.errorCodes.contains(.orderBusy))
    lock = nil
    let order = try await orderAfterNote(phone)
    #expect(order.entries.isEmpty)
    let at = try #require(record.handOvers.withLock { $0.first?.at })
    // The sound is the chosen tone or the words, and lasts longer than half a second.
    #expect(order.freeAt > at + 500)
  }

  @Test("if the time limit ends while the order file is locked and a sound plays, the notification makes no sound")
  func expiresDuringSound() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: Self.words, milliseconds: 700)
    let service = phone.service(missed: NothingMissed(), blocking: BlockingLimits())
    let end = phone.clock.now + 60_000
    try service.file.update { order in
      order.restart(after: 0)
      order.freeAt = end
    }
    var lock = try LockedFile(phone.lock, patience: 1)
    #expect(lock != nil)
    let record = HandOverRecord()
    let work = try record.receive(TestPush(), by: service)
    work.expire()
    await work.finished()
    #expect(record.handOvers.withLock { $0.map(\.handOver.sound) } == [.silent(.later)])
    lock = nil
    let order = try await orderAfterNote(phone)
    #expect(order.unheard == [1] && order.freeAt == end)
  }

  private struct NothingMissed: MissedAnnouncements {
    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) { ([], false) }
  }

  /// Lets another process change the order, and returns it.
  private func orderAfterNote(_ phone: PhoneFolder) async throws -> NotificationOrder {
    let other = phone.service()
    try other.file.update(timeout: 2) { _ in }
    let order = try other.file.read()
    return try #require(order)
  }

  @Test("the record of a hand-over is added to the order file once, and a damaged record is removed")
  func notes() throws {
    let phone = try PhoneFolder()
    let file = NotificationOrderFile(container: phone.container.directory)
    try file.update { $0.restart(after: 0) }
    file.note(UnwrittenHandOver(id: "p1", sequence: 1, at: 100, until: 900, isExact: true))
    let folder = file.folder.appending(path: "handed-over")
    try Data("{".utf8).write(to: folder.appending(path: "damaged.json"))
    try file.update { order in
      #expect(order.lastSequence == 1)
      #expect(order.freeAt == 900)
      #expect(order.outcome(of: "p1") == .heard)
      order.freeAt = 0
    }
    try file.update { #expect($0.freeAt == 0) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a decision that would be written too late is made again from the stored order file")
  func lateDecision() throws {
    let phone = try PhoneFolder()
    let file = NotificationOrderFile(container: phone.container.directory)
    try file.update { $0.restart(after: 4) }
    var times: [Int64] = []
    let last = try file.update(isLate: { $0 < 3 }) { order -> Int64 in
      times.append(order.freeAt)
      order.freeAt += 10
      return Int64(times.count)
    }
    #expect(last == 3)
    #expect(times == [0, 0, 0])
    #expect(try file.read()?.freeAt == 10)
  }

  @Test("if the disk stays slow, the last decision is written even though it is late")
  func alwaysLate() throws {
    let phone = try PhoneFolder()
    let file = NotificationOrderFile(container: phone.container.directory)
    var count = 0
    try file.update(isLate: { _ in true }) { order in
      count += 1
      order.freeAt = Int64(count)
    }
    #expect(try file.read()?.freeAt == Int64(count))
    #expect((2...10).contains(count))
  }
}
