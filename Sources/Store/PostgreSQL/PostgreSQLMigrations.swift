// SPDX-License-Identifier: Apache-2.0

/// The changes that bring a database up to date, in their order.
///
/// Each is applied in one transaction, which also records its name in the table `crier_migrations`. Any number of
/// processes may apply them at the same time: they wait for each other.
///
/// A migration only adds tables, columns and indexes, and is never changed after a release. Programs of two versions can
/// therefore use a database at the same time, and an older one accepts the database of a newer one.
public struct PostgreSQLMigrations: Sendable, Hashable {
  /// A change of the database.
  public struct Migration: Sendable, Hashable {
    /// The name. No other migration has the same name, not even in a later version.
    public var name: String
    /// Statements that add something, separated by semicolons. They contain no `COMMIT`.
    public var script: String

    public init(_ name: String, _ script: String) {
      self.name = name
      self.script = script
    }
  }

  public let migrations: [Migration]

  public init(_ migrations: [Migration]) { self.migrations = migrations }

  /// The number of the advisory lock, which is the text "crier mi" in ASCII. Locks belong to one database.
  static let lock: Int64 = 0x6372_6965_7220_6d69

  /// Applies the migrations that the database does not have yet.
  ///
  /// - Parameter limit: The time limit for all of them, which includes waiting for other processes.
  /// - Returns: The names of the migrations that this call applied.
  /// - Throws: ``PostgreSQLError``, with `migrationsDiffer` if the database has migrations of another program. Migrations
  ///   that were applied before an error stay.
  @discardableResult
  public func apply(
    on connection: PostgreSQLConnection, within limit: Duration = .seconds(600)
  ) async throws(PostgreSQLError) -> [String] {
    try await connection.run(within: limit) { session throws(PostgreSQLError) in
      var applied: [String] = []
      while let name = try applyNext(session) { applied.append(name) }
      return applied
    }
  }

  /// Reads which migrations were applied to a database. The call changes nothing.
  ///
  /// - Returns: Their names, in their order; nil if the database has no table of migrations.
  /// - Throws: ``PostgreSQLError``.
  public static func applied(_ session: borrowing PostgreSQLSession) throws(PostgreSQLError) -> [String]? {
    let found = try session.rows("SELECT to_regclass('crier_migrations') IS NOT NULL AS found")
    guard try found.first?.read("found", as: Bool.self) == true else { return nil }
    var names: [String] = []
    for row in try session.rows("SELECT name FROM crier_migrations ORDER BY position") {
      names.append(try row.read("name"))
    }
    return names
  }

  /// - Returns: The name of the migration that was applied; nil if the database has all.
  private func applyNext(_ session: borrowing PostgreSQLSession) throws(PostgreSQLError) -> String? {
    try session.transaction { session throws(PostgreSQLError) -> String? in
      // The lock is released when the transaction ends. The later statements see what another process has committed.
      try session.execute("SELECT pg_advisory_xact_lock($1)", [.int64(Self.lock)])
      let found = try Self.applied(session)
      // A user that may not create tables can use a database that has all of them.
      if found == nil {
        try session.execute(
          """
          CREATE TABLE crier_migrations (
            position bigint PRIMARY KEY, name text NOT NULL UNIQUE, applied timestamptz NOT NULL DEFAULT now())
          """)
      }
      let names = found ?? []
      guard let next = try next(after: names) else { return nil }
      try session.script(next.script)
      try session.execute(
        "INSERT INTO crier_migrations (position, name) VALUES ($1, $2)",
        [.int64(Int64(names.count + 1)), .string(next.name)])
      return next.name
    }
  }

  /// Returns the next migration; nil if the database has all of them, and perhaps more of a newer version.
  ///
  /// - Parameter applied: The names in the database, in their order.
  /// - Throws: ``PostgreSQLError`` with `migrationsDiffer`, if neither of the two lists is the beginning of the other.
  public func next(after applied: [String]) throws(PostgreSQLError) -> Migration? {
    for (index, (own, other)) in zip(migrations, applied).enumerated() where own.name != other {
      throw PostgreSQLError(
        .migrationsDiffer, while: .migrating, subject: "migration \(index + 1) of the database is not “\(own.name)”")
    }
    return applied.count < migrations.count ? migrations[applied.count] : nil
  }
}
