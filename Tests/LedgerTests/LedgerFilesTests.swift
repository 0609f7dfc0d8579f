// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("The files of an open ledger", .timeLimit(.minutes(10)))
struct LedgerFilesTests {
  /// A fault that somebody causes in the files of an open ledger.
  enum Fault: CaseIterable {
    case replaced, removed, cut, logReplaced, logRemoved, logCut, logEmptied, logOverwritten, indexRemoved

    var change: LedgerError.FileChange {
      switch self {
      case .replaced: .init(.file, .replaced)
      case .removed: .init(.file, .removed)
      case .cut: .init(.file, .cut)
      case .logReplaced: .init(.log, .replaced)
      case .logRemoved: .init(.log, .removed)
      case .logCut, .logEmptied: .init(.log, .cut)
      case .logOverwritten: .init(.log, .overwritten)
      case .indexRemoved: .init(.index, .removed)
      }
    }

    /// The ledger's file is not opened here, because closing it would release the locks of this process.
    func happen(to file: String, copy: String) throws {
      switch self {
      case .replaced: try replace(file, with: copy)
      case .removed: try FileManager.default.removeItem(atPath: file)
      // Safe: the text lives as long as the call.
      case .cut: #expect(unsafe truncate(file, off_t(3 * 4096)) == 0)
      case .logReplaced: try replace(file + "-wal", with: copy)
      case .logRemoved: try FileManager.default.removeItem(atPath: file + "-wal")
      // Safe: the text lives as long as the call.
      case .logCut: #expect(unsafe truncate(file + "-wal", 100) == 0)
      // Safe: the text lives as long as the call.
      case .logEmptied: #expect(unsafe truncate(file + "-wal", 0) == 0)
      case .logOverwritten:
        let log = try FileHandle(forWritingTo: URL(filePath: file + "-wal"))
        try log.write(contentsOf: Data(repeating: 0xAA, count: 32))
        try log.close()
      case .indexRemoved: try FileManager.default.removeItem(atPath: file + "-shm")
      }
    }

    private func replace(_ file: String, with copy: String) throws {
      // Safe: the texts live as long as the call.
      #expect(unsafe rename(copy, file) == 0)
    }
  }

  let place: TemporaryLedger
  private let copy: URL

  init() throws {
    place = try TemporaryLedger()
    copy = place.folder.appending(path: "copy.sqlite")
  }

  /// Opens a ledger of which a copy was made before, and accepts payments.
  private func filled(_ count: Int) async throws -> SQLiteLedger {
    do {
      let ledger = try place.open()
      for number in 1...count { try await _ = ledger.accept(payment("before-\(number)")) }
    }
    try await place.isClosed()
    try FileManager.default.copyItem(at: place.file, to: copy)
    let ledger = try place.open()
    for number in 1...count { try await _ = ledger.accept(payment("\(number)")) }
    return ledger
  }

