// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import PlaybackOrder
import PushMessages
import SoundLibrary

/// The work on one notification, from its arrival to the one hand-over.
public final class NotificationWork: Sendable {
  /// The longest time in ms between two checks of the order file while another process may change it.
  static let pollTime: Int64 = 100
  /// The longest time in ms between two checks while the sound is being prepared.
  static let preparationPollTime: Int64 = 25
  /// The time in ms before the end of the budget at which the work stops waiting for a busy order.
  static let busyReserve: Int64 = 500

  let payload: Data
  /// The identifier of the notification's request; nil for a lost push, and if the caller gave none.
  let identifier: String?
  let service: NotificationService
  /// Whether the push was lost, so that the phone adds a local notification instead.
  let isCaughtUp: Bool
  /// The parts of the payload that were read; nil if it is not a JSON object.
  let read: NotificationPayload?
  /// The reason why the payload, or its key `crier`, cannot be read; nil if it was read.
  private let fault: NotificationServiceError?
  let arrival: NotificationOrder.Arrival
  let preparation: SoundPreparation
  let turns = Locked(Turns())
  private let run = Locked<Task<Void, Never>?>(nil)

  /// The progress of the notification through the order. It is locked during each decision, because otherwise both the
  /// normal turn and the expiry could hand over.
  struct Turns {
    var number: Int64?
    /// Whether the work has already asked for its turn.
    var hasAsked = false
    /// Whether the sound was ready at the last decision.
    var wasReady = false
    var isHandedOver = false
    /// The state of the local notification for a lost push.
    var notification = LocalNotificationState.none
    var handOver: (@Sendable (HandOver) -> Void)?
    /// The payments of the summary that is handed over with this notification; empty if there is none.
    var members: [NotificationOrder.Entry] = []
  }

  /// The states of the local notification for a lost push.
  enum LocalNotificationState {
    case none
    /// The order counts the push as heard, but the system does not have the local notification yet.
    case decided
    /// The system has the local notification, or is about to get it.
    case added
    /// The local notification must not be added, because the work was given up.
    case givenUp
  }

  /// The next step of the work.
  enum Step: Sendable {
    case act(Action)
    case wait(until: Int64)
    case summarise([NotificationOrder.Entry])
    /// The notification was already handed over, or its work was given up.
    case ended
  }

  /// The content of the hand-over.
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

  /// Creates the work on an announcement whose push was lost. The service has sent the payload again.
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

  /// The sequence number, by which lost pushes are sorted.
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
    // Send the receipts now, because iOS does not suspend the process while this notification waits for its turn.
    service.receipts.begin()
    run.withLock { run in
      run = Task {
        await self.work()
        // If a lost push ended without a decision, no other code reports its end.
        guard self.isCaughtUp, !self.turns.withLock({ $0.isHandedOver }) else { return }
        self.preparation.end()
        self.service.lost.ended(self)
      }
    }
  }

  /// Ends the work at once, because iOS is about to end the extension. The notification is handed over with the best
  /// sound so far, or its sound follows as a local notification. After a hand-over, this method does nothing. It may be
  /// called on any thread.
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

  /// Ends the work on a lost push without a hand-over. If the order already counts the push as heard, this method
  /// records that the push was not heard.
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

  /// Whether the work has found a sound that says everything that it should.
  var hasExactSound: Bool { isExact(preparation.best) }

  /// Whether the work has lasted long enough to count as an attempt to get the sound.
  var hasHadTime: Bool { now >= preparation.beganAt.plus(settings.shortestTry) }

  /// Returns when the notification was handed over. If ``expire()`` is called meanwhile, its hand-over may happen a
  /// moment later.
  public func finished() async {
    let task = run.withLock { $0 }
    await task?.value
  }

  /// Records the number under which the order already knows the notification.
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
      // The work continues to wait for its turn during the request.
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

  /// Waits until a time in ms, or until an event that may change the turn.
  private func wait(until: Int64) async {
    var version = service.file.version(at: now)
    var looked = now
    let (number, isReady) = turns.withLock { ($0.number, $0.wasReady) }
    while now < until {
      let pollTime = isReady ? Self.pollTime : Self.preparationPollTime
      await service.configuration.pause(max(1, min(pollTime, until - now)))
      if turns.withLock({ $0.isHandedOver }) || preparation.isReady(at: now) != isReady { return }
      let present = service.file.version(at: now)
      // Check from time to time even without a change, because a process that is not renewed in the time of a lease
      // counts as ended.
      guard present != version || now >= looked.plus(settings.lease / 8) else { continue }
      (version, looked) = (present, now)
      guard let number, let order = try? service.file.read(), !order.concerns(number, at: now, settings) else { return }
    }
  }

  // MARK: Summaries

  /// Makes a summary and hands it over, or returns the step that remains. The call blocks the thread.
  private func summary(of members: [NotificationOrder.Entry]) -> Step {
    guard let action = summarise(members) else { return .wait(until: now) }
    return performNow(action) ? .ended : .act(action)
  }

  /// Makes a summary and begins it in the order. The call blocks the thread.
  ///
  /// - Returns: The hand-over. Nil if the work must ask for its turn again.
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

  /// Returns the request for lost pushes that this work must make; nil if no request is due or another process makes
  /// it.
  private func claimCatchUp() -> CatchUp? {
    guard canAsk, let number = turns.withLock({ $0.number }) else { return nil }
    let (now, settings) = (now, settings)
    let claim = try? updateWhileOpen { order -> CatchUp? in
      guard let after = order.claimCatchUp(number, at: now, settings) else { return nil }
      return CatchUp(number: number, after: after, upTo: order.catchUpEnd ?? after)
    }
    return claim?.flatMap(\.self)
  }

  /// A request for lost pushes that this work makes. It has the number of the notification, and the range of sequence
  /// numbers.
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
