// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
import GRDB
public import Ledger

/// The durable store of accepted announcements and their states, in an SQLite file.
///
/// - When an `async` call that writes returns, its changes survive `kill -9` and a loss of power at any later moment:
///   they are in the write-ahead log, and the log is synchronized (`synchronous=FULL`). The changes of a call that has
///   not returned yet are stored completely or not at all.
/// - Writes are done in the order of the calls. Writes that arrive during a synchronization are written and
///   synchronized together. A write that breaks a rule does not affect the others.
/// - Cancelling a task does not undo its write: the call still returns the result.
/// - Any number of processes and `SQLiteLedger` values on one machine can have the same file open.
///
/// The ledger refuses a file with an error, and leaves it unchanged, if SQLite finds it damaged, if it is not a
/// database, if it belongs to another program, or if a newer version wrote it. If damage is only found while the ledger
/// is in use, by ``checkIntegrity()`` or by any other call, nothing more is written, and all later calls fail. SQLite
/// reads the log only up to the first page with a wrong checksum. If a disk damages the log after it reported the data
/// as safe, the loss can therefore not be detected.
public final class SQLiteLedger: Ledger.Store {
  /// The options for opening a ledger.
  public struct Options: Sendable, Hashable {
    /// The maximum number of acceptances and commands that may wait to be written.
    public var waitingLimit = 10_000
    /// The maximum number of payload bytes that may wait to be written.
    public var waitingBytes = 64 << 20
    /// The limit of the file's used bytes. At the limit, announcements are refused with `diskFull`. Nil sets no limit
    /// other than the disk's. Changes of state can use 1 MiB more, so that accepted announcements can still be played
    /// and pruned. The log beside the file is truncated to ``SQLiteLedger/logBytes``.
    public var maximumBytes: Int64?
    /// The number of bytes beyond ``maximumBytes`` that changes of state can use.
    var reserveBytes: Int64 = 1 << 20
    /// The time to wait for another process that is writing, in seconds.
    public var busyTimeout: TimeInterval = 5
    /// The limits of what the ledger keeps.
    public var limits = Ledger.Limits()
    /// Whether opening the ledger reads and checks every page, which takes longer the larger the file is. A process
    /// that only watches can skip the check, and a service can run it beside its work; see
    /// ``SQLiteLedger/checkIntegrity()``. Opening always makes the checks whose time does not depend on the size of the
    /// file: its header, its tables, and whether it has as many pages as its header says. A file that was found damaged
    /// before is always checked.
    public var checksIntegrity = true

    public init() {}
  }

  /// The size to which the log beside the file is truncated, in bytes.
  public static let logBytes: Int64 = 4 << 20

  /// The ledger's file. Beside it are two files of SQLite (`-wal`, `-shm`), a lock file for opening, and one lock file
  /// for each lane.
  public let file: URL
  let options: Options
  package let now: @Sendable () -> Date
  private let writer: DatabaseQueue
  private let readers: ReadConnections
  /// The connection for reads of many rows. Reads of a few rows, such as those of each new announcement, never wait for
  /// them.
  private let longReader: DatabaseQueue
  private let writes: WriteQueue
  private let newWebhooks = NewWebhookWatch()
  let damage: Damage
  /// Nil if the ledger was opened for reading only.
  private let files: LedgerFiles?
  public let wasCheckedAtOpening: Bool

