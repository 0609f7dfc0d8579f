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

  private let payload: Data
  private let service: NotificationService
  /// Whether the push was lost, so that the phone adds a notification itself.
  private let isCaughtUp: Bool
  private let content: Result<NotificationPayload, NotificationServiceError>
  private let arrival: NotificationOrder.Arrival
  private let preparation: SoundPreparation
  private let turns = Locked(Turns())
  private let run = Locked<Task<Void, Never>?>(nil)

  /// The progress through the order. It is locked during each decision, so that the two ends of a work, its turn and
  /// its expiry, cannot both hand over.
  private struct Turns {
    var number: Int64?
    var isHandedOver = false
    var handOver: (@Sendable (HandOver) -> Void)?
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
  private enum Action: Sendable {
    case speak(PreparedSound?, HandOver.Summary?)
    case silent(HandOver.Silence)
    case later(PreparedSound?, at: Int64)
  }

  init(_ payload: Data, service: NotificationService, isCaughtUp: Bool = false) {
    self.payload = payload
    self.service = service
    self.isCaughtUp = isCaughtUp
    content = Result { () throws(NotificationServiceError) in try NotificationPayload(payload) }
    let read = try? content.get()
    // A push of another sender also waits for its turn, so that its sound overlaps no announcement.
    arrival =
      read?.arrival
      ?? NotificationOrder.Arrival(
        id: "other-\(UUID().uuidString)", category: .information, locale: "", originalSound: read?.sound)
    preparation = SoundPreparation(payload, read, service: service)
  }

  private var settings: NotificationOrder.Settings { service.configuration.settings }
  private var canAsk: Bool { service.configuration.missed != nil && service.configuration.notifier != nil }
  private var now: Int64 { service.configuration.now() }

  // MARK: Begin and end

  func begin(handOver: @escaping @Sendable (HandOver) -> Void) {
    turns.withLock { $0.handOver = handOver }
    if case .failure(let error) = content { service.configuration.report(error) }
    preparation.begin()
    let task = Task { await self.work() }
    run.withLock { $0 = task }
  }

  /// Ends the work at once, because iOS is about to end the extension: the best sound so far is handed over, or its
  /// sound follows as a local notification. After a hand-over, nothing happens. It may be called on any thread.
  public func expire() {
    guard case .act(let action) = decide(isLast: true), !performNow(action) else { return }
    Task { await perform(action) }
  }

  /// Returns when the notification was handed over.
  public func finished() async {
    let task = run.withLock { $0 }
    await task?.value
  }

  /// Enters the order ahead of ``begin(handOver:)``.
  ///
  /// - Returns: False if the announcement waits or was heard.
  /// - Throws: ``NotificationServiceError`` if the order cannot be used.
  func arrive() async throws(NotificationServiceError) -> Bool {
    try await onWaitingThread { [self] () throws(NotificationServiceError) -> Bool in
      let (now, settings, arrival, process) = (now, settings, arrival, service.process)
      let number = try service.file.update {
        $0.arrive(arrival, isMissed: true, process: process, at: now, settings)
      }
      turns.withLock { $0.number = number }
      return number != nil
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
    let isReady = preparation.isReady(at: now)
    let number = turns.withLock { $0.number }
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
      do throws(NotificationServiceError) {
        step = try decide(&turns, isLast: isLast)
      } catch {
        // Without the order, the notification is handed over as soon as its sound is ready. A busy order is waited for.
        let isOver = isLast || now >= preparation.beganAt.plus(settings.budget).plus(-settings.reserve)
        let isReady = isOver || (error.code != .orderBusy && preparation.isReady(at: now))
        if isReady { service.configuration.report(error) }
        step = isReady ? .act(.speak(preparation.best, nil)) : .wait(until: now.plus(Self.pollTime))
      }
      if case .act = step { turns.isHandedOver = true }
      return step
    }
  }

  private func decide(_ turns: inout Turns, isLast: Bool) throws(NotificationServiceError) -> Step {
    let (settings, arrival, canAsk, clock) = (settings, arrival, canAsk, service.configuration.now)
    let isReady = isLast || preparation.isReady(at: clock())
    let best = isReady ? preparation.best : nil
    let isExact = best.map { $0.quality == .announcement } ?? false || !preparation.shouldBeExact
    let (library, process) = (service.sounds.library, service.process)
    let known = turns.number
    let timeout = isLast ? Self.expiryLockTimeout : NotificationOrderFile.lockTimeout
    let (number, turn, now) = try service.file.update(timeout: timeout) {
      order -> (Int64?, NotificationOrder.Turn, Int64) in
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
      if isReady, order.entry(number)?.duration == nil {
        order.prepared(number, duration: best?.duration ?? PreparedSound.assumedDuration)
      }
      var turn = order.turn(of: number, arrival.id, at: now, isExact: isExact, isLast: isLast, canAsk: canAsk, settings)
      if case .wait(let until) = turn, canAsk, let time = order.catchUpTime(settings) {
        turn = .wait(until: min(until, max(time, now.plus(1))))
      }
      return (number, turn, now)
    }
    turns.number = number
    if case .speak = turn { correctBegin(decidedAt: now) }
    switch turn {
    case .wait(let until): return .wait(until: isReady ? until : min(until, now.plus(NotificationOrder.pollTime)))
    case .speak: return .act(isSilent ? .silent(.asSent) : .speak(best, nil))
    case .summarise(let members): return .summarise(members)
    case .inSummary: return .act(.silent(.inSummary))
    case .later(let moment): return .act(isSilent ? .silent(.asSent) : .later(best, at: moment))
    case .forgotten: return .act(.silent(.duplicate))
    }
  }

  /// Moves the end of the sound if writing the order took so long that the sound begins later than the order says.
  private func correctBegin(decidedAt: Int64) {
    let delay = now.plus(-decidedAt)
    guard delay > settings.gap / 4 else { return }
    try? service.file.update { $0.delaySound(by: delay) }
  }

  /// Whether the push of another sender asks for no sound.
  private var isSilent: Bool {
    guard case .success(let payload) = content else { return false }
    return payload.content == nil && payload.sound == nil
  }

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
      try? service.file.update { $0.refuseSummary(number) }
      return nil
    }
    return turns.withLock { turns in
      guard !turns.isHandedOver else { return nil }
      let (settings, canAsk, clock) = (settings, canAsk, service.configuration.now)
      let begun = try? service.file.update { order -> Int64? in
        let now = clock()
        let mayBegin = order.beginSummary(
          number, of: members.map(\.number), lasting: made.sound.duration, at: now, canAsk: canAsk, settings)
        return mayBegin ? now : nil
      }
      guard let begun = begun ?? nil else { return nil }
      correctBegin(decidedAt: begun)
      turns.isHandedOver = true
      return .speak(
        made.sound,
        HandOver.Summary(announcements: members.map(\.id), title: made.banner?.title, body: made.banner?.body))
    }
  }

  // MARK: The hand-over

  /// Hands over on the thread of the decision, because a sound that begins later than it was decided may overlap the
  /// next one.
  ///
  /// - Returns: False if a local notification must be added, for which ``perform(_:)`` waits.
  private func performNow(_ action: Action) -> Bool {
    guard !isCaughtUp else { return false }
    switch action {
    case .silent(let silence): call(.silent(silence))
    case .speak(let sound, let summary): call(HandOver.Sound(sound ?? preparation.fallback), summary: summary)
    case .later: return false
    }
    preparation.end()
    return true
  }

  private func perform(_ action: Action) async {
    preparation.end()
    switch action {
    case .silent(let silence): await give(.silent(silence))
    case .speak(let sound, let summary): await give(HandOver.Sound(sound ?? preparation.fallback), summary: summary)
    case .later(let sound, let moment):
      let delay = max(0, moment.plus(-now))
      let sound = HandOver.Sound(sound ?? preparation.fallback)
      guard !isCaughtUp else {
        await add(sound, summary: nil, delay: delay)
        return
      }
      if await add(sound, summary: nil, delay: delay) {
        await give(.silent(.later))
      } else {
        // An amount that overlaps another sound is better than one that is not heard.
        await give(sound)
      }
    }
  }

  /// Calls the handler, or adds a local notification for a push that was lost.
  private func give(_ sound: HandOver.Sound, summary: HandOver.Summary? = nil) async {
    guard isCaughtUp else { return call(sound, summary: summary) }
    await add(sound, summary: summary, delay: 0)
  }

  private func call(_ sound: HandOver.Sound, summary: HandOver.Summary? = nil) {
    let handler = turns.withLock { turns -> (@Sendable (HandOver) -> Void)? in
      defer { turns.handOver = nil }
      return turns.handOver
    }
    handler?(preparation.handOver(sound, summary: summary))
  }

  /// - Returns: Whether the system has accepted the notification.
  @discardableResult
  private func add(_ sound: HandOver.Sound, summary: HandOver.Summary?, delay: Int64) async -> Bool {
    guard let notifier = service.configuration.notifier else { return false }
    let notification = LocalNotification(
      identifier: arrival.id, payload: payload, handOver: preparation.handOver(sound, summary: summary), delay: delay)
    do {
      try await notifier.add(notification)
      return true
    } catch {
      service.configuration.report(NotificationServiceError(.localNotificationRefused))
      return false
    }
  }

  // MARK: Lost pushes

  /// Returns the sequence number after which this work must ask the service for lost pushes, if it is its task.
  private func claimCatchUp() -> CatchUp? {
    guard canAsk, let number = turns.withLock({ $0.number }) else { return nil }
    let (now, settings) = (now, settings)
    let claim = try? service.file.update { order -> CatchUp? in
      guard let after = order.claimCatchUp(number, at: now, settings) else { return nil }
      return CatchUp(number: number, after: after, upTo: order.catchUpEnd ?? after)
    }
    return claim ?? nil
  }

  /// A request for lost pushes that this work makes.
  private struct CatchUp: Sendable {
    var number: Int64
    var after: Int64
    var upTo: Int64
  }

  private func ask(_ claim: CatchUp) async {
    let (file, settings) = (service.file, settings)
    let missed = await service.missed(after: claim.after, upTo: claim.upTo)
    let (clock, isComplete) = (service.configuration.now, missed?.isComplete ?? false)
    await onWaitingThread {
      try? file.update { $0.endCatchUp(claim.number, isComplete: isComplete, at: clock(), settings) }
    }
  }
}
