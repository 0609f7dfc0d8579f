// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
import PostgreSQL
import PostgreSQLLedger
import PostgreSQLTestSupport
import SQLiteLedger

/// The file or the database of a ledger that a test uses, in a fresh folder, and the clock of the ledger.
public final class LedgerPlace: Sendable {
  public let kind: LedgerUnderTest
  /// The clock of all ledgers that are opened here.
  public let clock = SetClock()
  private let folder: URL
  /// The database; nil for a file.
  private let database: LedgerDatabase?
  /// The ledgers whose connections must be closed before the database can be removed.
  private let opened = Locked<[PostgreSQLLedger]>([])

  init(_ kind: LedgerUnderTest, isCopy: Bool) async throws {
    self.kind = kind
    folder = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    database =
      switch kind {
      case .sqlite: nil
      case .postgresql: try await LedgerDatabase(isCopy: isCopy)
      }
  }

  /// Opens the ledger. It can be opened several times at the same time, as if several processes used it.
  ///
  /// - Parameter machine: The name of the machine on which it is opened, if the kind of the ledger allows several.
  public func open(
    _ options: LedgerUnderTest.Options = LedgerUnderTest.Options(), on machine: String = "home"
  ) async throws -> any Ledger.Store {
    guard let database else {
      var all = SQLiteLedger.Options()
      all.limits = options.limits
      if let limit = options.waitingLimit { all.waitingLimit = limit }
      if let bytes = options.waitingBytes { all.waitingBytes = bytes }
      return try SQLiteLedger(at: file, options: all, now: { [clock] in clock.now })
    }
    var all = PostgreSQLLedger.Options()
    all.limits = options.limits
    (all.lease, all.node.host) = (options.lease, machine)
    if let limit = options.waitingLimit { all.waitingLimit = limit }
    if let bytes = options.waitingBytes { all.waitingBytes = bytes }
    // A few connections are enough for concurrent calls.
    (all.connections, all.connectionsForLongReads) = (4, 1)
    all.connection = LedgerDatabase.patient
    // The ledger waits for the whole of this time only if a transaction never ends, and no test of both ledgers has
    // such a transaction.
    all.patienceForOrder = .seconds(120)
    let ledger = try await PostgreSQLLedger(
      address: database.address, home: folder.appending(path: machine), options: all, now: { [clock] in clock.now })
    opened.withLock { $0.append(ledger) }
    return ledger
  }

  /// Lets the time of all leases be over, as if their holders had stopped long ago. A ledger in a file has no leases.
  public func endLeases() async throws {
    guard let database else { return }
    let connection = try PostgreSQLConnection(to: database.address, options: LedgerDatabase.patient)
    try await connection.run { session throws(PostgreSQLError) in
      try session.execute("UPDATE leases SET until = clock_timestamp() - interval '1 millisecond'")
    }
    await connection.close()
  }

  /// The name of the ledger in errors.
  public var name: String {
    database?.address.description ?? file.path(percentEncoded: false)
  }

  private var file: URL { folder.appending(path: "home/ledger.sqlite") }

  /// Closes the ledgers and removes everything.
  func remove() async throws {
    for ledger in opened.withLock({ $0 }) { await ledger.close() }
    try await database?.remove()
    try FileManager.default.removeItem(at: folder)
  }
}
