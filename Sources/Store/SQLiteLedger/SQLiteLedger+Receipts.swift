// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func take(
    _ receipts: [Ledger.Receipt], account: String, device: String
  ) async throws(LedgerError) -> [String]? {
    try refuse(Ledger.Receipt.brokenRule(of: receipts), while: .changing)
    if account.hasZero || device.hasZero { return nil }
    return try await write(while: .changing) { [self] database in
      let now = timeStamp
      let first = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT first_sequence FROM devices WHERE account = ? AND id = ?"),
        arguments: [account, device])
      guard let first else { return nil }
      var unknown: [String] = []
      for receipt in receipts {
        guard !receipt.announcement.hasZero else {
          unknown.append(receipt.announcement)
          continue
        }
        // Pushes to a removed device with the same id have smaller numbers.
        try database.cachedStatement(
          sql: """
            UPDATE pushes SET handed_over_at = coalesce(handed_over_at, ?)
            WHERE account = ? AND announcement = ? AND device = ? AND sequence > ?
            """
        ).execute(arguments: [
          min(receipt.at.wholeMilliseconds ?? now, now), account, receipt.announcement, device, first,
        ])
        if database.changesCount == 0 { unknown.append(receipt.announcement) }
      }
      return unknown
    }
  }
}
