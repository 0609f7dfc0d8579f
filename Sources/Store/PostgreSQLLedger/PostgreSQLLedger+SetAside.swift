// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  /// Counts the unfinished deliveries that are set aside, and those whose second start is under way; see
  /// ``InterruptedWork``. Each count is a look-up in an index of its own.
  func setAsideCounts() async throws(LedgerError) -> Ledger.SetAsideCounts {
    try await read { session in
      let counts = try session.first(Self.setAside) { row in
        Ledger.SetAsideCounts(
          announcements: try row.value("announcements"), pushes: try row.value("pushes"),
          webhooks: try row.value("webhooks"), providerPayments: try row.value("provider_payments"),
          batches: try row.value("batches"))
      }
      guard let counts else { throw UnreadableRow() }
      return counts
    }
  }

  static let setAside = """
    SELECT
      (SELECT count(*) FROM announcements WHERE starts >= 2 AND finished_at IS NULL) AS announcements,
      (SELECT count(*) FROM pushes WHERE starts >= 2 AND finished_at IS NULL) AS pushes,
      (SELECT count(*) FROM webhooks WHERE starts >= 2 AND finished_at IS NULL) AS webhooks,
      (SELECT count(*) FROM provider_payments WHERE starts >= 2 AND finished_at IS NULL) AS provider_payments,
      (SELECT count(*) FROM batches WHERE starts >= 2 AND finished_at IS NULL) AS batches
    """
}
