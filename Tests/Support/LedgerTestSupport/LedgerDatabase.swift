// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL
import PostgreSQLLedger
import PostgreSQLTestSupport

/// A separate database on the server that all tests of the process share.
struct LedgerDatabase: Sendable {
  /// The number of tests that use databases at the same time. A test has at most three ledgers with five connections
  /// each, and the server takes a hundred. Swift Testing starts all tests at once if nothing limits it.
  static let turns = Turns(4)

  /// Options of connections to a busy machine.
  static let patient: PostgreSQLConnection.Options = {
    var options = PostgreSQLConnection.Options()
    options.timeLimit = .seconds(120)
    options.patience = .seconds(60)
    return options
  }()

  /// The server with a database that has all tables of a ledger, and the connection that copies it.
  private struct Template {
    let server: PostgreSQLServer
    let name: String
    let administrator: PostgreSQLConnection
    /// The option with which the server copies a database fastest. The server does not synchronise its files.
    let strategy: String
  }

  private static let template = Task {
    let server = try await PostgreSQLServer.shared()
    let name = try await server.makeDatabase()
    let folder = server.folder.appending(path: "template")
    var options = PostgreSQLLedger.Options()
    options.connection = patient
    let ledger = try await PostgreSQLLedger(
      address: server.address(database: name), home: folder, options: options)
    // A database is not copied while it is in use.
    await ledger.close()
    let administrator = try PostgreSQLConnection(to: server.address(), options: patient)
    let version: Int64 = try await administrator.run { session throws(PostgreSQLError) in
      try session.rows("SELECT current_setting('server_version_num')::bigint AS version")[0].read("version")
    }
    return Template(
      server: server, name: name, administrator: administrator,
      strategy: version >= 150_000 ? "STRATEGY file_copy" : "")
  }

  let name: String
  let address: PostgreSQLAddress

  /// - Parameter isCopy: Whether the database has all tables of a ledger already.
  init(isCopy: Bool) async throws {
    let template = try await Self.template.value
    if isCopy {
      let name = "ledger_\(UUID().uuidString.prefix(8).lowercased())"
      try await template.administrator.run { session throws(PostgreSQLError) in
        try session.script("CREATE DATABASE \(name) TEMPLATE \(template.name) \(template.strategy)")
      }
      self.name = name
    } else {
      name = try await template.server.makeDatabase()
    }
    address = try template.server.address(database: name)
  }

  /// Removes the database, even if a session of it is still ending.
  func remove() async throws {
    let name = name
    try await Self.template.value.administrator.run { session throws(PostgreSQLError) in
      try session.script("DROP DATABASE \(name) WITH (FORCE)")
    }
  }
}
