// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import PlaybackOrder
import PushMessages
import SoundLibrary

/// The work on one notification, from its arrival to the one hand-over.
public final class NotificationWork: Sendable {
  /// The longest time in ms between two looks at the order while another process may change it.
  static let pollTime: Int64 = 100
  /// The longest time in ms between two looks while the sound is being prepared.
  static let preparationPollTime: Int64 = 25
  /// The time in seconds for which an expiring work waits for the lock of the order.
  static let expiryLockTimeout: TimeInterval = 0.5
  /// The time in seconds for which work that a hand-over waits for waits for the lock of the order.
  static let backgroundLockTimeout: TimeInterval = 0.05

  let payload: Data
  let service: NotificationService
  /// Whether the push was lost, so that the phone adds a notification itself.
  let isCaughtUp: Bool
  private let content: Result<NotificationPayload, NotificationServiceError>
  let arrival: NotificationOrder.Arrival
  let preparation: SoundPreparation
  let turns = Locked(Turns())
  private let run = Locked<Task<Void, Never>?>(nil)

  /// The progress through the order. It is locked during each decision, so that the two ends of a work, its turn and
  /// its expiry, cannot both hand over.
  struct Turns {
    var number: Int64?
    /// Whether the work has asked for its turn before.
    var hasAsked = false
    /// Whether the sound was ready at the last decision.
    var wasReady = false
    var isHandedOver = false
    /// How far the local notification for a lost push is.
    var notification = LocalNotificationState.none
    var handOver: (@Sendable (HandOver) -> Void)?
    /// The payments of the summary that is heard with this notification; empty if there is none.
    var members: [NotificationOrder.Entry] = []
  }

  /// The way of the local notification for a lost push.
  enum LocalNotificationState {
    case none
    /// The order counts it as heard, and the system does not have it yet.
    case decided
    /// The system has it, or is about to get it.
    case added
    /// It must not be added any more.
    case givenUp
  }

  /// What is done next.
  private enum Step: Sendable {
    case act(Action)
    case wait(until: Int64)
    case summarise([NotificationOrder.Entry])
    /// The notification was handed over elsewhere.
    case ended
  }

  /// What is done at the hand-over.
  enum Action: Sendable {
    case speak(PreparedSound?, HandOver.Summary?)
    case silent(HandOver.Silence)
    case later(PreparedSound?, at: Int64)

    /// Whether the order counts the notification as heard.
    var isHeard: Bool { if case .silent = self { false } else { true } }
  }

  init(_ payload: Data, service: NotificationService, isCaughtUp: Bool = false) {
    self.payload = payload
    self.service = service
    self.isCaughtUp = isCaughtUp
    content = Result { () throws(NotificationServiceError) in try NotificationPayload(payload) }
    let read = NotificationPayload(readable: payload)
    // A push of another sender also waits for its turn, so that its sound overlaps no announcement.
    arrival =
      read?.arrival
      ?? NotificationOrder.Arrival(
        id: "other-\(UUID().uuidString)", category: .information, locale: "", originalSound: read?.sound)
    preparation = SoundPreparation(payload, read, service: service)
  }

  /// The sequence number, by which lost pushes follow each other.
  var rank: Int64 { arrival.sequence ?? .max }
  var settings: NotificationOrder.Settings { service.configuration.settings }
  private var canAsk: Bool { service.configuration.missed != nil && service.configuration.notifier != nil }
  var now: Int64 { service.configuration.now() }

  // MARK: Begin and end

  func begin(handOver: @escaping @Sendable (HandOver) -> Void) {
    turns.withLock { $0.handOver = handOver }
    if !isCaughtUp { service.requests.begin() }
    if case .failure(let error) = content { service.configuration.report(error) }
    preparation.begin()
    run.withLock { run in
      run = Task {
        await self.work()
        // Without a decision, nobody else ends it.
        if self.isCaughtUp, !self.turns.withLock({ $0.isHandedOver }) { self.service.lost.ended(self) }
      }
    }
  }

