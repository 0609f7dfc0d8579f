// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
public import Ledger
public import PostgreSQL

/// The durable store of accepted announcements and their states, in a PostgreSQL database that any number of machines
/// use together.
///
/// - When a call that writes returns, the server has confirmed its transaction. The transaction survives what the server
///   is set to survive: a loss of power with `synchronous_commit=on`, and the loss of its machine with a synchronous
///   standby.
/// - Each call is one transaction in READ COMMITTED, or several short ones where its documentation says so. Two nodes
///   that make the same call at the same moment get the results that the two calls would have one after the other.
///   Unique constraints and row locks ensure this, never a value that was read without a lock.
/// - If the connection breaks while a commit is under way, the call fails with `outcomeUnknown`. The caller makes the
///   same call again: it finds what was stored.
/// - Cancelling a task does not undo its write: the call still returns the result.
///
/// Transactions lock the rows of several tables in this order, so that they do not wait for each other in a circle:
/// answers, lanes, announcements (a summary before its members), decisions, replays, pauses, events, keys, devices,
/// pushes, the library, alarms, endpoints of webhooks and their messages. An ``AdvisoryLock`` comes before all of them,
/// and the lock of a lease comes before the other advisory locks. Within a table, they lock rows in the order of the
/// primary key, or of the account and the id. If PostgreSQL finds a circle nevertheless, the client runs one of the
/// transactions again.
public final class PostgreSQLLedger: Ledger.Store {
  /// The options for opening a ledger.
  public struct Options: Sendable, Hashable {
    /// The number of connections for calls that write, and for reads of a few rows.
    public var connections = 8
    /// The number of connections for reads of many rows, so that other calls do not wait for such reads.
    public var connectionsForLongReads = 2
    /// The options of each connection. Their time limit includes waiting for a connection and for a server.
    public var connection = PostgreSQLConnection.Options()
    /// The time to wait for a server when the ledger is opened.
    public var patienceAtOpening: Duration = .seconds(30)
    /// The time limit of a call if the call before it found no server. The callers of a service then get their errors
    /// soon, and do not wait for each other.
    public var timeLimitWithoutServer: Duration = .seconds(2)
    /// Whether opening the ledger brings its tables up to date. If it is false and the database lacks tables, opening
    /// fails with `olderVersion` and changes nothing.
    public var changesTables = true
    /// The time after which the server ends a transaction whose node sends no more statements, for example because the
    /// node was stopped. Other nodes wait for the rows of such a transaction, and events wait for its end.
    public var longestPause: Duration = .seconds(10)
    /// The time for which a reader of events waits for open transactions that may have earlier rows. Readers of other
    /// lists that are read from a number onwards wait as long. Rows that are not in order after that are left to a
    /// later call.
    public var patienceForOrder: Duration = .seconds(1)
    /// The maximum number of acceptances and commands that may wait to be written.
    public var waitingLimit = 10_000
    /// The maximum number of payload bytes that may wait to be written.
    public var waitingBytes = 64 << 20
    /// The limits of what the ledger keeps.
    public var limits = Ledger.Limits()
    /// How long the leases of deliveries last. All nodes of a database must have the same length.
    public var lease = Ledger.Lease.Terms()
    /// The description of this node for other nodes.
    public var node = Ledger.Node.Description()

    public init() {}
  }

  /// The folder of this machine with the locked files of seats, and with the id of this node.
  public let folder: URL
  let options: Options
  package let now: @Sendable () -> Date
  /// The hosts and ports of the servers.
  let server: String
  /// The seats of lanes, which are locked files of this machine.
  let seats: SeatFiles
  let node: NodeIdentity
  /// The connection on which leases are renewed, so that a renewal does not wait for other work.
  let leaseConnection: PostgreSQLConnection
  /// The numbers below which no row of another transaction can appear any more, as far as this process knows.
  let settledNumbers: SettledNumbers
  let newWebhooks: NewWebhookNotice
  /// The lease without which this value stores nothing; nil for a value that is not a player's.
  private let fence: Fence?
  private let pool: PostgreSQLPool
  private let longPool: PostgreSQLPool
  let acceptances = AcceptanceQueue()
  private let waiting: WaitingWork
  /// Whether the latest call that ended found no server.
  private let isWithoutServer = Locked(false)

