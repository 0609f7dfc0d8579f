// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQLTestSupport

/// A kind of ledger that tests open.
///
/// A test of ``Ledger/Store`` takes the kind as its argument, and runs once with each kind:
///
///     @Test("an accepted announcement is stored", arguments: LedgerUnderTest.all)
///     func stored(kind: LedgerUnderTest) async throws {
///       let ledger = try await kind.makePlace().open()
///
/// The test needs the trait `removesLedgers`, or a call of ``LedgerPlaces/removed(after:)`` around it.
public enum LedgerUnderTest: String, Sendable, CaseIterable, CustomStringConvertible {
  /// `SQLiteLedger`, with a file in a fresh folder.
  case sqlite
  /// `PostgreSQLLedger`, with a fresh database on the server that all tests of the process share.
  case postgresql

  /// The kinds that this machine can open. Where Debian's server of PostgreSQL is not installed, PostgreSQL is left out,
  /// and the output of the tests says so once.
  public static let all: [Self] = PostgreSQLServer.isInstalled ? allCases : [.sqlite]

  public var description: String {
    switch self {
    case .sqlite: "SQLite"
    case .postgresql: "PostgreSQL"
    }
  }

  /// The options that all kinds have. A value that is nil leaves the default of the kind.
  public struct Options: Sendable, Hashable {
    /// The maximum number of acceptances and commands that may wait to be written.
    public var waitingLimit: Int?
    /// The maximum number of payload bytes that may wait to be written.
    public var waitingBytes: Int?
    /// The limits of what the ledger keeps.
    public var limits = Ledger.Limits()
    /// How long leases last.
    public var lease = Ledger.Lease.Terms()

    public init() {}
  }

  /// Returns a place without a ledger.
  ///
  /// - Parameter isCopy: Whether a PostgreSQL database is a copy of a database that has all tables. Copying takes less
  ///   time than making the tables. The copies share the values that a ledger chooses at random when its tables are
  ///   made.
  public func makePlace(isCopy: Bool = true) async throws -> LedgerPlace {
    try await LedgerPlaces.make(self, isCopy: isCopy)
  }
}