  /// Opens the ledger, or creates it if there is no file. Only this user can access the file (mode 0600). Missing
  /// folders are created with the mode 0700.
  ///
  /// The call blocks while another process opens the ledger, and, with ``Options/checksIntegrity``, while it reads the
  /// whole file.
  ///
  /// - Parameter now: Returns the current time, for every time stamp that the ledger writes.
  public init(
    at file: URL, options: Options = Options(), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(LedgerError) {
    let file = file.absoluteURL.standardizedFileURL
    damage = Damage(in: file, marks: true)
    do {
      let reader: DatabaseQueue
      (writer, reader, wasCheckedAtOpening) = try Self.open(file, options: options, damage: damage)
      readers = ReadConnections(
        try [reader] + (1..<ReadConnections.count).map { _ in try Self.connect(file, options, .reader) })
      longReader = try Self.connect(file, options, .reader)
      files = try writer.inDatabase { try LedgerFiles(of: file, $0) }
    } catch {
      throw LedgerError(error, while: .opening, in: file)
    }
    self.file = file
    self.options = options
    self.now = now
    writes = WriteQueue(
      writer: writer, damage: damage, files: files, limit: options.waitingLimit, byteLimit: options.waitingBytes)
    writer.add(transactionObserver: newWebhooks, extent: .databaseLifetime)
  }

  /// Opens an existing ledger for reading only. The ledger's file keeps its bytes, and nothing is migrated. SQLite may
  /// create the log and its index as empty files beside it, and leave them there. Calls that write fail with
  /// `readOnly`.
  ///
  /// The call blocks while it reads the whole file, unless ``Options/checksIntegrity`` is false.
  ///
  /// - Throws: ``LedgerError``, with `olderVersion` if the file must be migrated before this version can read it.
  public init(reading file: URL, options: Options = Options()) throws(LedgerError) {
    let file = file.absoluteURL.standardizedFileURL
    damage = Damage(in: file, marks: false)
    let reader: DatabaseQueue
    do {
      (reader, wasCheckedAtOpening) = try Self.openForReading(file, options: options)
    } catch {
      throw LedgerError(error, while: .opening, in: file)
    }
    // SQLite refuses each write on this connection.
    writer = reader
    readers = ReadConnections([reader])
    longReader = reader
    files = nil
    damage.keep(reader)
    self.file = file
    self.options = options
    now = { Date() }
    writes = WriteQueue(
      writer: writer, damage: damage, files: files, limit: options.waitingLimit, byteLimit: options.waitingBytes)
  }

  // MARK: - Access

  /// Runs work that writes, and returns when its changes are durable; see ``SQLiteLedger``. Work that throws a
  /// ``LedgerError`` changes nothing and does not affect other writes.
  ///
  /// - Parameter cost: The number of bytes that the write holds in memory while it waits; nil for work that is never
  ///   refused. Other work is refused when too much is waiting.
  func write<Value: Sendable>(
    while action: LedgerError.Action, cost: Int? = nil, _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(LedgerError) -> Value {
    let result: Result<Value, LedgerError> = await waitForAnswer { answer in
      let write = WriteQueue.Write(
        action: action, cost: cost,
        perform: { database in
          let value = try work(database)
          return { answer.give(.success(value)) }
        },
        fail: { answer.give(.failure($0)) })
      if !writes.add(write) { write.fail(LedgerError(.waitingListFull, while: action, in: file)) }
    }
    return try result.get()
  }

  /// Runs work that reads a consistent snapshot of the committed data.
  ///
  /// - Parameter isLong: Whether the work reads many rows. Such reads wait for each other, and other reads do not wait
  ///   for them.
  func read<Value: Sendable>(
    while action: LedgerError.Action = .reading, isLong: Bool = false,
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(LedgerError) -> Value {
    // GRDB's own async calls fail when their task is cancelled. This call still returns a result, as writing does.
    // GRDB's read calls also forbid writing with a pragma in each call, which makes SQLite discard all compiled
    // statements. This connection has forbidden writing since it was opened, so it needs no pragma. (If the
    // connection were opened read-only, it could not empty the log when it is the last connection to be closed.)
    let result: Result<Value, LedgerError> = await waitForAnswer { answer in
      let perform: @Sendable (Database) -> Void = { [file, damage] database in
        if let error = damage.error(while: action) { return answer.give(.failure(error)) }
        var value: Result<Value, any Error> = .failure(CancellationError())
        do {
          try database.inTransaction(.deferred) {
            value = .success(try work(database))
            return .commit
          }
        } catch {
          damage.note(error)
          value = .failure(error)
        }
        answer.give(value.mapError { LedgerError($0, while: action, in: file) })
      }
      if isLong { longReader.asyncWriteWithoutTransaction(perform) } else { readers.read(perform) }
    }
    return try result.get()
  }

  /// Moves the log's content into the file, so that the log is written from its start again.
  func checkpoint() async {
    await withCheckedContinuation { continuation in
      writer.asyncWriteWithoutTransaction { [damage, files] database in
        Self.checkFiles(files, database, damage)
        // If a reader still uses the log, a later checkpoint moves the rest of the content.
        if !damage.isFound { _ = try? database.checkpoint(.passive) }
        continuation.resume()
      }
    }
  }

  public func checkFiles() async {
    await withCheckedContinuation { continuation in
      writer.asyncWriteWithoutTransaction { [damage, files] database in
        Self.checkFiles(files, database, damage)
        continuation.resume()
      }
    }
  }

  private static func checkFiles(_ files: LedgerFiles?, _ database: Database, _ damage: Damage) {
    guard let files, !damage.isFound else { return }
    do {
      // While this connection holds the write lock, no other connection writes, so the files do not change.
      try database.inTransaction(.immediate) {
        try files.check(database, while: .checking)
        return .rollback
      }
    } catch {
      damage.note(error)
      files.rescueLog(database, after: error)
    }
  }

  /// Returns the settings of the connection that writes, for tests.
  func settings() async throws(LedgerError) -> [String: Int] {
    try await write(while: .reading) { database in
      let names = ["synchronous", "foreign_keys", "auto_vacuum", "journal_size_limit"]
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Int.fetchOne(database, sql: "PRAGMA \($0)") ?? -1) })
    }
  }

