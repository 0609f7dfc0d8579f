// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder

extension Lane {
  /// Restores the waiting announcements of the previous player in the same order. The sequence numbers continue from
  /// the number that was reached when that player's last finished announcement began.
  ///
  /// - Throws: `LedgerError`.
  func recover() async throws {
    lastOldCommand = try await ledger.lastCommandNumber()
    try await ledger.recover(lane: name)
    let last = try await ledger.lastPassedSequence(lane: name)
    order = PlaybackOrder(settings: settings.order, lastSequence: last)
    // Some announcements end before announcements with lower sequence numbers have played: cancelled payments, and
    // announcements that are neither payments nor refunds. Their sequence numbers are higher than the last number
    // played, but are not missing.
    let recent = try await ledger.recent(1_000, lane: name)
    // The gap also applies after a sound that another player has just played.
    if let end = recent.filter({ $0.state == .played }).compactMap(\.finishedAt).max() {
      let age = Int64(exactly: (clock.date().timeIntervalSince(end) * 1000).rounded()) ?? 0
      let moment = clock.now() - max(0, age)
      if moment > lastEnd?.at ?? .min { lastEnd = (moment, 0) }
    }
    for entry in recent.reversed() {
      guard let sequence = entry.sequence, sequence > last ?? .min, entry.state.isFinal else { continue }
      let category = entry.category
      guard !(category.isMoney && entry.state == .played) else { continue }
      order.settle(sequence, acceptedAt: item(entry).acceptedAt)
    }
    try await readArrivals(recovering: true)
    // Payments that ended as quiet while the setting was off are not summarised after it is switched on. A player
    // without quiet hours changes nothing here, because it belongs to a program that plays only for a short time.
    if settings.quietHours != nil, !settings.summarisesQuietPayments {
      try await ledger.forgetQuietPayments(lane: name)
    }
    try await recoverPause()
  }

  /// Reads the announcements that any process has accepted since this function last ran.
  ///
  /// It reads the ledger's file instead of waiting for notifications, because processes can finish accepting in another
  /// order than the announcements' numbers. In the file, a number appears only after all lower numbers.
  func lookForArrivals() async {
    do {
      try await readArrivals(recovering: false)
      noteLedger(nil, while: .lookingForArrivals)
    } catch {
      noteLedger((error as? LedgerError)?.code.rawValue ?? "internal_error", while: .lookingForArrivals)
    }
  }

  private func readArrivals(recovering: Bool) async throws {
    let limit = 50  // Payloads can be large.
    while true {
      let page = try await ledger.unfinished(lane: name, after: lastSeen, limit: limit)
      for entry in page {
        lastSeen = entry.number
        if entry.kind == .summary, !entry.isReplay, !entry.isQuietSummary {
          // The payments of a summary that was not played are announced individually again.
          if recovering, entry.starts > 0 { mayNotSummarise = true }
          if recovering { try await ledger.set(entry.number, .cancelled, Ledger.Change(detail: ["code": "restart"])) }
          continue
        }
        if recovering, setAside(entry) { continue }
        waiting[entry.number] = Waiting(
          category: entry.category, isReplay: entry.isReplay, endsQuietly: entry.endsQuietly,
          isQuietSummary: entry.isQuietSummary, isFromBefore: recovering,
          isSuspect: recovering && entry.starts > 0,
          hasClip: entry.state == .waiting)
        order.accept(item(entry))
      }
      if page.count < limit { return }
    }
  }

  func item(_ entry: Ledger.Entry) -> PlaybackItem {
    PlaybackItem(entry, now: clock.now(), date: clock.date())
  }
}
