// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func take(
    _ receipts: [Ledger.Receipt], account: String, device: String
  ) async throws(LedgerError) -> [String]? {
    try refuse(Ledger.Receipt.brokenRule(of: receipts), while: .changing)
    if account.hasZero || device.hasZero { return nil }
    return try await write(while: .changing) { [self] session in
      let now = timeStamp
      let first: Int64? = try session.value(Self.firstSequence, [.string(account), .string(device)])
      guard let first else { return nil }
      // Of several receipts for an announcement, the first one counts.
      var times: [Data: (id: String, at: Int64)] = [:]
      for receipt in receipts where !receipt.announcement.hasZero && times[receipt.announcement.bytes] == nil {
        times[receipt.announcement.bytes] = (
          receipt.announcement, min(receipt.at.wholeMilliseconds ?? now, now)
        )
      }
      let values: [PostgreSQLValue] = [
        .strings(times.values.map(\.id)), .int64s(times.values.map(\.at)), .string(account), .string(device),
        .int64(first),
      ]
      let known = Set(
        try session.all(Self.takingReceipts, values) { try $0.read("announcement", as: String.self).bytes })
      return receipts.map(\.announcement).filter { !known.contains($0.bytes) }
    }
  }

  static let firstSequence = "SELECT first_sequence AS value FROM devices WHERE account = $1 AND id = $2"

  // Pushes to a removed device with the same id have smaller numbers. The pushes are locked in the order in which senders
  // lock them.
  static let takingReceipts = """
    WITH receipts AS (
      SELECT pushes.number, taken.at FROM unnest($1::text[], $2::bigint[]) AS taken (id, at)
        JOIN pushes ON pushes.account = $3 AND pushes.announcement = taken.id
      WHERE pushes.device = $4 AND pushes.sequence > $5 ORDER BY pushes.number FOR NO KEY UPDATE OF pushes
    )
    UPDATE pushes SET handed_over_at = coalesce(pushes.handed_over_at, receipts.at)
    FROM receipts WHERE pushes.number = receipts.number RETURNING pushes.announcement
    """
}