  public func onNewWebhooks(_ notify: @escaping @Sendable () -> Void) { newWebhooks.notify = notify }

  // MARK: - Opening

  private static func open(
    _ file: URL, options: Options, damage: Damage
  ) throws -> (writer: DatabaseQueue, reader: DatabaseQueue, isChecked: Bool) {
    try DurableFolder.make(file.deletingLastPathComponent(), .ownerOnly)

    // Only one process at a time may open the file: SQLite's switch to a write-ahead log and a migration must not run
    // twice at once.
    let opening = file.appendingPathExtension("opening")
    guard let lock = try LockedFile(opening, patience: options.busyTimeout) else {
      throw LedgerError(.busy, while: .opening, in: file)
    }
    let writer = try withExtendedLifetime(lock) {
      try requireWholeFile(file)
      try DurableFile.createEmpty(file)

      let writer = try connect(file, options, .writer)
      damage.keep(writer)
      try Schema.migrate(writer, file: file)
      return writer
    }
    let reader = try connect(file, options, .reader)
    let mark = Damage.mark(of: file)
    let isMarked = try FileStatus.byteCount(at: mark.path(percentEncoded: false)) != nil
    guard options.checksIntegrity || isMarked else { return (writer, reader, false) }
    do {
      try requireSound(reader, file)
    } catch {
      if LedgerError(error, while: .opening, in: file).code == .damaged { damage.found() }
      throw error
    }
    // The file is sound again, for example because a backup was restored.
    if isMarked { try DurableFile.remove(mark) }
    return (writer, reader, true)
  }

  /// - Parameter isImmutable: Whether SQLite may assume that nothing changes the file. It then makes no files beside
  ///   it.
  static func openForReading(
    _ file: URL, options: Options, isImmutable: Bool = false
  ) throws -> (reader: DatabaseQueue, isChecked: Bool) {
    // SQLite reports the same error for a missing file as for one that this user may not read.
    guard try FileStatus.byteCount(at: file.path(percentEncoded: false)) != nil else { throw SystemError.missing }
    try requireWholeFile(file)
    let reader = try connectForReading(file, options: options, isImmutable: isImmutable)
    try Schema.requireCurrent(reader, file: file)
    let isMarked = try FileStatus.byteCount(at: Damage.mark(of: file).path(percentEncoded: false)) != nil
    guard options.checksIntegrity || isMarked else { return (reader, false) }
    try requireSound(reader, file)
    return (reader, true)
  }

