// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Opening a ledger", .timeLimit(.minutes(5)))
struct OpeningTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  @Test("only the owner may read a new ledger and its folders")
  func modes() async throws {
    let deep = place.folder.appending(path: "a/b/ledger.sqlite")
    let ledger = try SQLiteLedger(at: deep)
    try await _ = ledger.accept(payment("a"))
    #expect(try place.mode(deep) == 0o600)
    for suffix in ["-wal", "-shm", ".opening"] {
      #expect(try place.mode(URL(filePath: deep.path + suffix)) == 0o600)
    }
    #expect(try place.mode(place.folder.appending(path: "a")) == 0o700)
    #expect(try place.mode(place.folder.appending(path: "a/b")) == 0o700)
  }

  @Test("a ledger file that is not a database is an error and stays unchanged")
  func noDatabase() throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let text = Data(String(repeating: "This is a letter. ", count: 500).utf8)
    try text.write(to: place.file)
    let error = try #require(throws: LedgerError.self) { try place.open() }
    #expect(error.code == .damaged)
    #expect(error.description.contains("The file was not changed."))
    #expect(try Data(contentsOf: place.file) == text)
  }

  @Test("a damaged page is found when the ledger is opened, and the file stays unchanged")
  func damaged() async throws {
    do {
      let ledger = try place.open()
      for id in 0..<200 { try await _ = ledger.accept(payment("\(id)")) }
    }
    try await place.isClosed()
    var bytes = try Data(contentsOf: place.file)
    #expect(bytes.count > 40_000)
    for page in 4..<8 {
      bytes.replaceSubrange(page * 4096..<page * 4096 + 200, with: Data(repeating: 0xAA, count: 200))
    }
    try bytes.write(to: place.file)
    #expect(place.openingFailure == .damaged)
    #expect(try Data(contentsOf: place.file) == bytes)
  }

  @Test("a ledger file that is truncated, or that is empty and has a log, is reported as damaged")
  func cut() async throws {
    do {
      let ledger = try place.open()
      for id in 0..<200 { try await _ = ledger.accept(payment("\(id)")) }
    }
    try await place.isClosed()
    let bytes = try Data(contentsOf: place.file)
    try bytes.prefix(5 * 4096 + 100).write(to: place.file)
    #expect(place.openingFailure == .damaged)
    try Data().write(to: place.file)
    try Data(count: 5000).write(to: URL(filePath: place.file.path + "-wal"))
    #expect(place.openingFailure == .damaged)
    #expect(try place.size() == 0 && place.size("-wal") == 5000)
  }

  @Test("another program's database is refused as a ledger before anything in it is changed")
  func foreign() throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    do {
      let other = try DatabaseQueue(waitingFor: place.file)
      try other.write { try $0.execute(sql: "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')") }
      try other.close()
    }
    let before = try Data(contentsOf: place.file)
    #expect(place.openingFailure == .notALedger)
    #expect(try Data(contentsOf: place.file) == before)
  }

  @Test("a ledger whose creation was interrupted is completed")
  func begun() async throws {
    try FileManager.default.createDirectory(
      at: place.file.deletingLastPathComponent(), withIntermediateDirectories: true)
    do {
      let database = try DatabaseQueue(waitingFor: place.file)
      try await database.write {
        try $0.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
      }
      try database.close()
    }
    let ledger = try place.open()
    #expect(try await ledger.accept(payment("a")).number == 1)
  }

  @Test("a newer ledger is refused by an error that names the unknown change and the backup, and stays unchanged")
  func newer() async throws {
    try await _ = place.open().accept(payment("a"))
    try await place.isClosed()
    try {
      let newer = try DatabaseQueue(waitingFor: place.file)
      try newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('2: something to come')") }
      try newer.close()
    }()
    let error = #expect(throws: LedgerError.self) { try place.open() }
    #expect(error?.code == .newerVersion)
    let text = "\(try #require(error))"
    #expect(text.contains("made the change “2: something to come”"))
    #expect(text.hasSuffix("Install the newer version again, or restore the backup from before the upgrade."))
    let database = try DatabaseQueue(waitingFor: place.file)
    #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM announcements") } == 1)
  }

  @Test("a folder in place of the ledger's file, and a file in place of its folder, have their own error")
  func wrongKind() throws {
    try FileManager.default.createDirectory(at: place.file, withIntermediateDirectories: true)
    #expect(place.openingFailure == .wrongKindOfFile)
    try Data().write(to: place.folder.appending(path: "file"))
    let error = #expect(throws: LedgerError.self) {
      try SQLiteLedger(at: place.folder.appending(path: "file/ledger.sqlite"))
    }
    #expect(error?.code == .wrongKindOfFile)
  }

  @Test("every connection that writes to the ledger synchronizes each commit before it returns")
  func settings() async throws {
    let ledger = try place.open()
    let settings = try await ledger.settings()
    #expect(settings == ["synchronous": 2, "foreign_keys": 1, "auto_vacuum": 2, "journal_size_limit": 4 << 20])
    #expect(try Data(contentsOf: place.file)[18] == 2, "a write-ahead log")
  }

  @Test("a writer that another process blocks for too long gets the error 'busy', and works again later")
  func busy() async throws {
    var options = SQLiteLedger.Options()
    options.busyTimeout = 0.05
    let ledger = try place.open(options)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true  // A transaction spans two accesses.
    let other = try DatabaseQueue(path: place.file.path, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    let error = try await #require(throws: LedgerError.self) { try await ledger.accept(payment("a")) }
    #expect(error.code == .busy)
    #expect(try await ledger.recent().isEmpty, "reading still works")
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try await ledger.accept(payment("a")).number == 1)
  }

  @Test("a ledger whose log is not yet merged is opened with all its data")
  func log() async throws {
    let ledger = try place.open()
    try await _ = ledger.accept(payment("a"))
    // A crash leaves the files as they are while the ledger is open.
    let copy = place.folder.appending(path: "copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: place.file.path + suffix, toPath: copy.path + suffix)
    }
    #expect(try await SQLiteLedger(at: copy).entry(id: "a")?.number == 1)
  }
}
