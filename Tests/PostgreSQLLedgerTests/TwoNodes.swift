// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import PlaybackOrder
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport

@testable import PostgreSQLLedger

/// Two ledgers on the same fresh database, as two nodes have them, each with a home of its own.
final class TwoNodes: Sendable {
  let server: PostgreSQLServer
  let address: PostgreSQLAddress
  let first: PostgreSQLLedger
  let second: PostgreSQLLedger
  let homes: [URL]
  private let lease: Ledger.Lease.Terms

  /// The server of the tests that leave no transaction open. An open transaction of any database keeps later events
  /// back, so a test that has one starts its own server.
  private static let shared = Task { try await PostgreSQLServer() }

  /// - Parameters:
  ///   - server: The server; nil for the shared one.
  ///   - patience: The time for which readers wait for open transactions. It is long, because the transactions of other
  ///     tests count too, unless a test has a transaction that it keeps open.
  ///   - lease: How long the leases of both nodes last.
  init(
    on server: PostgreSQLServer? = nil, patience: Duration = .seconds(120), lease: Ledger.Lease.Terms = .init()
  ) async throws {
    let own = if let server { server } else { try await Self.shared.value }
    self.server = own
    let address = try own.address(database: try await own.makeDatabase())
    let homes = (0..<2).map { _ in
      FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    }
    (self.address, self.homes, self.lease) = (address, homes, lease)
    // Both nodes start at the same moment, on a database without tables.
    async let second = Self.open(address, home: homes[1], host: "shop-2", patience: patience, lease: lease)
    first = try await Self.open(address, home: homes[0], host: "shop-1", patience: patience, lease: lease)
    self.second = try await second
  }

  deinit { for home in homes { try? FileManager.default.removeItem(at: home) } }

  private static func open(
    _ address: PostgreSQLAddress, home: URL, host: String, patience: Duration, lease: Ledger.Lease.Terms,
    now: @escaping @Sendable () -> Date = { Date() }
  ) async throws -> PostgreSQLLedger {
    var options = PostgreSQLLedger.Options()
    options.patienceForOrder = patience
    (options.connections, options.connectionsForLongReads) = (3, 1)
    options.lease = lease
    options.node.host = host
    options.connection.timeLimit = .seconds(120)
    options.connection.reconnecting = PostgreSQLBackOff(first: .milliseconds(10), longest: .milliseconds(50))
    return try await PostgreSQLLedger(address: address, home: home, options: options, now: now)
  }

  /// Opens another ledger on the database, as another process of the first node's machine.
  ///
  /// - Parameter home: Another home folder.
  func open(
    home: URL? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) async throws -> PostgreSQLLedger {
    try await Self.open(
      address, home: home ?? homes[0], host: "shop-1", patience: .seconds(120), lease: lease, now: now)
  }

  var both: [PostgreSQLLedger] { [first, second] }

  /// Returns a connection that belongs to neither ledger, for transactions that a test keeps open.
  func connect() throws -> PostgreSQLConnection {
    var options = PostgreSQLConnection.Options()
    options.timeLimit = .seconds(120)
    return try PostgreSQLConnection(to: address, options: options)
  }

  /// Runs a statement beside the ledgers.
  func run(_ sql: String) async throws {
    let connection = try connect()
    try await connection.run { session throws(PostgreSQLError) in try session.execute(sql) }
    await connection.close()
  }

  /// Returns the texts in the column `value` of a statement's rows.
  func texts(_ sql: String) async throws -> [String] {
    let connection = try connect()
    let texts = try await connection.run { session throws(PostgreSQLError) in
      var texts: [String] = []
      for row in try session.rows(sql) { texts.append(try row.read("value")) }
      return texts
    }
    await connection.close()
    return texts
  }
}

/// A transaction that a test opens and keeps open beside the ledgers.
final class OpenTransaction: Sendable {
  private let connection: PostgreSQLConnection
  private let end = WorkEnd()
  private let work: Task<Void, any Error>

  /// Begins a transaction, and returns when its statement has been run.
  init(on nodes: TwoNodes, _ sql: String) async throws {
    let connection = try nodes.connect()
    let hasBegun = Locked(false)
    work = Task { [end] in
      try await connection.transaction { session throws(PostgreSQLError) in
        try session.execute(sql)
        hasBegun.withLock { $0 = true }
        end.wait()
      }
    }
    self.connection = connection
    try await eventually("the transaction has run its statement") { hasBegun.withLock { $0 } }
  }

  func commit() async throws {
    end.come()
    try await work.value
    await connection.close()
  }
}

/// A moment for which the thread of a connection waits.
private final class WorkEnd: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() { semaphore.wait() }
  func come() { semaphore.signal() }
}

/// A SHA-256 digest, which is different for each text of up to 32 bytes.
func digest(_ text: String) -> Data { Data(text.utf8.prefix(32)) + Data(count: 32 - min(32, text.utf8.count)) }

func payment(_ id: String, account: String = "shop", lane: String = "counter", payload: String = "{}")
  -> StoredAnnouncement
{
  StoredAnnouncement(account: account, id: id, lane: lane, category: .payment, payload: Data(payload.utf8))
}

func answer(_ id: String, key: String? = nil, body: String = "body", decision: Decision? = nil) -> NewAnswer {
  NewAnswer(
    account: "shop", key: key ?? "id:\(id)", bodyDigest: digest(body), id: id, status: 201,
    report: Data(#"{"text":"ten euros"}"#.utf8), decision: decision)
}

let decided = Decision(
  kind: "received", text: "ten euros", locale: "en", amount: Decision.Amount(value: "10.00", currency: "EUR"),
  method: "speech", voice: "en", clip: PublishedClip(name: "a.wav", group: "group.shop"), durationMilliseconds: 900,
  loudnessLUFS: -16.25)