  /// Ends the work at once, because iOS is about to end the extension: the best sound so far is handed over, or its
  /// sound follows as a local notification. After a hand-over, nothing happens. It may be called on any thread.
  public func expire() {
    guard case .act(let action) = decide(isLast: true), !performNow(action) else { return }
    run.withLock { run in
      let work = run
      run = Task {
        await self.perform(action)
        await work?.value
      }
    }
  }

  /// Ends the work on a lost push, because nobody waits for it. If the order counts it as heard already, a note says
  /// that it was not.
  func giveUp() {
    let mustCorrect = turns.withLock { turns in
      let isDecided = turns.notification == .decided
      guard turns.notification != .added else { return false }
      turns.notification = .givenUp
      turns.isHandedOver = true
      return isDecided
    }
    if mustCorrect { noteUnheard() }
    service.lost.ended(self)
  }

  /// Returns when the notification was handed over. A work that expires meanwhile may end a moment later.
  public func finished() async {
    let task = run.withLock { $0 }
    await task?.value
  }

  /// Notes the number under which the order knows the notification already.
  func enter(_ number: Int64) { turns.withLock { $0.number = number } }

  /// Changes the order, unless all requests of the process are closed.
  func updateWhileOpen<Result>(
    isLate: (Result) -> Bool = { _ in false }, _ body: (inout NotificationOrder) -> Result
  ) throws(NotificationServiceError) -> Result? {
    try service.requests.whileOpen { () throws(NotificationServiceError) -> Result in
      try service.file.update(timeout: Self.backgroundLockTimeout, isLate: isLate, body)
    }
  }

  private func work() async {
    while true {
      let (step, claim) = await onWaitingThread { [self] () -> (Step, CatchUp?) in
        let step = decide(isLast: false)
        switch step {
        case .act(let action): return (performNow(action) ? .ended : step, nil)
        case .wait: return (step, claimCatchUp())
        case .summarise, .ended: return (step, nil)
        }
      }
      // The work goes on waiting for its turn meanwhile.
      if let claim { Task { await self.ask(claim) } }
      switch step {
      case .ended: return
      case .act(let action):
        await perform(action)
        return
      case .summarise(let members):
        switch await onWaitingThread({ [self] in summary(of: members) }) {
        case .act(let action):
          await perform(action)
          return
        case .ended: return
        case .wait, .summarise: continue
        }
      case .wait(let until): await wait(until: until)
      }
    }
  }

  /// Waits until a moment, or until something that may change the turn has happened.
  private func wait(until: Int64) async {
    var version = service.file.version(at: now)
    var looked = now
    let (number, isReady) = turns.withLock { ($0.number, $0.wasReady) }
    while now < until {
      let pollTime = isReady ? Self.pollTime : Self.preparationPollTime
      await service.configuration.pause(max(1, min(pollTime, until - now)))
      if turns.withLock({ $0.isHandedOver }) || preparation.isReady(at: now) != isReady { return }
      let present = service.file.version(at: now)
      // A process that is not heard from for the time of a lease counts as ended.
      guard present != version || now >= looked.plus(settings.lease / 8) else { continue }
      (version, looked) = (present, now)
      guard let number, let order = try? service.file.read(), !order.concerns(number, at: now, settings) else { return }
    }
  }

  // MARK: Decisions

  /// Decides what is done next. If it is a hand-over, the caller is the one that makes it. The call blocks the thread.
  private func decide(isLast: Bool) -> Step {
    turns.withLock { turns in
      guard !turns.isHandedOver else { return .ended }
      let step: Step
      if isSilent {
        // It makes no sound, so it waits for no other one.
        let isReady = isLast || preparation.isReady(at: now)
        step = isReady ? .act(.silent(.asSent)) : .wait(until: now.plus(Self.pollTime))
      } else {
        do throws(NotificationServiceError) {
          step = try decide(&turns, isLast: isLast)
        } catch {
          step = decide(without: error, isLast: isLast)
        }
      }
      if case .act(let action) = step {
        turns.isHandedOver = true
        if action.isHeard { turns.notification = .decided }
      }
      return step
    }
  }

