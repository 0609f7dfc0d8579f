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
  /// The part of the budget in ms that is left when a busy order is not waited for any more.
  static let busyReserve: Int64 = 500

  let payload: Data
  /// The identifier of the notification's request; nil for a lost push, and if the caller did not give it.
  let identifier: String?
  let service: NotificationService
  /// Whether the push was lost, so that the phone adds a notification itself.
  let isCaughtUp: Bool
  /// What was read of the payload; nil if it is not a JSON object.
  let read: NotificationPayload?
  /// Why the payload, or its key `crier`, cannot be read.
  private let fault: NotificationServiceError?
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

  /// The states of the local notification for a lost push.
  enum LocalNotificationState {
    case none
    /// The order counts the push as heard, and the system does not have the local notification yet.
    case decided
    /// The system has the local notification, or is about to get it.
    case added
    /// The local notification must not be added any more.
    case givenUp
  }

  /// What is done next.
  enum Step: Sendable {
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

  convenience init(_ payload: Data, identifier: String? = nil, service: NotificationService) {
    var read: NotificationPayload?
    var fault: NotificationServiceError?
    do throws(NotificationServiceError) {
      read = try NotificationPayload(readable: payload)
    } catch {
      fault = error
    }
    self.init(payload, identifier, read, fault, service: service, isCaughtUp: false)
  }

  /// Creates the work for an announcement whose push was lost, and which the service was asked for.
  convenience init(lost payload: Data, _ read: NotificationPayload, service: NotificationService) {
    self.init(payload, nil, read, nil, service: service, isCaughtUp: true)
  }

  private init(
    _ payload: Data, _ identifier: String?, _ read: NotificationPayload?, _ fault: NotificationServiceError?,
    service: NotificationService, isCaughtUp: Bool
  ) {
    self.payload = payload
    self.identifier = identifier
    self.service = service
    self.isCaughtUp = isCaughtUp
    self.read = read
    self.fault = fault ?? read?.fault
    // A push of another sender also waits for its turn, so that its sound overlaps no announcement.
    arrival =
      read?.arrival
      ?? NotificationOrder.Arrival(
        id: "other-\(UUID().uuidString)", category: .information, locale: "", originalSound: read?.sound)
    preparation = SoundPreparation(read, service: service)
  }

  /// The sequence number, by which lost pushes follow each other.
  var rank: Int64 { arrival.sequence ?? .max }
  var settings: NotificationOrder.Settings { service.configuration.settings }
  var canAsk: Bool { service.configuration.missed != nil && service.configuration.notifier != nil }
  var now: Int64 { service.configuration.now() }

  // MARK: Begin and end

  func begin(handOver: @escaping @Sendable (HandOver) -> Void) {
    turns.withLock { $0.handOver = handOver }
    if !isCaughtUp { service.requests.begin() }
    if let fault { service.configuration.report(fault) }
    preparation.begin()
    // While it waits for its turn, iOS lets the process run.
    service.receipts.begin()
    run.withLock { run in
      run = Task {
        await self.work()
        // Without a decision, nobody else ends it.
        guard self.isCaughtUp, !self.turns.withLock({ $0.isHandedOver }) else { return }
        self.preparation.end()
        self.service.lost.ended(self)
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
    preparation.end()
    service.lost.ended(self)
  }

  /// Whether the work has a sound that says all that it should.
  var hasExactSound: Bool { isExact(preparation.best) }

  /// Whether the work has had the time that counts as a try to get a sound.
  var hasHadTime: Bool { now >= preparation.beganAt.plus(settings.shortestTry) }

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
      try service.file.update(timeout: service.configuration.blocking.backgroundLock, isLate: isLate, body)
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

  // MARK: Summaries

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
      made = try service.sounds.summary(of: members, preferring: read?.content?.spoken?.pack)
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
    let (clock, isAnswered, isComplete) = (service.configuration.now, missed != nil, missed?.isComplete ?? false)
    await onWaitingThread { [self] in
      _ = try? updateWhileOpen {
        $0.endCatchUp(
          claim.number, upTo: claim.upTo, isAnswered: isAnswered, isComplete: isComplete, at: clock(), settings)
      }
    }
  }
}
