// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
public import Ledger

extension SQLiteLedger {
  /// Reads and checks every page of the file while the ledger is in use. Other calls do not wait for the check. It
  /// slows them down only as much as one thread of low priority does. While the check runs, the log beside the file can
  /// grow by 64 MiB.
  ///
  /// When the check or any other call finds damage, this call ends, nothing more is written to the file, and every
  /// later call fails with `damaged`. An empty file with the extension `damaged` marks the ledger then: as long as it
  /// exists, opening the ledger checks every page first, whatever ``Options/checksIntegrity`` is.
  ///
  /// - Returns: Nil if the task was cancelled. The check then ends at once.
  /// - Throws: ``LedgerError``, with `damaged` if the file is damaged.
  @discardableResult
  public func checkIntegrity() async throws(LedgerError) -> Ledger.IntegrityReport? {
    try await checkIntegrity(IntegrityCheck.Settings())
  }

  func checkIntegrity(_ settings: IntegrityCheck.Settings) async throws(LedgerError) -> Ledger.IntegrityReport? {
    let start = ContinuousClock.now
    // The check opens the file by its name, which must still lead to the file that the other connections have open.
    await checkFiles()
    if let error = damage.error(while: .checking) { throw error }
    do {
      let connection = try await onWaitingThread { [self] in try openToCheck() }
      let check = IntegrityCheck(on: connection, of: file, damage: damage, settings: settings)
      guard let isByTable = try await check.run() else { return nil }
      return Ledger.IntegrityReport(
        byteCount: try FileStatus.byteCount(at: file.path(percentEncoded: false)) ?? 0,
        duration: ContinuousClock.now - start, isByTable: isByTable)
    } catch {
      damage.note(error)
      throw LedgerError(error, while: .checking, in: file)
    }
  }

  public func damageFound() async -> LedgerError? {
    await damage.waitUntilFound() ? damage.error(while: .checking) : nil
  }
}