  @Test(
    "if a ledger file was replaced, removed, cut or overwritten, the refusal of announcements says what has happened",
    arguments: Fault.allCases)
  func accepting(_ fault: Fault) async throws {
    let ledger = try await filled(50)
    async let found = ledger.damageFound()
    try fault.happen(to: place.file.path, copy: copy.path)
    let errors: [LedgerError?] = await withTaskGroup(of: LedgerError?.self) { group in
      for number in 1...20 {
        group.addTask { [ledger] in
          do throws(LedgerError) {
            _ = try await ledger.accept(payment("after-\(number)"))
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.count == 20 && errors.allSatisfy { $0?.code == .fileChanged && $0?.change == fault.change })
    #expect(errors.first??.action == .accepting)
    let error = try #require(await found)
    #expect(error.code == .fileChanged && error.change == fault.change && error.action == .checking)
    #expect(error.description.contains("\(fault.change). Nothing more is accepted. Stop every program"))
    let reading = await #expect(throws: LedgerError.self) { try await ledger.entry(1) }
    #expect(reading?.code == .fileChanged && reading?.action == .reading)
    #expect(FileManager.default.fileExists(atPath: place.file.path + ".damaged"))
  }

  @Test(
    "a check of the ledger's files finds a changed file, even if nothing was written to the ledger",
    arguments: Fault.allCases)
  func looking(_ fault: Fault) async throws {
    let ledger = try await filled(5)
    await ledger.checkFiles()
    #expect(ledger.damage.error(while: .checking) == nil)
    try fault.happen(to: place.file.path, copy: copy.path)
    await ledger.checkFiles()
    #expect(ledger.damage.error(while: .checking)?.change == fault.change)
  }

  @Test(
    "announcements that were accepted before the log was removed or replaced are in the ledger's main file",
    arguments: [Fault.logRemoved, .logReplaced])
  func rescued(_ fault: Fault) async throws {
    let ledger = try await filled(100)
    try fault.happen(to: place.file.path, copy: copy.path)
    await ledger.checkFiles()
    #expect(ledger.damage.isFound)
    let other = try TemporaryLedger()
    try FileManager.default.createDirectory(
      at: other.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: place.file, to: other.file)
    #expect(try await other.open().entry(id: "100") != nil)
  }

  @Test(
    "long normal work, with pruning, checkpoints and other programs, does not count as a change of the ledger's files")
  func normal() async throws {
    let ledger = try place.open()
    let writer = try Writer("accept", place.file.path)
    defer { writer.kill() }
    #expect(try writer.lines(10).count >= 10)
    // The process would stop if nobody read its output.
    let output = writer.output.fileHandleForReading
    Thread.detachNewThread { while !output.availableData.isEmpty {} }
    let other = try DatabaseQueue(waitingFor: place.file)
    let large = String(repeating: "x", count: 60_000)
    for round in 1...12 {
      try await withThrowingTaskGroup { group in
        for number in 1...60 {
          group.addTask { [ledger] in
            try await _ = ledger.accept(payment("\(round)-\(number)", payload: "{\"note\":\"\(large)\"}"))
            if number.isMultiple(of: 5) { await ledger.checkFiles() }
          }
        }
        try await group.waitForAll()
      }
      _ = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM announcements") }
      for number in 1...60 {
        let entry = try #require(try await ledger.entry(id: "\(round)-\(number)"))
        #expect(try await ledger.cancelUnplayed(entry.number))
      }
      place.clock.advance(by: 60)
      if round.isMultiple(of: 2) { try await ledger.prune(finishedBefore: place.clock.now) }
      // Other programs may be locked out by the writers for a while, which is not of interest here.
      switch round % 6 {
      case 1: try? await other.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
      case 3: try? await other.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
      case 5: try? await other.writeWithoutTransaction { _ = try $0.checkpoint(.restart) }
      default: break
      }
      await ledger.checkFiles()
      #expect(ledger.damage.error(while: .checking) == nil, "round \(round)")
    }
    #expect(try await ledger.checkIntegrity() != nil)
  }

  @Test("a ledger file that another process made shorter is whole if every page is there, and otherwise counts as cut")
  func shortened() async throws {
    let ledger = try place.open()
    let other = try DatabaseQueue(waitingFor: place.file)
    for number in 1...300 {
      try await _ = ledger.accept(payment("\(number)", payload: String(repeating: "x", count: 8_000)))
    }
    await ledger.checkpoint()
    let before = try place.size()
    try await other.writeWithoutTransaction { database in
      try database.execute(sql: "DELETE FROM announcements WHERE number < 250")
      try database.execute(sql: "VACUUM")
      try database.checkpoint(.truncate)
      // The database is longer than the file again.
      try database.execute(sql: "CREATE TABLE other AS SELECT randomblob(60000) AS bytes")
    }
    #expect(try place.size() < before)
    await ledger.checkFiles()
    #expect(ledger.damage.error(while: .checking) == nil)
    #expect(try await ledger.accept(payment("after")).number == 301)

    try await other.write { try $0.execute(sql: "UPDATE other SET bytes = randomblob(60000)") }
    // Safe: the text lives as long as the call.
    #expect(unsafe truncate(place.file.path, 10 * 4096) == 0)
    await ledger.checkFiles()
    #expect(ledger.damage.error(while: .checking)?.change == .init(.file, .cut))
  }
}
