// SPDX-License-Identifier: Apache-2.0

import CLinux
public import Foundation
public import InstallationDiagnosis

/// A look at the system's clock.
public enum ClockLook {
  /// - Parameters:
  ///   - ledger: The ledger's file, whose last change cannot be later than now.
  ///   - facts: The ledger as it was found. If it is on a server, the server's clock is compared with this machine's, and
  ///     the file does not matter.
  public static func look(ledger: URL, _ facts: LedgerFacts, now: Date) -> ClockFacts {
    if case .database(let database) = facts {
      return ClockFacts(
        now: seconds(now), ledgerChangedAt: nil, serverAheadBy: database.answer?.secondsAhead,
        isSynchronized: isSynchronized)
    }
    let path = ledger.path(percentEncoded: false)
    let changes = ["", "-wal"].compactMap { suffix in
      (try? FileManager.default.attributesOfItem(atPath: path + suffix))?[.modificationDate] as? Date
    }
    return ClockFacts(
      now: seconds(now), ledgerChangedAt: changes.map(seconds).max(), isSynchronized: isSynchronized)
  }

  private static func seconds(_ date: Date) -> Int { Int(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0 }

  /// Whether a time service keeps the kernel's clock right; nil if the kernel does not report it.
  private static var isSynchronized: Bool? {
    switch clock_is_synchronized() {
    case 1: true
    case 0: false
    default: nil
    }
  }
}
