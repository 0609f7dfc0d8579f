// SPDX-License-Identifier: Apache-2.0

import FileSystem
import ConcurrencySupport
public import Foundation
import GRDB

/// What must survive a crash: accepted announcements and what became of them, in an SQLite file.
///
/// - Whatever an `async` call that writes has returned outlasts `kill -9` and a loss of power at any later moment: it is
///   in the write-ahead log and the log is synchronized (`synchronous=FULL`) before the call returns. What a call did
///   that had not returned yet is there wholly or not at all.
/// - Writes are done in the order in which they were asked for. Those that wait while another is being synchronized are
///   written and synchronized together; one that breaks a rule does not touch the others.
/// - A task's cancellation does not take a write back: the call returns what became of it.
/// - Any number of processes and of `Ledger`s may have the same file open, on one machine.
///
/// A file that is damaged in a way SQLite can see, is no database, is another program's, or was written by a newer
/// version is an error and is left as it is. The log's checksums end it at the first damaged page: what a disk loses
/// there after it has said it is safe, nobody can tell.
public final class Ledger: Sendable {
  /// How a ledger is opened.
  public struct Options: Sendable, Hashable {
    /// As many acceptances and commands may wait to be written.
    public var waitingLimit = 10_000
    /// And as many bytes of their payloads.
    public var waitingBytes = 64 << 20
    /// When this many bytes of the file are in use, announcements are refused with `diskFull`; nil for when the disk is
    /// full. Changes of state go on, in 1 MiB more: what was accepted can still be played and pruned. The log beside
    /// it is cut back to ``Ledger/logBytes``.
    public var maximumBytes: Int64?
    /// What changes of state have beyond ``maximumBytes``.
    var reserveBytes: Int64 = 1 << 20
    /// Seconds to wait for another process that writes.
    public var busyTimeout: TimeInterval = 5
    /// Whether every page is read when the ledger is opened. A watcher may do without.
    public var checksIntegrity = true

    public init() {}
  }

  /// What the log beside the file is cut back to, in bytes.
  public static let logBytes: Int64 = 4 << 20

  /// The ledger's file. SQLite has two beside it (`-wal`, `-shm`), and the ledger one for opening and one a lane.
  public let file: URL
  let options: Options
  let now: @Sendable () -> Date
  private let writer: DatabaseQueue
  private let reader: DatabaseQueue
  private let writes: WriteQueue

  /// Opens the ledger, or makes one where there is no file: for this user alone (file 0600, missing folders 0700).
  ///
  /// It blocks: for another process that is opening it, and while it reads the whole file.
  ///
  /// - Parameter now: the time, for every time stamp that the ledger writes.
  public init(
    at file: URL, options: Options = Options(), now: @escaping @Sendable () -> Date = { Date() }
  ) throws(LedgerError) {
    let file = file.absoluteURL.standardizedFileURL
    do {
      let opened = try Self.open(file, options: options)
      writer = opened.writer
      reader = opened.reader
    } catch {
      throw LedgerError(error, while: .opening, in: file)
    }
    self.file = file
    self.options = options
    self.now = now
    writes = WriteQueue(
      writer: writer, file: file, limit: options.waitingLimit, byteLimit: options.waitingBytes)
  }

  // MARK: - Access

  /// Writes durably; see the type. Work that throws a ``LedgerError`` changes nothing and leaves others alone.
  ///
  /// - Parameter cost: bytes to hold in memory until it is written, for work that may be refused when too much waits.
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

  /// Reads what is committed at one moment.
  func read<Value: Sendable>(
    while action: LedgerError.Action = .reading, _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws(LedgerError) -> Value {
    // GRDB's own async calls end with a cancelled task; this one answers all the same, as writing does. Its calls that
    // read forbid writing each time, by a pragma with which SQLite forgets every statement that it has compiled; this
    // connection has had it forbidden since it was opened. (Opened for reading alone, it could not empty the log when it
    // is the last to be closed.)
    let result: Result<Value, LedgerError> = await waitForAnswer { answer in
      reader.asyncWriteWithoutTransaction { [file] database in
        var value: Result<Value, any Error> = .failure(CancellationError())
        do {
          try database.inTransaction(.deferred) {
            value = .success(try work(database))
            return .commit
          }
        } catch {
          value = .failure(error)
        }
        answer.give(value.mapError { LedgerError($0, while: action, in: file) })
      }
    }
    return try result.get()
  }

  /// Moves what is in the log into the file, so that the log is written from its start again.
  func checkpoint() async {
    await withCheckedContinuation { continuation in
      writer.asyncWriteWithoutTransaction { database in
        // When a reader is in the way it is done at another time.
        _ = try? database.checkpoint(.passive)
        continuation.resume()
      }
    }
  }

  /// What the connection that writes has set, for tests.
  func settings() async throws(LedgerError) -> [String: Int] {
    try await write(while: .reading) { database in
      let names = ["synchronous", "foreign_keys", "auto_vacuum", "journal_size_limit"]
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Int.fetchOne(database, sql: "PRAGMA \($0)") ?? -1) })
    }
  }

  /// The milliseconds since 1970 that it is now.
  var timeStamp: Int64 { now().wholeMilliseconds ?? 0 }

  // MARK: - Opening

  private static func open(_ file: URL, options: Options) throws -> (writer: DatabaseQueue, reader: DatabaseQueue) {
    try DurableFolder.make(file.deletingLastPathComponent(), .ownerOnly)
    let path = file.path(percentEncoded: false)

    // One at a time: SQLite's change to a write-ahead log, and a migration, are no matter for two.
    let opening = file.appendingPathExtension("opening")
    guard let lock = try LockedFile(opening, patience: options.busyTimeout) else {
      throw LedgerError(.busy, while: .opening, in: file)
    }
    let writer = try withExtendedLifetime(lock) {
      // SQLite would take a file cut to nothing for a new one, and throw its log away.
      let logSize = try FileStatus.byteCount(at: path + "-wal") ?? 0
      let size = try FileStatus.byteCount(at: path) ?? 0
      guard size > 0 || logSize == 0 else { throw LedgerError(.damaged, while: .opening, in: file) }
      try DurableFile.createEmpty(file)

      let writer = try DatabaseQueue(path: path, configuration: configuration(file, options, isWriter: true))
      try Schema.migrate(writer, file: file)
      return writer
    }
    let reader = try DatabaseQueue(path: path, configuration: configuration(file, options, isWriter: false))
    if options.checksIntegrity {
      try reader.inDatabase { database in
        let findings = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
        guard findings == ["ok"] else { throw LedgerError(.damaged, while: .opening, in: file) }
      }
    }
    return (writer, reader)
  }

  private static func configuration(_ file: URL, _ options: Options, isWriter: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.label = "crier.ledger"
    configuration.busyMode = .timeout(options.busyTimeout)
    // GRDB's own setting for a write-ahead log leaves commits unsynchronized (`synchronous=NORMAL`), hence ours.
    configuration.prepareDatabase { database in
      let isNew = try Schema.examine(database, file: file)
      guard isWriter else { return try database.execute(sql: "PRAGMA query_only = 1") }
      // Lets pruning give pages back. In a file that exists it would change nothing but be written all the same, and a
      // damaged one must not be.
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