  /// Decides without the order: the notification is handed over as soon as its sound is ready. A busy order is waited
  /// for until the budget is over.
  private func decide(without error: NotificationServiceError, isLast: Bool) -> Step {
    let isOver = isLast || now >= preparation.beganAt.plus(settings.budget).plus(-settings.reserve)
    // iOS does not wait for a lost push, and the service is asked for it again.
    if isOver, isCaughtUp { return .ended }
    guard isOver || (error.code != .orderBusy && preparation.isReady(at: now)) else {
      return .wait(until: now.plus(Self.pollTime))
    }
    service.configuration.report(error)
    // Looking at the order needs no lock.
    if let outcome = (try? service.file.read())?.outcome(of: arrival.id), outcome != .shownAsSent {
      return .act(.silent(outcome == .summarised ? .inSummary : .duplicate))
    }
    let sound = preparation.best ?? preparation.fallback
    let now = now
    service.file.note(
      UnwrittenHandOver(
        id: arrival.id, sequence: arrival.sequence, at: now, until: now.plus(sound.duration).plus(settings.gap),
        isExact: isExact(sound)))
    return .act(.speak(sound, nil))
  }

  /// Whether a sound says all that the push asks for.
  private func isExact(_ sound: PreparedSound?) -> Bool {
    sound?.quality == .announcement || !preparation.shouldBeExact
  }

  private func decide(_ turns: inout Turns, isLast: Bool) throws(NotificationServiceError) -> Step {
    let (settings, arrival, canAsk, clock) = (settings, arrival, canAsk, service.configuration.now)
    let (isReady, best) = (isLast || preparation.isReady(at: clock()), preparation.best)
    // A lost push may have waited for others of the process.
    let isNew = isCaughtUp && !turns.hasAsked
    (turns.wasReady, turns.hasAsked) = (isReady, true)
    let isExact = isExact(best)
    let (library, process, isCaughtUp, known) = (service.sounds.library, service.process, isCaughtUp, turns.number)
    let decided = try update(isLast: isLast) { order -> Decided in
      // The lock may have taken a while.
      let now = clock()
      order.notice(now)
      if let known { order.renew(known, at: now, settings) }
      _ = order.removeAbandoned(at: now) { library.hasSound($0) }
      var number = known
      // A process that was stopped for so long that it counted as ended arrives again.
      if known.map({ order.entry($0) == nil && !order.wasHeard(arrival.id) }) ?? true {
        number = order.arrive(arrival, isMissed: isCaughtUp, process: process, at: now, settings)
      }
      guard let number else { return (nil, .forgotten, now) }
      if isNew { order.beginAgain(number, at: now, settings) }
      let duration = best?.duration ?? PreparedSound.assumedDuration
      if isReady, order.entry(number)?.duration != duration { order.prepared(number, duration: duration, settings) }
      var turn = order.turn(of: number, arrival.id, at: now, isExact: isExact, isLast: isLast, canAsk: canAsk, settings)
      if case .wait(let until) = turn, canAsk, let time = order.catchUpTime(settings) {
        turn = .wait(until: min(until, max(time, now.plus(1))))
      }
      return (number, turn, now)
    }
    // All requests of the process are closed. The order counts the process as ended soon.
    guard let (number, turn, now) = decided else { return .ended }
    turns.number = number
    switch turn {
    case .wait(let until): return .wait(until: isReady ? until : min(until, now.plus(NotificationOrder.pollTime)))
    case .speak: return .act(.speak(best, nil))
    case .summarise(let members): return .summarise(members)
    case .inSummary: return .act(.silent(.inSummary))
    case .later(let moment): return .act(.later(best, at: moment))
    case .postponed: return .act(.silent(.later))
    case .forgotten: return .act(.silent(.duplicate))
    }
  }

