// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("The check of a ledger that is in use", .timeLimit(.minutes(5)))
struct CheckingTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  private func openUnchecked() throws -> SQLiteLedger {
    var options = SQLiteLedger.Options()
    options.checksIntegrity = false
    return try place.open(options)
  }

  /// Makes a closed ledger with played announcements.
  private func fill(announcements count: Int) async throws {
    do { _ = try place.open() }
    try await place.isClosed()
    try DamagedLedger.fill(place.file, announcements: count)
  }

  /// The bytes of a ledger's file and of its log.
  private func content(_ place: TemporaryLedger) throws -> [Data] {
    try ["", "-wal"].map { try Data(contentsOf: URL(filePath: place.file.path + $0)) }
  }

  /// The file that marks the ledger as damaged.
  private var mark: URL { URL(filePath: place.file.path + ".damaged") }

  /// Settings with which the log seems to be too long in the first parts of a check, however long it is.
  private func settings(tooLongIn parts: Int, pauses: Locked<[Duration]> = Locked([])) -> IntegrityCheck.Settings {
    var settings = IntegrityCheck.Settings()
    // The size is asked for at the start of each part, and again when its transaction has begun.
    let asked = Locked(0)
    settings.interval = .seconds(3_600)
    settings.logBytes = { _ in
      asked.withLock { asked in
        defer { asked += 1 }
        return asked % 2 == 1 && asked / 2 < parts ? .max : 0
      }
    }
    settings.sleep = { duration in pauses.withLock { $0.append(duration) } }
    return settings
  }

  @Test("a ledger of 100,000 announcements without damage passes the check while it is read and written")
  func sound() async throws {
    try await fill(announcements: 100_000)
    let ledger = try openUnchecked()
    #expect(!ledger.wasCheckedAtOpening)
    let checking = Task { try await ledger.checkIntegrity() }
    for id in 0..<100 {
      try await _ = ledger.accept(payment("new-\(id)"))
      #expect(try await ledger.entry(id: "new-\(id)") != nil)
    }
    let report = try #require(try await checking.value)
    #expect(try report.byteCount == place.size() && report.byteCount > 20 << 20)
    #expect(!report.isByTable)
    #expect(!FileManager.default.fileExists(atPath: mark.path))
    #expect(try await ledger.accept(payment("after")).number == 100_101)
  }

  @Test(
    "a ledger with a damaged page can be opened and read, and is refused as soon as the check finds the page",
    arguments: DamagedLedger.Part.allCases, [false, true])
  func damaged(part: DamagedLedger.Part, isByTable: Bool) async throws {
    try await fill(announcements: 20_000)
    try DamagedLedger.damage(part, of: place.file)
    let ledger = try openUnchecked()
    #expect(try await ledger.entry(20_000)?.state == .played)
    try await ledger.record(.sequenceMissing, lane: "counter", passing: 5)
    let before = try content(place)

    let error = await #expect(throws: LedgerError.self) {
      try await ledger.checkIntegrity(settings(tooLongIn: isByTable ? 1 : 0))
    }
    #expect(error?.code == .damaged && error?.action == .checking)
    #expect(error?.description.contains("Nothing more is written to the file. Keep a copy of the file") == true)
    #expect(await ledger.damageFound()?.code == .damaged)
    await #expect(throws: LedgerError.self) { try await ledger.accept(payment("a")) }
    let failure = await #expect(throws: LedgerError.self) { try await ledger.entry(20_000) }
    #expect(failure?.code == .damaged && failure?.action == .reading)
    await #expect(throws: LedgerError.self) { try await ledger.prune(finishedBefore: .distantFuture) }
    #expect(try content(place) == before)
  }

  @Test("a damaged ledger is not written when it is closed, and not opened again without a check")
  func closed() async throws {
    try await fill(announcements: 20_000)
    let sound = try Data(contentsOf: place.file)
    try DamagedLedger.damage(.table, of: place.file)
    let before: [Data]
    do {
      let ledger = try openUnchecked()
      try await ledger.record(.sequenceMissing, lane: "counter", passing: 5)
      before = try content(place)
      await #expect(throws: LedgerError.self) { try await ledger.checkIntegrity() }
    }
    #expect(try place.mode(mark) == 0o600)
    let error = #expect(throws: LedgerError.self) { try openUnchecked() }
    #expect(error?.code == .damaged && error?.action == .opening)
    #expect(throws: LedgerError.self) {
      var options = SQLiteLedger.Options()
      options.checksIntegrity = false
      return try SQLiteLedger(reading: place.file, options: options)
    }
    #expect(try content(place) == before)
    // A restored backup replaces the files, and opening it removes the mark.
    try FileManager.default.removeItem(atPath: place.file.path + "-wal")
    try FileManager.default.removeItem(atPath: place.file.path + "-shm")
    try FileManager.default.removeItem(at: place.file)
    try sound.write(to: place.file)
    #expect(try openUnchecked().wasCheckedAtOpening)
    #expect(!FileManager.default.fileExists(atPath: mark.path))
    #expect(try !openUnchecked().wasCheckedAtOpening)
  }

  @Test("after a call has found damage, no later call reads the ledger's file, and a later check is refused")
  func met() async throws {
    try await fill(announcements: 20_000)
    try DamagedLedger.damage(.table, of: place.file)
    let ledger = try openUnchecked()
    async let found = ledger.damageFound()
    let error = await #expect(throws: LedgerError.self) { try await ledger.entry(1) }
    #expect(error?.code == .damaged && error?.action == .reading)
    #expect(await found?.code == .damaged)
    #expect(try place.mode(mark) == 0o600)
    await #expect(throws: LedgerError.self) { try await ledger.entry(20_000) }
    await #expect(throws: LedgerError.self) { try await ledger.accept(payment("a")) }
    let ended = await #expect(throws: LedgerError.self) { try await ledger.checkIntegrity() }
    #expect(ended?.code == .damaged)
  }

  @Test("a row that this version cannot read is an error only for the calls that read the row")
  func unreadableRow() async throws {
    try await fill(announcements: 10)
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.write { try $0.execute(sql: "UPDATE announcements SET detail = 'no JSON' WHERE number = 1") }
    try database.close()
    let ledger = try openUnchecked()
    let error = await #expect(throws: LedgerError.self) { try await ledger.entry(1) }
    #expect(error?.code == .damaged)
    #expect(try await ledger.entry(2) != nil)
    #expect(try await ledger.accept(payment("a")).number == 11)
    #expect(try await ledger.checkIntegrity() != nil)
  }

  @Test("a check whose task is cancelled ends at once without a result, and the ledger stays in use")
  func cancelled() async throws {
    try await fill(announcements: 200_000)
    let ledger = try openUnchecked()
    var settings = IntegrityCheck.Settings()
    settings.interval = .milliseconds(1)
    // The second time that the size is asked for, SQLite begins to read the pages.
    let asked = Locked(0)
    let begins = DispatchSemaphore(value: 0)
    settings.logBytes = { _ in
      if asked.withLock({ asked in
        asked += 1
        return asked == 2
      }) {
        begins.signal()
      }
      return 0
    }
    let checking = Task { [settings] in try await ledger.checkIntegrity(settings) }
    // A task would have to wait for the threads that other tests occupy, and the check could have ended by then.
    Thread.detachNewThread {
      begins.wait()
      checking.cancel()
    }
    #expect(try await checking.value == nil)
    #expect(try await ledger.accept(payment("a")).number == 200_001)
    let waiting = Task { await ledger.damageFound() }
    waiting.cancel()
    #expect(await waiting.value == nil)
  }

  @Test(
    "if the log grows too much during a check, the check continues table by table, and repeats a table after a pause")
  func growingLog() async throws {
    try await fill(announcements: 1_000)
    let ledger = try openUnchecked()
    let pauses = Locked([Duration]())
    let report = try #require(try await ledger.checkIntegrity(settings(tooLongIn: 8, pauses: pauses)))
    #expect(report.isByTable)
    #expect(pauses.withLock { $0 } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
  }

  @Test("if damage is found when a ledger is opened, nothing is written to its file, not even from its log")
  func log() async throws {
    try await fill(announcements: 20_000)
    let ledger = try place.open()
    try await _ = ledger.accept(payment("a"))
    // A crash leaves the files as they are while the ledger is open.
    let copy = try TemporaryLedger()
    try FileManager.default.createDirectory(
      at: copy.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: place.file, to: copy.file)
    try DamagedLedger.damage(.table, of: copy.file)
    try FileManager.default.copyItem(atPath: place.file.path + "-wal", toPath: copy.file.path + "-wal")
    let before = try content(copy)
    #expect(before[1].count > 0)
    #expect(copy.openingFailure == .damaged)
    #expect(try content(copy) == before)
  }
}
