// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(
  "Connecting to a PostgreSQL server", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(5)))
struct ConnectingTests {
  /// Returns the error of a call.
  ///
  /// - Parameter limit: The time limit; nil for a short one, after an attempt to connect has failed.
  private func failure(_ address: PostgreSQLAddress, within limit: Duration? = nil) async throws -> PostgreSQLError? {
    let connection = try PostgreSQLConnection(to: address)
    if limit == nil { try await connection.waitForFailedAttempt() }
    return await PostgreSQLTests.failure { () throws(PostgreSQLError) in
      try await connection.run(within: limit ?? .milliseconds(50)) { session throws(PostgreSQLError) in
        try session.execute("SELECT 1")
      }
    }
  }

  @Test("a connection is opened only when there is work for it")
  func lazy() async throws {
    let connection = try await TemporaryDatabase().connect()
    #expect(connection.state == .notConnected)
    try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    #expect(connection.state == .connected)
  }

  @Test("a call to a server that does not exist tries to connect until its deadline, and then fails")
  func none() async throws {
    let address = try PostgreSQLAddress("postgresql://crier@/payments?host=/nonexistent", environment: [:])
    let failure = try await failure(address)
    #expect(failure?.code == .cannotConnect)
    #expect(failure?.server == "in /nonexistent")
    #expect(failure?.description.contains("payments") == false)
  }

  @Test("an unknown database or user is reported at once, without its name")
  func unknown() async throws {
    let server = try await PostgreSQLServer.shared()
    let database = try await failure(server.address(database: "missing_one"), within: .seconds(3_600))
    #expect(database?.code == .noDatabase)
    #expect(database?.sqlState == "3D000")
    let user = try await failure(server.address(user: "missing_one"), within: .seconds(3_600))
    #expect(user?.code == .accessDenied)
    #expect(user?.sqlState == "28000")
    for failure in [database, user] { #expect(failure?.description.contains("missing_one") == false) }
  }

  @Test("a read-only server is not used, unless the address allows it")
  func readOnly() async throws {
    let database = try await TemporaryDatabase()
    let connection = try database.connect()
    try await connection.run { session throws(PostgreSQLError) in
      try session.execute("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
    }
    #expect(try await failure(database.address)?.code == .cannotConnect)
    let any = try PostgreSQLConnection(
      to: database.server.address(database: database.name, options: "&target_session_attrs=any"))
    let failure = await PostgreSQLTests.failure { () throws(PostgreSQLError) in
      try await any.run { session throws(PostgreSQLError) in try session.execute("CREATE TABLE shop (id bigint)") }
    }
    #expect(failure?.code == .readOnly)
  }

  @Test("of several hosts, the first one that accepts a connection is used")
  func hosts() async throws {
    let database = try await TemporaryDatabase()
    let folder = database.server.folder.path
    let address = try PostgreSQLAddress(
      "postgresql://crier@/\(database.name)?host=/nonexistent,\(folder),/nonexistent", environment: [:])
    let connection = try PostgreSQLConnection(to: address)
    try await connection.run { session throws(PostgreSQLError) in
      #expect(session.wire.server == "in \(folder)")
      try session.execute("SELECT 1")
    }
  }

  @Test("after connect_timeout, a server that accepts a connection and sends nothing is given up for the next host")
  func silent() async throws {
    let database = try await TemporaryDatabase()
    let silent = try SilentServer()
    let address = try PostgreSQLAddress(
      "postgresql://crier@/\(database.name)?host=\(silent.folder.path),\(database.server.folder.path)&connect_timeout=1",
      environment: [:])
    let connection = try PostgreSQLConnection(to: address)
    #expect(
      try await connection.run { session throws(PostgreSQLError) in try session.execute("SELECT 1") } == 1)
  }

  @Test("while a server sends nothing, calls end at their deadline or cancellation, and the connection can be closed")
  func silentAlone() async throws {
    let silent = try SilentServer()
    let address = try PostgreSQLAddress(
      "postgresql://crier@/payments?host=\(silent.folder.path)&connect_timeout=3600", environment: [:])
    let connection = try PostgreSQLConnection(to: address)
    let task = Task {
      await PostgreSQLTests.failure { () throws(PostgreSQLError) in
        try await connection.run(within: .seconds(3_600)) { session throws(PostgreSQLError) in
          try session.execute("SELECT 1")
        }
      }
    }
    try await eventually("the connection is being made") { connection.state == .connecting }
    let late = await PostgreSQLTests.failure { () throws(PostgreSQLError) in
      try await connection.run(within: .milliseconds(50)) { session throws(PostgreSQLError) in
        try session.execute("SELECT 1")
      }
    }
    #expect(late?.code == .cannotConnect)
    #expect(connection.state == .connecting)
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    await connection.close()
    #expect(connection.state == .closed)
  }
}

/// A socket in the place of a server's, which takes connections and never says anything.
private final class SilentServer: Sendable {
  let folder: URL
  private let descriptor: Int32

  init() throws {
    folder = URL(filePath: "/tmp/crier-silent-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = folder.appending(path: ".s.PGSQL.5432").path
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(descriptor, 16) == 0 else { throw Missing(what: "a socket in \(path)") }
  }

  deinit {
    close(descriptor)
    try? FileManager.default.removeItem(at: folder)
  }
}
