// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import Testing

/// A server of PostgreSQL whose settings are as safe as an operator's, for tests of commands.
enum LedgerServer {
  /// The server that all tests share, except those that stop it.
  static let shared = Task { try await PostgreSQLServer(settings: "fsync = on\nautovacuum = on") }

  /// Makes an empty database, and writes the setting of its address into a home.
  ///
  /// - Returns: The name of the database.
  @discardableResult
  static func use(
    _ server: PostgreSQLServer, in crier: Command, settings: String = "port: 0\noutput: 'null'\n"
  ) async throws -> String {
    let name = try await server.makeDatabase()
    try write(settings + "ledger: '\(server.addressText(database: name))'\n", in: crier)
    return name
  }

  /// Writes the settings of a home.
  static func write(_ settings: String, in crier: Command) throws {
    try FileManager.default.createDirectory(
      at: crier.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data(settings.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  /// Runs statements in a database.
  static func run(_ script: String, on server: PostgreSQLServer, database: String) async throws {
    let connection = try PostgreSQLConnection(to: try server.address(database: database))
    try await connection.run(within: .seconds(120)) { session throws(PostgreSQLError) in try session.script(script) }
    await connection.close()
  }

  /// Returns the texts in the column `value` of a statement's rows.
  static func texts(_ sql: String, on server: PostgreSQLServer, database: String) async throws -> [String] {
    let connection = try PostgreSQLConnection(to: try server.address(database: database))
    let texts = try await connection.run(within: .seconds(120)) { session throws(PostgreSQLError) in
      var texts: [String] = []
      for row in try session.rows(sql) { texts.append(try row.read("value")) }
      return texts
    }
    await connection.close()
    return texts
  }
}
