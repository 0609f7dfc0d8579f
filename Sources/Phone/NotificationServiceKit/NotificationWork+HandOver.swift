// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The one hand-over of a notification: the call of its handler, or the local notification for a lost push.
extension NotificationWork {
  /// Hands over on the thread that made the decision. On another thread, the sound could begin later than decided and
  /// overlap the next one.
  ///
  /// - Returns: False if a local notification must be added first. ``perform(_:)`` does so and waits for it.
  func performNow(_ action: Action) -> Bool {
    guard !isCaughtUp else { return false }
    switch action {
    case .silent(let silence): call(.silent(silence))
    case .speak(let sound, let summary): call(HandOver.Sound(sound ?? preparation.fallback), summary: summary)
    case .later: return false
    }
    return true
  }

  func perform(_ action: Action) async {
    preparation.end()
    guard !isCaughtUp else { return await performLost(action) }
    switch action {
    case .silent, .speak: await onWaitingThread { [self] in _ = performNow(action) }
    case .later(let sound, let moment):
      let sound = HandOver.Sound(sound ?? preparation.fallback)
      // If the notification is refused, hand over with the sound. An amount that overlaps another sound is better than
      // an amount that is not heard.
      let isAdded = await add(sound, summary: nil, delay: max(0, moment.minus(now)))
      await onWaitingThread { [self] in call(isAdded ? .silent(.later) : sound) }
    }
  }

  /// Adds the local notification for a lost push. If the push is silent, this method adds nothing.
  private func performLost(_ action: Action) async {
    let isAdded: Bool
    switch action {
    case .silent:
      service.lost.ended(self)
      return
    case .speak(let sound, let summary):
      isAdded = await add(HandOver.Sound(sound ?? preparation.fallback), summary: summary, delay: 0)
    case .later(let sound, let moment):
      isAdded = await add(
        HandOver.Sound(sound ?? preparation.fallback), summary: nil, delay: max(0, moment.minus(now)))
    }
    // If the push was given up, the note was already written.
    let isRefused = !isAdded && turns.withLock { $0.notification != .givenUp }
    if isRefused { await onWaitingThread { [self] in noteUnheard() } }
    if isAdded { await onWaitingThread { [self] in noteReceipt() } }
    service.lost.ended(self)
  }

  /// Records that the announcement, or the payments of its summary, were not heard although the order counts them as
  /// heard. The next change of the order includes the record, so this method needs no lock.
  func noteUnheard() {
    let members = turns.withLock { $0.members }
    let unheard = members.isEmpty ? [(arrival.id, arrival.sequence)] : members.map { ($0.id, $0.sequence) }
    for (id, sequence) in unheard {
      service.file.note(UnwrittenHandOver(id: id, sequence: sequence, at: now, until: .min, isExact: false))
    }
  }

  private func call(_ sound: HandOver.Sound, summary: HandOver.Summary? = nil) {
    let handler = turns.withLock { turns -> (@Sendable (HandOver) -> Void)? in
      defer { turns.handOver = nil }
      return turns.handOver
    }
    guard let handler else { return }
    // End this work first, because iOS may suspend the process as soon as the handler was called.
    preparation.end()
    let handOver = preparation.handOver(sound, summary: summary)
    // A sound must begin now, so there is little time for other work. A silent hand-over may come later.
    let blocking = service.configuration.blocking
    let limit = if case .silent = sound { blocking.silentHandOver } else { blocking.soundHandOver }
    service.endRequest(within: limit)
    handler(handOver)
    noteReceipt()
    service.file.synchronize()
  }

  /// Tells the service that the announcement was handed over. A push of another sender has no receipt.
  private func noteReceipt() {
    guard let id = read?.arrival?.id else { return }
    service.receipts.note(id)
    service.receipts.begin()
  }

  /// Whether a local notification may still be added. If so, the lost push can no longer be given up.
  private var mayAdd: Bool {
    turns.withLock { turns in
      if turns.notification != .givenUp { turns.notification = .added }
      return turns.notification == .added
    }
  }

  /// - Returns: Whether the system has accepted the notification.
  private func add(_ sound: HandOver.Sound, summary: HandOver.Summary?, delay: Int64) async -> Bool {
    guard let notifier = service.configuration.notifier, mayAdd else { return false }
    let notification = LocalNotification(
      identifier: identifier ?? arrival.id, payload: payload, texts: read?.texts ?? PushedTexts(),
      handOver: preparation.handOver(sound, summary: summary), delay: delay)
    do {
      try await notifier.add(notification)
      return true
    } catch {
      service.configuration.report(NotificationServiceError(.localNotificationRefused))
      return false
    }
  }
}
