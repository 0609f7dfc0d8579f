// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import PostgreSQL

/// The state of a ledger's database and of its server, found without opening the ledger for use.
public struct DatabaseExamination: Sendable, Hashable {
  /// The contents of a database that has all tables.
  public struct Contents: Sendable, Hashable {
    /// The number of keys that are neither revoked nor expired, without those of devices.
    public var keysInForce: Int
    /// The number of the other keys, without those of devices.
    public var keysEnded: Int
    /// The number of webhook endpoints that are not disabled.
    public var webhookEndpoints: Int
    /// The number of unfinished deliveries that are set aside; see ``InterruptedWork``.
    public var setAside: Int
    /// What differs between the nodes that use the database now.
    public var differences: [Ledger.NodeDifference] = []
  }

  /// The hosts and ports of the servers.
  public var server: String
  /// The server's version, such as `15.14`.
  public var version: String
  /// The time that the connection and all answers took.
  public var duration: Duration
  /// The number of seconds by which the server's clock is ahead of this machine's.
  public var secondsAhead: Double
  /// Whether the server is a standby, which accepts no changes.
  public var isStandby: Bool
  /// Whether the server confirms a commit only when it is stored: its `synchronous_commit` is not `off`, and its `fsync`
  /// is `on`.
  public var isDurable: Bool
  /// The settings of the server that decide about ``isDurable``, such as `fsync=on, synchronous_commit=on`.
  public var durability: String
  /// The size of the database in bytes.
  public var byteCount: Int64
  /// The names of the migrations that were applied, in their order.
  public var applied: [String]
  /// Whether another program has made tables with the names of the ledger's tables in the database.
  public var isForeign: Bool
  /// Nil if the database lacks tables, or has those of another program.
  public var contents: Contents?
}

extension PostgreSQLLedger {
  /// The names of the migrations that this version knows, in their order.
  public static var knownMigrations: [String] { Schema.migrations.migrations.map(\.name) }

  /// Examines a ledger's database. The call changes nothing, and takes no lock for which a running service would wait.
  ///
  /// If no server of the address accepts changes, a standby is examined.
  ///
  /// - Parameters:
  ///   - moment: The time at which a key must be valid to count as in force.
  ///   - patience: The time limit for reaching a server, and then for its answers.
  /// - Throws: `PostgreSQLError`. A database of another program is not an error.
  public static func examine(
    _ address: PostgreSQLAddress, at moment: Date, within patience: Duration = .seconds(5)
  ) async throws(PostgreSQLError) -> DatabaseExamination {
    do throws(PostgreSQLError) {
      return try await look(at: address, moment, patience)
    } catch {
      guard error.code == .cannotConnect,
        let standby = try? await look(at: address.acceptingReadOnlyServers, moment, patience), standby.isStandby
      else { throw error }
      return standby
    }
  }

  private static func look(
    at address: PostgreSQLAddress, _ moment: Date, _ patience: Duration
  ) async throws(PostgreSQLError) -> DatabaseExamination {
    let start = ContinuousClock.now
    let connection = try PostgreSQLConnection(to: address)
    do throws(PostgreSQLError) {
      var found = try await connection.run(within: patience) { session throws(PostgreSQLError) in
        try examination(of: address.description, at: moment, session)
      }
      found.duration = ContinuousClock.now - start
      await connection.close()
      return found
    } catch {
      await connection.close()
      throw error
    }
  }

  private static func examination(
    of server: String, at moment: Date, _ session: borrowing PostgreSQLSession
  ) throws(PostgreSQLError) -> DatabaseExamination {
    let row = try onlyRow(askingServer, in: session)
    let applied = try PostgreSQLMigrations.applied(session)
    let (fsync, commit): (String, String) = (try row.read("fsync"), try row.read("synchronous_commit"))
    var found = DatabaseExamination(
      server: server, version: try row.read("version"), duration: .zero,
      secondsAhead: Date(wholeMilliseconds: try row.read("now")).timeIntervalSinceNow,
      isStandby: try row.read("standby"),
      isDurable: fsync == "on" && commit != "off", durability: "fsync=\(fsync), synchronous_commit=\(commit)",
      byteCount: try row.read("bytes"), applied: applied ?? [], isForeign: false)
    do throws(PostgreSQLError) {
      if applied == nil {
        let own = PostgreSQLValue.strings(Schema.tables)
        found.isForeign = try !session.rows(findingTables, [own]).isEmpty
      } else if try Schema.migrations.next(after: found.applied) == nil {
        found.contents = try contents(at: moment, session)
      }
    } catch {
      guard error.code == .migrationsDiffer else { throw error }
      found.isForeign = true
    }
    return found
  }

