// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger

/// The time of the latest payment that was received. The ledger is asked only until this process has accepted one.
final class LatestPayment: Sendable {
  private let noted = Locked<Date?>(nil)
  private let stored: Remembered<Date?>

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(ledger: any Ledger.AcceptanceStore, time: @escaping @Sendable () -> Duration) {
    // The call reads all stored decisions, so its result is remembered for ten minutes.
    stored = Remembered(for: .seconds(600), time: time) { try? await ledger.latestPayment() }
  }

  func note(at date: Date) { noted.withLock { $0 = max($0 ?? date, date) } }

  /// The time; nil if there was no payment yet.
  var date: Date? {
    get async {
      if let date = noted.withLock({ $0 }) { return date }
      return await stored.value
    }
  }
}