  /// Connects to a database, and brings its tables up to date. Any number of nodes may do this at the same time.
  ///
  /// - Parameters:
  ///   - home: The folder of this machine with the locked files that keep two processes from playing the same lane, and
  ///     with the file `node` that names this machine. All processes of the machine that use the ledger name the same
  ///     folder. A missing folder is created with the mode 0700.
  ///   - now: Returns the current time, for every time stamp that the ledger writes.
  /// - Throws: ``LedgerError``, with `notALedger` if the database has tables of another program, and with `unreachable`
  ///   if no server accepts the connection within the time limit.
  public init(
    address: PostgreSQLAddress, home: URL, options: Options = Options(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) async throws(LedgerError) {
    folder = home.absoluteURL.standardizedFileURL
    do {
      try DurableFolder.make(folder, .ownerOnly)
      node = try NodeIdentity(folder: folder)
    } catch {
      throw LedgerError(cause: error, while: .opening, in: folder)
    }
    seats = Self.seats(in: home, now: now)
    self.options = options
    self.now = now
    server = address.description
    let address = address.setting(
      "idle_in_transaction_session_timeout", to: "\(max(1, options.longestPause.components.seconds))s")
    waiting = WaitingWork(limit: options.waitingLimit, byteLimit: options.waitingBytes)
    (settledNumbers, newWebhooks, fence) = (SettledNumbers(), NewWebhookNotice(), nil)
    do {
      // This type limits the waiting work itself, because the pool would also refuse changes of state.
      pool = try PostgreSQLPool(
        to: address, count: options.connections, mostWaiting: .max, options: options.connection)
      longPool = try PostgreSQLPool(
        to: address, count: options.connectionsForLongReads, mostWaiting: .max, options: options.connection)
      leaseConnection = try PostgreSQLConnection(to: address, options: options.connection)
      try await Self.prepare(try PostgreSQLConnection(to: address, options: options.connection), options)
    } catch {
      throw LedgerError(error, while: .opening, on: address.description)
    }
    if options.changesTables { try await write(while: .opening) { session in try Self.alignPositions(session) } }
  }

  /// Creates a ledger that stores nothing if a lease is lost. It shares the connections of another one.
  init(_ other: PostgreSQLLedger, under fence: Fence) {
    (folder, options, now, server, seats) = (other.folder, other.options, other.now, other.server, other.seats)
    (node, leaseConnection, settledNumbers) = (other.node, other.leaseConnection, other.settledNumbers)
    (newWebhooks, pool, longPool, waiting) = (other.newWebhooks, other.pool, other.longPool, other.waiting)
    self.fence = fence
  }

  /// Brings the tables up to date, or checks that they are up to date, and closes the connection.
  ///
  /// - Throws: ``PostgreSQLError``; `LedgerError` with `olderVersion`; ``WrongEncoding``, before anything was changed.
  private static func prepare(_ connection: PostgreSQLConnection, _ options: Options) async throws {
    do {
      // The time limit of this call is the limit for reaching a server. Migrations may take longer.
      let isUTF8 = try await connection.run(within: options.patienceAtOpening) {
        session throws(PostgreSQLError) -> Bool in try Self.isUTF8(session)
      }
      guard isUTF8 else { throw WrongEncoding() }
      if options.changesTables {
        try await Schema.migrations.apply(on: connection)
      } else {
        let isCurrent = try await connection.run { session throws(PostgreSQLError) in
          try Schema.migrations.next(after: PostgreSQLMigrations.applied(session) ?? []) == nil
        }
        guard isCurrent else { throw OlderTables() }
      }
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }

  /// Returns whether a database can hold every text. PostgreSQL stores texts in the encoding of the database, and only
  /// UTF-8 can hold all of them.
  static func isUTF8(_ session: borrowing PostgreSQLSession) throws(PostgreSQLError) -> Bool {
    let encoding = try session.rows("SELECT current_setting('server_encoding') AS value").first
    return try encoding?.read("value", as: String.self) == "UTF8"
  }

  /// Closes all connections. Calls that wait fail, and leases end when their time is over.
  public func close() async {
    await pool.close()
    await longPool.close()
    await leaseConnection.close()
  }

  public func onNewWebhooks(_ notify: @escaping @Sendable () -> Void) { newWebhooks.setNotify(notify) }

  // MARK: - Access

  /// Runs work in a transaction, and returns when the server has confirmed the commit. If the work throws, nothing is
  /// stored.
  ///
  /// The work is run again from its start if other transactions were in the way, or if the connection broke before the
  /// commit. It should therefore do nothing but run statements.
  ///
  /// - Parameter cost: The number of bytes that the write holds in memory while it waits; nil for work that is never
  ///   refused. Other work is refused when too much is waiting.
  @discardableResult
  func write<Value: Sendable>(
    while action: LedgerError.Action, cost: Int? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    if let fence { return try await write(while: action, under: fence, cost: cost, work) }
    return try await writeUnfenced(while: action, cost: cost, work)
  }

  /// Runs work as ``write(while:cost:_:)`` does, whether this value has a lease or not.
  func writeUnfenced<Value: Sendable>(
    while action: LedgerError.Action, cost: Int?,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    try reserve(cost, while: action)
    defer { release(cost) }
    return try await run(on: pool, while: action, isRepeatable: { $0 == .connectionLost }) {
      [newWebhooks] session throws(PostgreSQLError) in
      let count = newWebhooks.count
      let result = try session.decidedTransaction { session throws(PostgreSQLError) in
        let result = try Self.result(of: work, session)
        if case .failure = result { return .rollBack(result) }
        return .commit(result)
      }
      newWebhooks.committed(since: count)
      return result
    }
  }

  /// Counts a write that waits.
  ///
  /// - Parameter cost: See ``write(while:cost:_:)``.
  /// - Throws: ``LedgerError`` with `waitingListFull`.
  func reserve(_ cost: Int?, while action: LedgerError.Action) throws(LedgerError) {
    if let cost, !waiting.add(cost) { throw error(.waitingListFull, while: action) }
  }

  /// Counts the end of a write that waited.
  func release(_ cost: Int?) {
    if let cost { waiting.remove(cost) }
  }

  /// Runs one statement that reads.
  ///
  /// - Parameter isLong: Whether the work reads many rows. Such reads wait for each other, and other calls do not wait
  ///   for them.
  func read<Value: Sendable>(
    while action: LedgerError.Action = .reading, isLong: Bool = false,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    // Work that only reads cannot have an unknown outcome.
    try await run(
      on: isLong ? longPool : pool, while: action, isRepeatable: { $0 == .connectionLost || $0 == .outcomeUnknown }
    ) { session throws(PostgreSQLError) in
      try Self.result(of: work, session)
    }
  }

  /// Runs several statements that read. All of them see what was committed before the first one began.
  ///
  /// - Parameter isLong: See ``read(while:isLong:_:)``.
  func readTogether<Value: Sendable>(
    while action: LedgerError.Action = .reading, isLong: Bool = false,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws -> Value
  ) async throws(LedgerError) -> Value {
    try await run(
      on: isLong ? longPool : pool, while: action, isRepeatable: { $0 == .connectionLost || $0 == .outcomeUnknown }
    ) { session throws(PostgreSQLError) in
      try session.transaction(.repeatableRead) { session throws(PostgreSQLError) in
        try Self.result(of: work, session)
      }
    }
  }

  /// Runs work on a connection of a pool. The work is run up to three times if its error allows another run.
  ///
  /// - Parameter isRepeatable: Whether work that ended with an error of this code has certainly stored nothing.
  private func run<Value: Sendable>(
    on pool: PostgreSQLPool, while action: LedgerError.Action,
    isRepeatable: @escaping @Sendable (PostgreSQLError.Code) -> Bool,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Result<Value, WorkFailure>
  ) async throws(LedgerError) -> Value {
    // The call still returns its result after the task of its caller was cancelled, hence a task of its own.
    let result = await Task { [isWithoutServer, options] () -> Result<Result<Value, WorkFailure>, PostgreSQLError> in
      var attempts = 1
      while true {
        // The first call that reaches a server again ends the short patience.
        let limit = isWithoutServer.withLock { $0 } ? options.timeLimitWithoutServer : nil
        do throws(PostgreSQLError) {
          let value = try await pool.run(within: limit, work)
          isWithoutServer.withLock { $0 = false }
          return .success(value)
        } catch {
          if LedgerError.Code(error) == .unreachable { isWithoutServer.withLock { $0 = true } }
          guard isRepeatable(error.code), attempts < 3 else { return .failure(error) }
          attempts += 1
        }
      }
    }.value
    switch result {
    case .success(.success(let value)): return value
    case .success(.failure(let failure)): throw LedgerError(failure.error, while: action, on: server)
    case .failure(let error): throw LedgerError(error, while: action, on: server)
    }
  }

  /// Separates the errors of the database, on which the client acts, from the refusals of the work.
  static func result<Value>(
    of work: (borrowing PostgreSQLSession) throws -> Value, _ session: borrowing PostgreSQLSession
  ) throws(PostgreSQLError) -> Result<Value, WorkFailure> {
    do {
      return .success(try work(session))
    } catch let error as PostgreSQLError {
      throw error
    } catch {
      return .failure(WorkFailure(error: error))
    }
  }
}

extension PostgreSQLLedger: Ledger.Implementation {
  package func error(
    _ code: LedgerError.Code, while action: LedgerError.Action, field: String?, from: Ledger.State?, to: Ledger.State?
  ) -> LedgerError {
    LedgerError(code, while: action, on: server, field: field, from: from, to: to)
  }
}

/// An error that work has thrown and that is not an error of the database.
struct WorkFailure: Error {
  let error: any Error
}