  private static func onlyRow(
    _ sql: String, _ values: [PostgreSQLValue] = [], in session: borrowing PostgreSQLSession
  ) throws(PostgreSQLError) -> PostgreSQLRow {
    guard let row = try session.rows(sql, values).first else {
      throw PostgreSQLError(.serverFailed, while: .readingResult)
    }
    return row
  }

  private static let askingServer = """
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit, pg_is_in_recovery() AS standby,
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
      pg_database_size(current_database()) AS bytes
    """

  private static let findingTables =
    "SELECT 1 FROM unnest($1::text[]) AS own (name) WHERE to_regclass(name) IS NOT NULL"

  private static func contents(
    at moment: Date, _ session: borrowing PostgreSQLSession
  ) throws(PostgreSQLError) -> DatabaseExamination.Contents {
    let row = try onlyRow(countingContents, [.int64(moment.wholeMilliseconds ?? 0)], in: session)
    func count(_ column: String, in row: PostgreSQLRow) throws(PostgreSQLError) -> Int {
      Int(clamping: try row.read(column, as: Int64.self))
    }
    let inForce = try count("in_force", in: row)
    let length = PostgreSQLValue.int64(Ledger.Lease.Terms().length.wholeMilliseconds)
    var nodes: [Ledger.Node] = []
    for row in try session.rows(knownNodes, [length]) {
      // A row that cannot be read is of no use here.
      if let node = try? node(row) { nodes.append(node) }
    }
    return DatabaseExamination.Contents(
      keysInForce: inForce, keysEnded: try count("keys", in: row) - inForce,
      webhookEndpoints: try count("endpoints", in: row),
      setAside: try count("count", in: try onlyRow(countingSetAside, in: session)),
      differences: Ledger.NodeDifference.all(among: nodes))
  }

  // Work that is set aside, and work whose second start is under way. Each count is a look-up in an index of its own.
  private static let countingSetAside = """
    SELECT
      (SELECT count(*) FROM announcements WHERE starts >= 2 AND finished_at IS NULL)
      + (SELECT count(*) FROM pushes WHERE starts >= 2 AND finished_at IS NULL)
      + (SELECT count(*) FROM webhooks WHERE starts >= 2 AND finished_at IS NULL)
      + (SELECT count(*) FROM provider_payments WHERE starts >= 2 AND finished_at IS NULL)
      + (SELECT count(*) FROM batches WHERE starts >= 2 AND finished_at IS NULL) AS count
    """

  private static let countingContents = """
    SELECT
      (SELECT count(*) FROM keys WHERE device IS NULL AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > $1)) AS in_force,
      (SELECT count(*) FROM keys WHERE device IS NULL) AS keys,
      (SELECT count(*) FROM webhook_endpoints WHERE disabled_at IS NULL) AS endpoints
    """

  /// Returns whether a lane has a player on this machine, and the player's latest report. No server is asked.
  ///
  /// - Parameter home: The folder of this machine; see ``init(address:home:options:now:)``.
  public static func player(lane: String, home: URL) throws(LedgerError) -> PlayerStatus {
    try seats(in: home) { Date() }.player(lane: lane)
  }

  /// The seats of a home.
  static func seats(in home: URL, now: @escaping @Sendable () -> Date) -> SeatFiles {
    SeatFiles(beside: home.absoluteURL.standardizedFileURL.appending(path: "ledger"), now: now)
  }
}

extension Schema {
  /// The names of the tables that the migrations make.
  static var tables: [String] {
    migrations.migrations.flatMap { $0.script.matches(of: /CREATE TABLE (\w+)/).map { String($0.1) } }
  }
}
