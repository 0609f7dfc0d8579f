// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// A phone's statement that it handed the notification of an announcement over to iOS.
  public struct Receipt: Sendable, Hashable {
    /// The announcement's id.
    public var announcement: String
    /// The time by the phone's clock.
    public var at: Date

    public init(announcement: String, at: Date) {
      (self.announcement, self.at) = (announcement, at)
    }
  }

  /// The largest number of receipts in a call.
  public static let mostReceipts = 200

  /// Stores a phone's receipts for announcements that were pushed to it. The first receipt for an announcement is never
  /// replaced. A time in the future, from a clock that is ahead, is replaced by the present time.
  ///
  /// - Returns: The ids of the receipts whose announcements were not pushed to the device, or were pruned; nil if the
  ///   account has no such device.
  /// - Throws: ``LedgerError`` with `invalidValue` for more than ``mostReceipts``, or a time outside the calendar.
  public func take(
    _ receipts: [Receipt], account: String, device: String
  ) async throws(LedgerError) -> [String]? {
    guard receipts.count <= Self.mostReceipts, receipts.allSatisfy({ $0.at.wholeMilliseconds != nil }) else {
      throw LedgerError(.invalidValue, while: .changing, in: file, field: "receipts (at most \(Self.mostReceipts))")
    }
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
