// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs
import WeeklyTimes

extension StoredAnnouncement {
  /// Whether the announcement ends without a sound in quiet hours. Replays and sound files are still played, because a
  /// person has asked for them.
  var endsQuietly: Bool { kind != .file && !isReplay }

  /// Whether the announcement is the summary of payments that ended as quiet. Its payments have ended, so it waits for
  /// its turn like other announcements, even after a restart. The summary of a backlog is not meant here: its category
  /// is `payment`.
  var isQuietSummary: Bool { kind == .summary && !isReplay && category == .alert }
}

extension Lane {
  // MARK: Quiet hours

  /// Whether quiet hours apply now, and the time until which this stays the same.
  private var quiet: WeeklyTimes.Span {
    guard let hours = settings.quietHours else { return WeeklyTimes.Span(isWithin: false) }
    let now = clock.date()
    if let quietSpan, quietSpan.holds(at: now) { return quietSpan }
    let span = hours.span(at: now)
    quietSpan = span
    return span
  }

  var isQuiet: Bool { quiet.isWithin }

  /// The end of the present quiet hours, at most a week away; nil outside quiet hours.
  var quietUntil: Date? {
    let quiet = quiet
    return quiet.isWithin ? quiet.until ?? clock.date() + 7 * 86_400 : nil
  }

  /// Ends an announcement whose turn has come in quiet hours.
  func endQuietly(_ item: PlaybackItem, _ turn: PlaybackOrder.SequenceTurn) async {
    drop(item.number)
    var change = Ledger.Change(passing: order.lastSequence)
    awaitSummary(&change)
    await commit(item.number, .quiet, change)
    order.finished()
    await tell(turn, of: item, isAlone: true)
    mailbox.nudge()
  }

  func awaitSummary(_ change: inout Ledger.Change) {
    change.awaitsSummary = settings.summarisesQuietPayments
    mayHaveQuietPayments = true
  }

  /// Accepts a summary of the payments that ended as quiet, once the quiet hours are over. The payments and the summary
  /// are in the ledger, so that no payment is lost or named twice if the process ends.
  func summariseQuietPayments(at now: Int64) async {
    guard settings.summarisesQuietPayments, mayHaveQuietPayments, !isQuiet else { return }
    guard now >= quietSummaryRetryAt else { return wake(at: quietSummaryRetryAt) }
    do {
      let payments = try await quietPayments()
      mayHaveQuietPayments = false
      guard let last = payments.last?.number else { return }
      guard var summary = await summaryMaker(payments.map(\.announcement)) else {
        // A sum is too large to be spoken.
        return try await ledger.forgetQuietPayments(lane: name)
      }
      (summary.account, summary.id, summary.lane) = ("", UUID().uuidString, name)
      (summary.kind, summary.isReplay, summary.category) = (.summary, false, .alert)
      (summary.sequence, summary.expiresAt) = (nil, nil)
      _ = try await ledger.accept(summary, namingQuietPaymentsUpTo: last, count: payments.count)
      await lookForArrivals()
      signals.happened()
    } catch {
      mayHaveQuietPayments = true
      quietSummaryRetryAt = now + settings.devicePauses.upperBound
      wake(at: quietSummaryRetryAt)
    }
  }

  private func quietPayments() async throws -> [(number: Int64, announcement: StoredAnnouncement)] {
    var payments: [(number: Int64, announcement: StoredAnnouncement)] = []
    while true {
      let page = try await ledger.quietPayments(lane: name, after: payments.last?.number ?? 0)
      for entry in page {
        var announcement = entry.announcement
        // The decision contains everything that a summary needs. The payload is dropped to save memory, because a night
        // can have many payments.
        if announcement.decision != nil { announcement.payload = Data() }
        payments.append((entry.number, announcement))
      }
      if page.isEmpty { return payments }
    }
  }

  // MARK: Volume

  /// The volume now, and whether a rule has set it.
  var volume: (percent: Int, isByTime: Bool) {
    let now = clock.date()
    let rule: VolumeRules.Setting
    if let known = volumeRule, known.holds(at: now) {
      rule = known
    } else {
      rule = settings.volumes.setting(at: now)
      volumeRule = rule
    }
    return volumeChoice.volume(rule, orElse: min(max(settings.volume, 0), 100))
  }

  /// Sets the volume that a person chose; nil for the volume of the rules and the settings.
  func choose(volume percent: Int?) {
    volumeChoice.choose(percent, at: clock.date(), settings.volumes)
  }
}
