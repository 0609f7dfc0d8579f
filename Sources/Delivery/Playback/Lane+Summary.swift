// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder

extension Lane {
  /// Renders a summary of these payments. The payments keep their places until the summary begins.
  func makeSummary(of payments: [Int64]) {
    summary = Summary(payments: payments)
    Task { [ledger, mailbox, summaryMaker] in
      var announcements: [StoredAnnouncement] = []
      for number in payments {
        if let entry = try? await ledger.entry(number) { announcements.append(entry.announcement) }
      }
      let isWhole = announcements.count == payments.count
      mailbox.post(.summaryMade(isWhole ? await summaryMaker(announcements) : nil))
    }
  }

  func made(_ announcement: StoredAnnouncement?) async {
    guard let payments = summary?.payments else { return }
    guard payments.allSatisfy({ waiting[$0] != nil }) else {
      summary = nil  // A payment was cancelled, so a new summary is made.
      return
    }
    guard var announcement else { return await refuseSummary("no_summary") }
    (announcement.account, announcement.id, announcement.lane) = ("", UUID().uuidString, name)
    (announcement.kind, announcement.isReplay, announcement.category) = (.summary, false, .payment)
    (announcement.sequence, announcement.expiresAt) = (nil, nil)
    do throws(LedgerError) {
      let number = try await accept(announcement, standingFor: payments)
      summary?.number = number
      waiting[number] = Waiting(category: .payment)
      render(number)
      signals.happened()
    } catch {
      await refuseSummary(error.code.rawValue)
    }
  }

  /// Stores a summary. If the connection to the ledger's server breaks meanwhile, the summary may be stored or not, and a
  /// payment of a stored summary must not be played alone. The call therefore stores the same summary again until it is
  /// known.
  ///
  /// - Returns: The number of the summary.
  private func accept(
    _ announcement: StoredAnnouncement, standingFor payments: [Int64]
  ) async throws(LedgerError) -> Int64 {
    var isUncertain = false
    while true {
      do throws(LedgerError) {
        let number = try await ledger.accept(announcement, standingFor: payments).number
        noteLedger(nil, while: .writing)
        return number
      } catch {
        isUncertain = isUncertain || error.code == .outcomeUnknown
        guard isUncertain, [.outcomeUnknown, .unreachable, .busy].contains(error.code), !signals.isStopAsked else {
          throw error
        }
        await waitForLedger(after: error)
      }
    }
  }

  /// Refuses the summary. The payments are announced individually until another payment arrives.
  func refuseSummary(_ code: String) async {
    order.refuseSummary()
    await endSummary(.failed, code)
  }

  func decide(on summary: Summary, at now: Int64) async {
    guard !order.isPaused, let number = summary.number, let sound = waiting[number]?.sound,
      isGapOver(before: sound, at: now)
    else { return }
    let item = PlaybackItem(
      number: number, category: .payment, acceptedAt: now, durationMilliseconds: Int64(sound.length))
    guard let payments = order.began(summary: item, of: summary.payments, at: now) else {
      // A payment was cancelled, or another one now goes first, so a new summary is made.
      await endSummary(.cancelled, "outdated")
      mailbox.nudge()
      return
    }
    self.summary = nil
    for payment in payments { drop(payment.item.number) }
    begin(Current(item: item, sound: sound, endsQuietly: true, members: summary.payments))
    if !isDeviceLost { await commit(number, .playing) }
    for payment in payments { await tell(payment.turn, of: payment.item, isAlone: false) }
  }

  /// Ends the summary. Its payments are announced individually again.
  func endSummary(_ state: Ledger.State, _ code: String) async {
    guard let number = summary?.number else {
      summary = nil
      return
    }
    summary = nil
    drop(number)
    await commit(number, state, Ledger.Change(detail: ["code": code]))
  }
}
