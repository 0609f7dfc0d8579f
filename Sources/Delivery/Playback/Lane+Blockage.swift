// SPDX-License-Identifier: Apache-2.0

import Ledger
import PlaybackOrder

extension Lane {
  /// The ways in which the player uses the ledger.
  enum LedgerUse { case writing, lookingForArrivals, takingCommands }

  /// The error that prevents the next announcement. An announcement whose rendering failed keeps its place, so those
  /// after it wait too.
  var blockage: LaneStatus.Fault? {
    // The end of a sound must be written before anything else begins.
    if let failure = ledgerFailures[.writing] { return failure }
    if current != nil { return nil }
    if let failure = ledgerFailures.values.min(by: { $0.since < $1.since }) { return failure }
    return order.upcoming(1, at: clock.now()).first.flatMap { waiting[$0.number]?.failure }
  }

  /// Notes whether the ledger can be used.
  ///
  /// - Parameter code: The code of the ledger's error; nil if the ledger works.
  func noteLedger(_ code: String?, while use: LedgerUse) {
    let since = ledgerFailures[use]?.since ?? clock.date()
    ledgerFailures[use] = code.map { LaneStatus.Fault(since: since, code: $0) }
  }
}
