// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing
import TestSupport

@testable import Ledger
@testable import SQLiteLedger

@Suite("A ledger that is opened for reading only")
struct ReadingOnlyTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  private func failure() -> LedgerError.Code? {
    do {
      _ = try SQLiteLedger(reading: place.file)
      return nil
    } catch {
      return error.code
    }
  }

  /// Returns when no descriptor of this process refers to a file. On other systems than Linux, returns at once.
  private func isLetGo(_ file: URL) async throws {
    func isOpen() -> Bool {
      let folder = "/proc/self/fd"
      let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return numbers.contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == file.path
      }
    }
    try await eventually { !isOpen() }
  }

  @Test("a ledger that is opened for reading only is read beside its writer, and refuses to write")
  func beside() async throws {
    let writer = try place.open()
    try await _ = writer.accept(payment("a"))
    let ledger = try SQLiteLedger(reading: place.file)
    #expect(try await ledger.entry(id: "a")?.number == 1)
    try await _ = writer.accept(payment("b"))
    #expect(try await ledger.recent().map(\.id) == ["b", "a"])
    let error = await #expect(throws: LedgerError.self) { try await ledger.accept(payment("c")) }
    #expect(error?.code == .readOnly)
    await #expect(throws: LedgerError.self) { try await ledger.prune(finishedBefore: .distantFuture) }
    #expect(try await writer.recent().map(\.id) == ["b", "a"])
  }

  @Test("the ledger's file is unchanged after the last reader closes it, also with a log that a crash left")
  func bytes() async throws {
    let writer = try place.open()
    try await _ = writer.accept(payment("a"))
    // A crash leaves the files as they are while the ledger is open.
    let copy = place.folder.appending(path: "copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: place.file.path + suffix, toPath: copy.path + suffix)
    }
    let before = try ["", "-wal"].map { try Data(contentsOf: URL(filePath: copy.path + $0)) }
    #expect(before[1].count > 0)
    do { #expect(try await SQLiteLedger(reading: copy).entry(id: "a")?.number == 1) }
    try await isLetGo(copy)
    #expect(try ["", "-wal"].map { try Data(contentsOf: URL(filePath: copy.path + $0)) } == before)
    #expect(try await SQLiteLedger(at: copy).accept(payment("b")).number == 2)
  }

  @Test("a closed ledger can be read, and can be opened for writing afterwards")
  func closed() async throws {
    do { try await _ = place.open().accept(payment("a")) }
    try await place.isClosed()
    let before = try Data(contentsOf: place.file)
    do { #expect(try await SQLiteLedger(reading: place.file).counts(lane: nil)[.accepted] == 1) }
    try await isLetGo(place.file)
    #expect(try Data(contentsOf: place.file) == before)
    #expect(try await place.open().accept(payment("b")).number == 2)
  }

  @Test("an earlier version's ledger is refused for reading only with its own error code, and is not migrated")
  func older() async throws {
    try EarlierLedger.write(to: place.file)
    let before = try Data(contentsOf: place.file)
    let error = #expect(throws: LedgerError.self) { try SQLiteLedger(reading: place.file) }
    #expect(error?.code == .olderVersion)
    #expect(error?.description.contains("the file must first be brought up to date. The file was not") == true)
    #expect(try Data(contentsOf: place.file) == before)
    #expect(try await place.open().entry(account: "shop", id: "waiting-1") != nil)
  }

  @Test(
    "a ledger file that is newer, foreign, damaged or missing is refused for reading only and stays as it is")
  func refused() async throws {
    // The ledger may still be giving up its lock, on a machine that is busy.
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    #expect(failure() == .systemFailure)
    #expect(!FileManager.default.fileExists(atPath: place.file.path))
    try await _ = place.open().accept(payment("a"))
    try await place.isClosed()
    let whole = try Data(contentsOf: place.file)
    try {
      let newer = try DatabaseQueue(path: place.file.path, configuration: configuration)
      try newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: something to come')") }
      try newer.close()
    }()
    #expect(failure() == .newerVersion)
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.file.path + suffix) }
    try {
      let other = try DatabaseQueue(path: place.file.path, configuration: configuration)
      try other.write { try $0.execute(sql: "CREATE TABLE notes (text)") }
      try other.close()
    }()
    #expect(failure() == .notALedger)
    try whole.prefix(3 * 4096 + 100).write(to: place.file)
    #expect(failure() == .damaged)
    try Data(String(repeating: "This is a letter. ", count: 500).utf8).write(to: place.file)
    #expect(failure() == .damaged)
    try Data().write(to: place.file)
    #expect(failure() == .olderVersion, "a ledger whose creation was interrupted")
    try Data(count: 5000).write(to: URL(filePath: place.file.path + "-wal"))
    #expect(failure() == .damaged)
    #expect(try place.size() == 0 && place.size("-wal") == 5000)
  }
}