  /// The number of the notification, its turn, and the time of the decision.
  private typealias Decided = (number: Int64?, turn: NotificationOrder.Turn, at: Int64)

  /// Changes the order for a decision. A decision to speak that takes effect too late is made anew, because the end of
  /// its sound would be wrong.
  ///
  /// - Returns: Nil if iOS waits for nothing in this process, and neither for this work.
  private func update(
    isLast: Bool,
    _ body: (inout NotificationOrder) -> Decided
  ) throws(NotificationServiceError) -> Decided? {
    let (clock, limit) = (service.configuration.now, settings.gap / 4)
    let isLate = { (decided: Decided) -> Bool in
      !isLast && decided.turn == .speak && clock().minus(decided.at) > limit
    }
    if isCaughtUp { return try updateWhileOpen(isLate: isLate, body) }
    return try service.file.update(
      timeout: isLast ? Self.expiryLockTimeout : NotificationOrderFile.lockTimeout, isLate: isLate, body)
  }

  /// Whether the push of another sender asks for no sound.
  private var isSilent: Bool { preparation.isSilent }

  /// Makes a summary and hands over with it. The call blocks the thread.
  private func summary(of members: [NotificationOrder.Entry]) -> Step {
    guard let action = summarise(members) else { return .wait(until: now) }
    return performNow(action) ? .ended : .act(action)
  }

  /// Makes a summary and begins it. The call blocks the thread.
  ///
  /// - Returns: Nil if the turn must be asked for again.
  private func summarise(_ members: [NotificationOrder.Entry]) -> Action? {
    guard let number = members.first?.number else { return nil }
    let made: (sound: PreparedSound, banner: Banner?)
    do throws(NotificationServiceError) {
      made = try service.sounds.summary(of: members, preferring: try? content.get().content?.spoken?.pack)
    } catch {
      service.configuration.report(error)
      _ = try? updateWhileOpen { $0.refuseSummary(number) }
      return nil
    }
    return turns.withLock { turns in
      guard !turns.isHandedOver else { return nil }
      let (settings, canAsk, clock) = (settings, canAsk, service.configuration.now)
      let begin = { (order: inout NotificationOrder) -> Decided in
        let now = clock()
        let mayBegin = order.beginSummary(
          number, of: members.map(\.number), lasting: made.sound.duration, at: now, canAsk: canAsk, settings)
        return (number, mayBegin ? .speak : .wait(until: now), now)
      }
      guard let begun = try? update(isLast: false, begin), begun.turn == .speak else { return nil }
      turns.isHandedOver = true
      turns.notification = .decided
      turns.members = members
      return .speak(
        made.sound,
        HandOver.Summary(announcements: members.map(\.id), title: made.banner?.title, body: made.banner?.body))
    }
  }

  // MARK: Lost pushes

  /// Returns the sequence number after which this work must ask the service for lost pushes, if it is its task.
  private func claimCatchUp() -> CatchUp? {
    guard canAsk, let number = turns.withLock({ $0.number }) else { return nil }
    let (now, settings) = (now, settings)
    let claim = try? updateWhileOpen { order -> CatchUp? in
      guard let after = order.claimCatchUp(number, at: now, settings) else { return nil }
      return CatchUp(number: number, after: after, upTo: order.catchUpEnd ?? after)
    }
    return claim?.flatMap(\.self)
  }

  /// A request for lost pushes that this work makes.
  private struct CatchUp: Sendable {
    var number: Int64
    var after: Int64
    var upTo: Int64
  }

  private func ask(_ claim: CatchUp) async {
    let settings = settings
    let missed = await service.missed(after: claim.after, upTo: claim.upTo)
    let (clock, isComplete) = (service.configuration.now, missed?.isComplete ?? false)
    await onWaitingThread { [self] in
      _ = try? updateWhileOpen {
        $0.endCatchUp(claim.number, upTo: claim.upTo, isComplete: isComplete, at: clock(), settings)
      }
    }
  }
}