  private static func connect(_ file: URL, _ options: Options, _ role: Role) throws -> DatabaseQueue {
    try DatabaseQueue(path: file.path(percentEncoded: false), configuration: configuration(file, options, role))
  }

  private static func connectForReading(
    _ file: URL, options: Options, isImmutable: Bool = false
  ) throws -> DatabaseQueue {
    // A name that is a URI works only if SQLite was built for it, as in Debian and on Apple systems.
    let name = isImmutable ? file.absoluteString + "?immutable=1" : file.path(percentEncoded: false)
    return try DatabaseQueue(path: name, configuration: configuration(file, options, .onlyReader))
  }

  /// Opens a connection that only reads, for a check.
  func openToCheck() throws -> DatabaseQueue { try Self.connectForReading(file, options: options) }

  /// Refuses a file that was truncated to nothing. SQLite would treat it as a new one, and discard its log.
  static func requireWholeFile(_ file: URL) throws {
    let path = file.path(percentEncoded: false)
    let logSize = try FileStatus.byteCount(at: path + "-wal") ?? 0
    let size = try FileStatus.byteCount(at: path) ?? 0
    guard size > 0 || logSize == 0 else { throw LedgerError(.damaged, while: .opening, in: file) }
  }

  /// Reads and checks every page.
  private static func requireSound(_ reader: DatabaseQueue, _ file: URL) throws {
    try reader.inDatabase { database in
      let findings = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
      guard findings == ["ok"] else { throw LedgerError(.damaged, while: .opening, in: file) }
    }
  }

  /// The purpose of a connection.
  private enum Role {
    case writer
    /// The connection reads beside a writer, and can empty the log when it is the last connection to be closed.
    case reader
    /// The connection never changes the file.
    case onlyReader
  }

  private static func configuration(_ file: URL, _ options: Options, _ role: Role) -> Configuration {
    var configuration = Configuration()
    configuration.label = "crier.ledger"
    configuration.busyMode = .timeout(options.busyTimeout)
    configuration.readonly = role == .onlyReader
    // GRDB's own setting for a write-ahead log leaves commits unsynchronized (`synchronous=NORMAL`), hence these
    // settings.
    configuration.prepareDatabase { database in
      let isNew = try Schema.examine(database, file: file)
      // With this setting, SQLite refuses a page whose cells reach beyond the page as soon as it reads the page.
      // Otherwise, only a check of all pages would find it.
      try database.execute(sql: "PRAGMA cell_size_check = ON")
      if role == .onlyReader { return }
      guard role == .writer else { return try database.execute(sql: "PRAGMA query_only = 1") }
      // This setting lets pruning return pages to the disk. In an existing file it would have no effect but would still
      // be written, and a damaged file must not be written.
      if isNew { try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw LedgerError(.systemFailure, while: .opening, in: file)
      }
      try database.execute(
        sql: """
          PRAGMA synchronous = FULL;
          PRAGMA fullfsync = ON;
          PRAGMA checkpoint_fullfsync = ON;
          PRAGMA wal_autocheckpoint = \(logBytes / 4096);
          PRAGMA journal_size_limit = \(logBytes);
          """)
      if let bytes = options.maximumBytes {
        try database.execute(sql: "PRAGMA max_page_count = \(max(1, (bytes + options.reserveBytes) / 4096))")
      }
    }
    return configuration
  }
}

extension SQLiteLedger: Ledger.Implementation {
  package func error(
    _ code: LedgerError.Code, while action: LedgerError.Action, field: String?, from: Ledger.State?, to: Ledger.State?
  ) -> LedgerError {
    LedgerError(code, while: action, in: file, field: field, from: from, to: to)
  }
}
