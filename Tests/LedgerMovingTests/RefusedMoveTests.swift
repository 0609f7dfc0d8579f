// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import GRDB
import Ledger
import LedgerMoving
import LedgerTestSupport
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import SQLiteLedger

@Suite(
  "Moves that are refused or interrupted", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct RefusedMoveTests {
  /// The error that a test throws in the middle of a move.
  private struct Stop: Error {}

  private func intoDatabase(_ place: MovingPlace) -> LedgerMove {
    .intoDatabase(from: place.file, to: place.address)
  }

  private func intoFile(_ place: MovingPlace) -> LedgerMove { .intoFile(from: place.address, to: place.copy) }

  @Test("a database with rows of a ledger is not filled, and keeps its rows")
  func filledDatabase() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try await place.usingDatabase { _ = try await $0.accept(payment("X")) }
    let rows = try await place.rowsInDatabase()
    let error = try #require(await failure(of: intoDatabase(place)))
    #expect(error.code == .notEmpty)
    #expect(error.description.contains("drop this one and create it again"))
    #expect(try await place.rowsInDatabase() == rows)
  }

  @Test("a database with an unfinished batch is not moved, because batches are files beside a ledger in SQLite")
  func unfinishedBatch() async throws {
    let place = try await MovingPlace()
    let new = Ledger.NewBatch(id: "a", account: "shop", request: Data(), status: Data())
    try await place.usingDatabase { ledger in
      let batches = try ledger.sharedBatches.orThrow("batches of several nodes")
      _ = try await batches.accept(new, list: Data("x".utf8), nil)
    }
    let error = try #require(await failure(of: intoFile(place)))
    #expect(error.code == .unfinishedBatches && error.description.contains("a batch has not ended"))
    #expect(!FileManager.default.fileExists(atPath: place.copy.path))
    try await place.usingDatabase { _ = try await $0.sharedBatches?.cancel(batch: "a", account: "shop") }
    _ = try await intoFile(place).run()
  }

  @Test("a database whose tables have no rows is filled")
  func emptyTables() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try await place.usingDatabase { _ in }
    #expect(try await intoDatabase(place).run().rows > 30)
  }

  @Test("a database with the tables of another program is not filled, and gets no tables")
  func otherProgram() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try await place.change("CREATE TABLE orders (id bigint PRIMARY KEY)")
    let error = try #require(await failure(of: intoDatabase(place)))
    #expect(error.code == .notALedger && error.description.contains("it has tables, but not those of a ledger"))
    #expect(await failure(of: intoFile(place))?.code == .notALedger)
    try await place.change("CREATE TABLE lanes (id bigint)")
  }

  @Test("a place with a ledger, or with a part of one, is not filled", arguments: ["", "-wal", "-shm", ".damaged"])
  func filledFile(_ suffix: String) async throws {
    let place = try await MovingPlace()
    try await place.usingDatabase { _ = try await $0.accept(payment("X")) }
    try FileManager.default.createDirectory(
      at: place.copy.deletingLastPathComponent(), withIntermediateDirectories: true)
    let file = URL(filePath: place.copy.path + suffix)
    try Data("x".utf8).write(to: file)
    #expect(await failure(of: intoFile(place))?.code == .notEmpty)
    #expect(try Data(contentsOf: file) == Data("x".utf8))
  }

  @Test("a missing ledger is reported, and nothing is made", arguments: [true, false])
  func missing(fromFile: Bool) async throws {
    let place = try await MovingPlace()
    let error = try #require(await failure(of: fromFile ? intoDatabase(place) : intoFile(place)))
    #expect(error.code == .noLedger)
    #expect(!FileManager.default.fileExists(atPath: place.copy.path))
    #expect(!FileManager.default.fileExists(atPath: place.file.path))
  }

  @Test("a damaged file is not moved, and the database gets no tables")
  func damaged() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try DamagedLedger.fill(place.file, announcements: 500)
    try DamagedLedger.damage(.table, of: place.file)
    #expect(await failure(of: intoDatabase(place))?.code == .damaged)
    try await place.change("CREATE TABLE announcements (id bigint)")
  }

  @Test("a file of an earlier version is not moved and not migrated")
  func earlierFile() async throws {
    let place = try await MovingPlace()
    try EarlierLedger.write(.fourteen, to: place.file)
    let bytes = try Data(contentsOf: place.file)
    let error = try #require(await failure(of: intoDatabase(place)))
    #expect(error.code == .olderVersion)
    #expect(try Data(contentsOf: place.file) == bytes)
  }

  @Test("a database of an earlier or a newer version is not moved")
  func otherVersions() async throws {
    let place = try await MovingPlace()
    try await place.usingDatabase { _ in }
    try await place.change("INSERT INTO crier_migrations (position, name) VALUES (1000, 'a later change')")
    let newer = try #require(await failure(of: intoFile(place)))
    #expect(newer.code == .newerVersion && newer.description.contains("“a later change”"))
    try await place.change(
      """
      DELETE FROM crier_migrations
      WHERE position >= (SELECT max(position) FROM crier_migrations WHERE position < 1000)
      """
    )
    #expect(await failure(of: intoFile(place))?.code == .olderVersion)
    #expect(place.filesOfCopy == ["ledger.sqlite.opening"])
  }

  @Test("a file that another process has open is not moved, and the error names the process", .timeLimit(.minutes(2)))
  func usedFile() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let writer = Process()
    writer.executableURL = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
      .deletingLastPathComponent().appending(path: "ledger-writer")
    writer.arguments = ["sit", place.file.path, "lane"]
    let (input, output) = (Pipe(), Pipe())
    (writer.standardInput, writer.standardOutput) = (input, output)
    try writer.run()
    #expect(output.fileHandleForReading.availableData == Data("seated\n".utf8))
    let error = try #require(await failure(of: intoDatabase(place)))
    #expect(error.code == .inUse && error.process == writer.processIdentifier)
    writer.killAndWait()
    // The kernel has released the lock, although the files of the log are still there.
    #expect(FileManager.default.fileExists(atPath: place.file.path + "-wal"))
    #expect(try await intoDatabase(place).run().rows > 30)
  }

  @Test("nobody can open the file for use while it is moved")
  func lockedFile() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let codes = Locked<[LedgerError.Code]>([])
    let file = place.file
    _ = try await intoDatabase(place).run { progress in
      guard progress.step == .copying, progress.rows == 0 else { return }
      var options = SQLiteLedger.Options()
      options.busyTimeout = 0.1
      do throws(LedgerError) { _ = try SQLiteLedger(at: file, options: options) } catch {
        codes.withLock { $0.append(error.code) }
      }
    }
    #expect(codes.withLock { $0 } == [.busy])
  }

  @Test("a database to which a node is connected is neither moved nor filled")
  func usedDatabase() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try await place.usingDatabase { ledger in
      let error = try #require(await failure(of: intoDatabase(place)))
      #expect(error.code == .inUse && error.description.contains("is connected to the database"))
      _ = try await ledger.accept(payment("X"))
      #expect(await failure(of: intoFile(place))?.code == .inUse)
    }
    #expect(try await intoFile(place).run().tables.first { $0.name == "announcements" }?.rows == 1)
  }

  @Test("nobody can write into a database while it is moved")
  func lockedDatabase() async throws {
    let place = try await MovingPlace()
    try await place.usingDatabase { _ = try await $0.accept(payment("X")) }
    let other = try place.database.connect()
    // The connection does not have Crier's name, so it looks like a connection of another program.
    try await other.run { session throws(PostgreSQLError) in
      try session.script("SET application_name = 'psql'; SET lock_timeout = '1ms'")
    }
    let codes = Locked<[PostgreSQLError.Code]>([])
    let turn = DispatchSemaphore(value: 0)
    _ = try await intoFile(place).run { progress in
      guard progress.rows == 0 else { return }
      Task {
        do throws(PostgreSQLError) {
          try await other.run { session throws(PostgreSQLError) in
            try session.execute("INSERT INTO lanes (lane) VALUES ('new')")
          }
        } catch {
          codes.withLock { $0.append(error.code) }
        }
        turn.signal()
      }
      _ = turn.wait(timeout: .now() + 120)
    }
    await other.close()
    #expect(codes.withLock { $0 } == [.locked, .locked])
  }

  @Test("a move that stops in the middle leaves no row and no file", arguments: LedgerMove.Progress.Step.allCases)
  func stopped(in step: LedgerMove.Progress.Step) async throws {
    let place = try await MovingPlace()
    try await place.fill()
    await #expect(throws: Stop.self) {
      try await intoDatabase(place).run { if $0.step == step, $0.rows > 5 { throw Stop() } }
    }
    #expect(try await place.rowsInDatabase() == 0)
    // The numbers and the triggers are as before, too.
    try await place.usingDatabase { ledger in
      #expect(try await ledger.accept(payment("first")).number == 1)
      _ = try await ledger.createKey(newKey("k"))
      #expect(try await ledger.keysVersion() == 1)
    }
    await #expect(throws: Stop.self) {
      try await intoFile(place).run { if $0.step == step, $0.rows > 2 { throw Stop() } }
    }
    #expect(place.filesOfCopy == ["ledger.sqlite.opening"])
  }

  @Test("a connection that breaks in the middle leaves no row")
  func broken() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let other = try place.database.connect()
    let turn = DispatchSemaphore(value: 0)
    let isOver = Locked(false)
    do {
      _ = try await intoDatabase(place).run { progress in
        guard progress.step == .checking, progress.rows > 5, !isOver.withLock({ $0 }) else { return }
        isOver.withLock { $0 = true }
        Task {
          _ = try? await other.run { session throws(PostgreSQLError) in
            try session.execute(
              """
              SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
              """)
          }
          turn.signal()
        }
        _ = turn.wait(timeout: .now() + 120)
      }
      Issue.record("The move did not fail.")
    } catch let error as LedgerError {
      #expect(error.code == .unreachable)
    }
    await other.close()
    #expect(try await place.rowsInDatabase() == 0)
    #expect(try await intoDatabase(place).run().rows > 30)
  }

  @Test("a copy that is changed before the comparison is not kept, and the error names the row without its values")
  func changedCopy() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    _ = try await intoDatabase(place).run()
    let unfinished = place.copy.appendingPathExtension("moving")
    do {
      _ = try await intoFile(place).run { progress in
        guard progress.step == .checking, progress.rows == 0 else { return }
        try place.change(unfinished, "UPDATE announcements SET clip = 'secret.wav' WHERE number = 2")
      }
      Issue.record("The move did not fail.")
    } catch let error as LedgerError {
      #expect(error.code == .copyDiffers && error.field == "table announcements, number 2, column clip")
      #expect(!error.description.contains("secret"))
    }
    #expect(place.filesOfCopy == ["ledger.sqlite.opening"])
  }

  @Test("an unfinished file of a move that was killed is replaced")
  func leftover() async throws {
    let place = try await MovingPlace()
    try await place.usingDatabase { _ = try await $0.accept(payment("X")) }
    try FileManager.default.createDirectory(
      at: place.copy.deletingLastPathComponent(), withIntermediateDirectories: true)
    for suffix in ["", "-journal", "-wal"] {
      try Data("x".utf8).write(to: URL(filePath: place.copy.path + ".moving" + suffix))
    }
    _ = try await intoFile(place).run()
    #expect(place.filesOfCopy == ["ledger.sqlite", "ledger.sqlite.opening"])
  }

  @Test(
    "a text that PostgreSQL cannot store is refused, and the error names the table, the row and the column",
    arguments: ["410042", "ff"])
  func unstorable(_ hexadecimal: String) async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try place.change(place.file, "UPDATE announcements SET detail = CAST(x'\(hexadecimal)' AS TEXT) WHERE number = 2")
    let error = try #require(await failure(of: intoDatabase(place)))
    #expect(error.code == .valueUnstorable && error.field == "table announcements, number 2, column detail")
    try place.change(place.file, "UPDATE announcements SET detail = NULL")
    // A key that may be private is not named.
    try place.change(place.file, "UPDATE decisions SET payer = CAST(x'\(hexadecimal)' AS TEXT)")
    let other = try #require(await failure(of: intoDatabase(place)))
    #expect(other.field == "table decisions, row 1, column payer")
    #expect(try await place.rowsInDatabase() == 0)
  }

  @Test("a move to PostgreSQL replaces a NUL in a provider's text with U+FFFD")
  func remark() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try place.change(
      place.file, "UPDATE provider_payments SET reason = CAST(x'410042' AS TEXT) WHERE state = 'refused'")
    _ = try await intoDatabase(place).run()
    try await place.usingDatabase { ledger in
      let payments = try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 100)
      #expect(payments.compactMap(\.reason) == ["A\u{FFFD}B"])
    }
  }

  @Test("a table with more rows than are read at once is moved")
  func manyRows() async throws {
    let place = try await MovingPlace()
    try await place.using(place.file) { _ in }
    try DamagedLedger.fill(place.file, announcements: 2_345)
    try place.change(
      place.file,
      """
      INSERT INTO events (at, announcement, lane, kind) SELECT 1, number, lane, state FROM announcements;
      UPDATE announcements SET summarised_by = number + 1 WHERE number < 2345;
      """)
    let before = try dump(place.file)
    let steps = Locked<[LedgerMove.Progress]>([])
    let report = try await intoDatabase(place).run { progress in steps.withLock { $0.append(progress) } }
    // A feed and a count of changed keys are there from the beginning.
    #expect(report.rows == 2_345 * 2 + 2_344 + 2)
    #expect(steps.withLock { $0.last?.rows } == report.rows)
    #expect(steps.withLock { $0.allSatisfy { $0.total == report.rows } })
    _ = try await intoFile(place).run()
    #expect(try dump(place.copy) == before)
  }

  @Test("a wrong password is reported without the password and the user")
  func password() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    try await place.change("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 'right'")
    let file = place.folder.appending(path: "password")
    try Data("wrong\n".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let address = try place.database.server.address(user: "guarded", database: place.database.name, passwordFile: file)
    let error = try #require(await failure(of: .intoDatabase(from: place.file, to: address)))
    #expect(error.code == .notPermitted)
    #expect(!error.description.contains("wrong") && !error.description.contains("guarded"))
  }

  @Test("a cancelled move ends as cancelled, and leaves no row")
  func cancelled() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let move = intoDatabase(place)
    let isUnderWay = Locked(false)
    let turn = DispatchSemaphore(value: 0)
    let task = Task {
      try await move.run { progress in
        guard progress.rows > 5, !isUnderWay.withLock({ $0 }) else { return }
        isUnderWay.withLock { $0 = true }
        _ = turn.wait(timeout: .now() + 120)
      }
    }
    try await eventually("the move is under way") { isUnderWay.withLock { $0 } }
    task.cancel()
    turn.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await place.rowsInDatabase() == 0)
  }
}
