// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import SoundLibrary

/// The decisions of the work on a notification: what it does next, according to the order that all processes share.
extension NotificationWork {
  /// Decides the next step. A hand-over is returned only once, so the caller must make it. The call blocks the thread.
  func decide(isLast: Bool) -> Step {
    turns.withLock { turns in
      guard !turns.isHandedOver else { return .ended }
      let step: Step
      if isSilent {
        // A silent notification does not wait for other notifications.
        let isReady = isLast || preparation.isReady(at: now)
        step = isReady ? .act(.silent(.asSent)) : .wait(until: now.plus(Self.pollTime))
      } else {
        do throws(NotificationServiceError) {
          step = try decide(&turns, isLast: isLast)
        } catch {
          step = decide(&turns, without: error, isLast: isLast)
        }
      }
      if case .act(let action) = step {
        turns.isHandedOver = true
        if action.isHeard { turns.notification = .decided }
      }
      return step
    }
  }

  /// Decides without changing the order. If the order is busy, the work waits until the budget is over. If the order
  /// cannot be used at all, the notification is handed over as soon as its sound is ready.
  private func decide(_ turns: inout Turns, without error: NotificationServiceError, isLast: Bool) -> Step {
    let reserve = error.code == .orderBusy ? Self.busyReserve : settings.reserve
    let isOver = isLast || now >= preparation.beganAt.plus(settings.budget).plus(-reserve)
    // A lost push can be given up: iOS does not wait for it, and the service is asked for it again.
    if isOver, isCaughtUp { return .ended }
    guard isOver || (error.code != .orderBusy && preparation.isReady(at: now)) else {
      return .wait(until: now.plus(Self.pollTime))
    }
    service.configuration.report(error)
    let sound = preparation.best ?? preparation.fallback
    let now = now
    switch turnWithoutLock(&turns) {
    case .inSummary: return .act(.silent(.inSummary))
    case .forgotten: return .act(.silent(.duplicate))
    case .wait, .later, .postponed, .summarise:
      // Stay silent, because the sound would overlap another sound, or be heard before an earlier announcement. The
      // service is asked for the announcement again.
      service.file.note(
        UnwrittenHandOver(id: arrival.id, sequence: arrival.sequence, at: now, until: .min, isExact: false))
      return .act(.silent(.later))
    case .speak, nil:
      service.file.note(
        UnwrittenHandOver(
          id: arrival.id, sequence: arrival.sequence, at: now, until: now.plus(sound.duration).plus(settings.gap),
          isExact: isExact(sound)))
      return .act(.speak(sound, nil))
    }
  }

  /// Returns the turn that the current order gives, without a lock and without changing the file.
  ///
  /// - Returns: The turn. Nil if there is no readable order, or if the notification would have to wait and the service
  ///   cannot be asked for it again.
  private func turnWithoutLock(_ turns: inout Turns) -> NotificationOrder.Turn? {
    guard var order = (try? service.file.read()) ?? nil else { return nil }
    let turn = ask(&order, facts(&turns, isLast: true)).turn
    switch turn {
    case .speak, .inSummary, .forgotten: return turn
    case .wait, .later, .postponed, .summarise: return canAsk && arrival.sequence != nil ? turn : nil
    }
  }

  /// Whether a sound says all that the push asks for.
  func isExact(_ sound: PreparedSound?) -> Bool {
    sound?.quality == .announcement || !preparation.shouldBeExact
  }

  private func decide(_ turns: inout Turns, isLast: Bool) throws(NotificationServiceError) -> Step {
    let facts = facts(&turns, isLast: isLast)
    let decided = try update(isLast: isLast) { ask(&$0, facts) }
    // If all requests of the process are closed, this work ends. The order soon counts the process as ended.
    guard let (number, turn, now) = decided else { return .ended }
    turns.number = number
    let best = facts.best
    switch turn {
    case .wait(let until):
      return .wait(until: facts.isReady ? until : min(until, now.plus(NotificationOrder.pollTime)))
    case .speak: return .act(.speak(best, nil))
    case .summarise(let members): return .summarise(members)
    case .inSummary: return .act(.silent(.inSummary))
    case .later(let moment): return .act(.later(best, at: moment))
    case .postponed: return .act(.silent(.later))
    case .forgotten: return .act(.silent(.duplicate))
    }
  }

