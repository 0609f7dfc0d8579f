// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder

extension Lane {
  /// Takes up what the last player left: in the old order, with the sequence numbers as they stood when the last one
  /// that ended began.
  ///
  /// - Throws: `LedgerError`.
  func recover() async throws {
    lastOldCommand = try await ledger.lastCommandNumber()
    try await ledger.recover(lane: name)
    let last = try await ledger.lastPassedSequence(lane: name)
    order = PlaybackOrder(settings: settings.order, lastSequence: last)
    // A number that ended without its turn (cancelled, or no money) is above the last that passed, and not missing.
    let recent = try await ledger.recent(1_000, lane: name)
    // The gap is kept to what another player played a moment ago.
    if let end = recent.filter({ $0.state == .played }).compactMap(\.finishedAt).max() {
      let age = Int64(exactly: (clock.date().timeIntervalSince(end) * 1000).rounded()) ?? 0
      let moment = clock.now() - max(0, age)
      if moment > lastEnd?.at ?? .min { lastEnd = (moment, 0) }
    }
    for entry in recent.reversed() {
      guard let sequence = entry.sequence, sequence > last ?? .min, entry.state.isFinal else { continue }
      let category = PlaybackItem.Category(entry.category)
      guard !(category.isMoney && entry.state == .played) else { continue }
      order.accept(item(entry))
      _ = order.remove(entry.number)
    }
    try await readArrivals(recovering: true)
  }

  /// What was accepted since, by whatever process.
  ///
  /// The ledger's file is asked, and not those who accept: they may return in another order than that of the numbers,
  /// but a number is only there when all lower ones are.
  func lookForArrivals() async {
    do {
      try await readArrivals(recovering: false)
    } catch {
      ledgerFailure = (error as? LedgerError)?.code.rawValue
    }
  }

  private func readArrivals(recovering: Bool) async throws {
    let limit = 50  // payloads may be large
    while true {
      let page = try await ledger.unfinished(lane: name, after: lastSeen, limit: limit)
      for entry in page {
        lastSeen = entry.number
        if entry.account == StoredAnnouncement.summaries {
          // The payments of a summary that was not heard stand for themselves again.
          if recovering { try await ledger.set(entry.number, .cancelled, Ledger.Change(detail: ["code": "restart"])) }
          continue
        }
        waiting[entry.number] = Waiting(
          category: entry.category, isReplay: StoredAnnouncement(entry).isReplay)
        order.accept(item(entry))
      }
      if page.count < limit { return }
    }
  }

  private func item(_ entry: Ledger.Entry) -> PlaybackItem {
    PlaybackItem(entry, now: clock.now(), date: clock.date())
  }
}
