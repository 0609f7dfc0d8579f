// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging

/// Checks the ledger while the service works, and looks at the ledger's files once a second. Ends the service as soon
/// as it finds that the ledger is damaged, or that one of its files was removed, replaced or truncated.
struct LedgerWatch: Sendable {
  let ledger: any Ledger.Supervision
  let stopping: Stopping
  let logger: Logger
  /// The time between two checks of the ledger's files. In addition, each write to the ledger checks them.
  private static let interval: Duration = .seconds(1)

  /// Runs until the task is cancelled.
  ///
  /// - Throws: `LedgerError` when the ledger is damaged or cannot be checked. Before the error is thrown, requests are
  ///   answered with errors for a moment, so that clients learn the reason and send their next requests elsewhere.
  func run() async throws(LedgerError) {
    async let _ = lookAtFiles()
    do throws(LedgerError) {
      if !ledger.wasCheckedAtOpening {
        guard let report = try await ledger.checkIntegrity() else { return }
        logger.info(
          "The ledger was checked in the background, and no damage was found.",
          metadata: [
            "bytes": "\(report.byteCount)", "ms": "\(Int(report.duration.inSeconds * 1000))",
            "by_table": "\(report.isByTable)",
          ])
      }
      guard let error = await ledger.damageFound() else { return }
      throw error
    } catch {
      logger.critical("The ledger cannot be used, so the service ends.", metadata: ["error": "\(error)"])
      stopping.stop()
      // During this time, clients learn from the responses that the service ends. If the task is cancelled, the service
      // ends at once.
      try? await Task.sleep(for: AnnouncementServer.farewell)
      throw error
    }
  }

  private func lookAtFiles() async {
    // The sleep throws only when the task is cancelled.
    while (try? await Task.sleep(for: Self.interval)) != nil { await ledger.checkFiles() }
  }
}
