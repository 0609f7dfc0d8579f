// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQL

// The ledger has no files of its own. If the server's data has checksums, the server checks each page that it reads. It
// reports damage as an error of the statement, and the ledger throws this error as `damaged`.
extension PostgreSQLLedger {
  /// There is nothing to check here.
  public var wasCheckedAtOpening: Bool { true }

  public func checkFiles() async {}

  /// Asks the server for the size of the database. The server itself checks the pages (`pg_amcheck`, `pg_checksums`).
  @discardableResult
  public func checkIntegrity() async throws(LedgerError) -> Ledger.IntegrityReport? {
    if Task.isCancelled { return nil }
    let start = ContinuousClock.now
    let size: Int64? = try await read(while: .checking) { session in
      try session.value("SELECT pg_database_size(current_database()) AS value")
    }
    return Ledger.IntegrityReport(
      byteCount: Int(clamping: size ?? 0), duration: ContinuousClock.now - start, isByTable: false)
  }

  /// Waits for the cancellation of the task: damage does not end the use of the database, because the server serves all
  /// other pages.
  public func damageFound() async -> LedgerError? {
    // Only the cancellation ends the wait. The length of one sleep does not matter.
    while (try? await Task.sleep(for: .seconds(86_400))) != nil {}
    return nil
  }
}
