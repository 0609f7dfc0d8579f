// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgreSQL

// Each of these functions removes rows in small transactions. Rows that another transaction uses, or that another node is
// removing, are left out; see ``Schema/deletion(of:key:where:order:)``.
extension PostgreSQLLedger {
  func prunePushes(before moment: Int64) async throws(LedgerError) -> Int {
    try await delete(
      Schema.deletion(of: "pushes", key: "number", where: "finished_at < $1", order: "finished_at"), before: moment)
  }

  /// Removes the oldest ended pushes that announce nothing, if there are too many.
  func pruneSilentPushes() async throws(LedgerError) -> Int {
    let moment: Int64? = try await read(isLong: true) { [options] session in
      try session.value(
        """
        SELECT finished_at AS value FROM pushes WHERE finished_at IS NOT NULL AND announcement IS NULL
        ORDER BY finished_at DESC LIMIT 1 OFFSET $1
        """, [.int64(Int64(options.limits.mostEndedSilentPushes))])
    }
    guard let moment else { return 0 }
    return try await delete(
      Schema.deletion(
        of: "pushes", key: "number", where: "finished_at < $1 AND announcement IS NULL", order: "finished_at"),
      before: moment + 1)
  }

  func pruneWebhooks(before moment: Int64) async throws(LedgerError) -> Int {
    try await delete(
      Schema.deletion(of: "webhooks", key: "number", where: "finished_at < $1", order: "finished_at"), before: moment)
  }

  func pruneAdministration(before moment: Int64) async throws(LedgerError) -> Int {
    try await delete(
      Schema.deletion(of: "administration", key: "number", where: "at < $1", order: "at"), before: moment)
  }

  func pruneProviderPayments(before moment: Int64) async throws(LedgerError) -> Int {
    try await delete(
      Schema.deletion(of: "provider_payments", key: "number", where: "finished_at < $1", order: "finished_at"),
      before: moment)
  }

  func pruneProviderIDs(before moment: Int64) async throws(LedgerError) -> Int {
    try await delete(
      Schema.deletion(of: "provider_ids", key: "id", where: "until < $1", order: "until"), before: moment)
  }
}

extension Schema {
  /// Returns the statement that removes the first rows of a table that meet a condition. $1 belongs to the condition,
  /// $2 is the maximum number of rows, and $3 is the place in the order at which the removal begins. The result is the
  /// number of rows (`count`) and the place of the last one (`last`).
  ///
  /// The rows are chosen in an array. The planner may run another kind of subquery several times, and each time for other
  /// rows, or it may read the whole table to join it with the subquery. Locked rows are skipped, so that two nodes that remove rows at once do not wait for each other.
  static func deletion(of table: String, key: String, where condition: String, order: String) -> String {
    """
    WITH gone AS (
      DELETE FROM \(table) WHERE \(key) = ANY(ARRAY(
        SELECT \(key) FROM \(table) WHERE \(condition) AND \(order) >= $3 ORDER BY \(order) LIMIT $2
        FOR UPDATE SKIP LOCKED))
      RETURNING \(order) AS place
    )
    SELECT count(*) AS count, max(place) AS last FROM gone
    """
  }
}