  /// The facts on which a decision depends, besides the order and the time.
  private struct Facts {
    /// The number of the notification in the order; nil if the order does not know it.
    var known: Int64?
    var best: PreparedSound?
    var isReady: Bool
    var isExact: Bool
    var isLast: Bool
    /// Whether the work on a lost push begins now. It may have waited for other lost pushes of the process.
    var isNew: Bool
  }

  private func facts(_ turns: inout Turns, isLast: Bool) -> Facts {
    let (best, isReady) = preparation.look(at: now)
    let facts = Facts(
      known: turns.number, best: best, isReady: isLast || isReady, isExact: isExact(best),
      isLast: isLast, isNew: isCaughtUp && !turns.hasAsked)
    (turns.wasReady, turns.hasAsked) = (facts.isReady, true)
    return facts
  }

  /// Asks the order for the turn of the notification. If the notification is not in the order, this method first adds
  /// it.
  private func ask(_ order: inout NotificationOrder, _ facts: Facts) -> Decided {
    let (settings, library) = (settings, service.sounds.library)
    // Read the clock again, because the wait for the lock may have taken a while.
    let now = now
    order.notice(now)
    var number = facts.known
    if let number { order.renew(number, at: now, settings) }
    _ = order.removeAbandoned(at: now, settings) { library.hasSound($0) }
    // If its process was stopped for so long that it counted as ended, the notification arrives again, with the rest of
    // its time.
    if number.map({ order.entry($0) == nil && !order.wasHeard(arrival.id) }) ?? true {
      number = order.arrive(
        arrival, isMissed: isCaughtUp, process: service.process, since: isCaughtUp ? nil : preparation.beganAt, at: now,
        settings)
    }
    guard let number else { return (nil, .forgotten, now) }
    if facts.isNew { order.beginAgain(number, at: now, settings) }
    let duration = facts.best?.duration ?? PreparedSound.assumedDuration
    if facts.isReady, order.entry(number)?.duration != duration {
      order.prepared(number, duration: duration, settings)
    }
    var turn = order.turn(
      of: number, arrival.id, at: now, isExact: facts.isExact, isLast: facts.isLast, canAsk: canAsk, settings)
    if case .wait(let until) = turn, canAsk, let time = order.catchUpTime(settings) {
      turn = .wait(until: min(until, max(time, now.plus(1))))
    }
    return (number, turn, now)
  }

  /// The number of the notification, its turn, and the time of the decision.
  typealias Decided = (number: Int64?, turn: NotificationOrder.Turn, at: Int64)

  /// Changes the order for a decision. If a decision to speak takes effect too late, it is made again, because the
  /// recorded end of its sound would be wrong.
  ///
  /// - Returns: The decision. Nil for a lost push if iOS waits for no notification of this process.
  func update(
    isLast: Bool,
    _ body: (inout NotificationOrder) -> Decided
  ) throws(NotificationServiceError) -> Decided? {
    let (clock, limit) = (service.configuration.now, settings.gap / 4)
    let isLate = { (decided: Decided) -> Bool in
      !isLast && decided.turn == .speak && clock().minus(decided.at) > limit
    }
    if isCaughtUp { return try updateWhileOpen(isLate: isLate, body) }
    let blocking = service.configuration.blocking
    return try service.file.update(timeout: isLast ? blocking.expiryLock : blocking.lock, isLate: isLate, body)
  }

  /// Whether the push comes from another sender and asks for no sound.
  private var isSilent: Bool { preparation.isSilent }
}
