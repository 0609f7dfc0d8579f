// SPDX-License-Identifier: Apache-2.0

public import ConcurrencySupport
public import Foundation
public import Ledger
public import PushMessages

/// Sends the pushes of a ledger's outbox to APNs until each of them has ended.
///
/// - A push is marked in the ledger before it is sent, and its outcome is stored before the next push to the same
///   device is sent. After a crash, a push that may have been sent is sent again with the same `apns-id`. A push that
///   two crashes in a row interrupted is set aside, and sent later, alone; see `InterruptedWork`.
/// - Only one sender of a ledger runs at a time; see `Ledger.SeatStore.takeSeat(of:)`. A sender that has lost its seat
///   sends nothing more, and stores no more outcomes.
public actor PushSender {
  /// A report of the sender, for logs, metrics and events. It contains no tokens, names or amounts.
  public enum Report: Sendable, Hashable {
    /// A push has ended.
    case ended(Ended)
    /// An attempt to send a push has ended. The code says why the server gave no answer; nil if it gave one.
    case attempted(server: String, PushTransportError.Code?)
    /// Pushes that an earlier sender may have sent are sent again.
    case interrupted(count: Int)
    /// Pushes that two crashes in a row interrupted are set aside.
    case setAside(count: Int)
    /// APNs refuses every push to the topic. Its pushes wait, and the sender tries one of them from time to time. A
    /// stop with the reason ``tooManyTokens`` ends within 20 minutes without any action.
    case topicStopped(PushSchedule.Topic, reason: String)
    /// A push to a stopped topic has succeeded, so the others follow.
    case topicResumed(PushSchedule.Topic)
    /// APNs refused a device token as bad.
    case tokenRefused(account: String, device: String)
    /// APNs refused the tokens of many devices of an app, one after the other, and accepted none. Probably the bundle
    /// id or the environment is wrong, and the tokens are right.
    case allTokensRefused(PushSchedule.App, reason: String)
    /// The ledger could not be read or written. The sender tries again.
    case ledgerFailed(LedgerError)
  }

  /// A push that has ended.
  public struct Ended: Sendable, Hashable {
    public var number: Int64
    public var account: String
    /// The announcement's id; nil when the push announced nothing.
    public var announcement: String?
    public var device: String
    /// A final state.
    public var state: Ledger.Push.State
    /// The reason that APNs or the sender gave; nil if there is none.
    public var reason: String?
  }

  /// A topic to which no push can be sent, because APNs refuses it or because the app is not configured.
  public struct Stop: Sendable, Hashable {
    /// The first reason that APNs or the sender gave.
    public var reason: String
    /// The date and time at which the topic was stopped.
    public var since: Date
    /// The number of pushes that wait for the topic.
    public var waiting: Int
  }

  /// The reason why a topic is stopped if the sender has no client for its app.
  public static let notConfigured = "AppNotConfigured"

  /// The reason why a push ended if its device has no token for it.
  public static let noToken = "NoToken"

  /// The reason with which APNs refuses a new provider token if it got another new token of the same key less than 20
  /// minutes ago.
  public static let tooManyTokens = "TooManyProviderTokenUpdates"

  public struct Settings: Sendable, Hashable {
    /// The maximum number of pushes that are sent at a time.
    public var mostUnderWay = 4_000
    /// The maximum number of pushes that are sent to an app at a time.
    public var mostToApp = 1_000
    /// The time after which an app that was stopped is tried again, in seconds.
    public var appPause: TimeInterval = 900
    /// The number of devices whose tokens APNs must refuse in a row before the sender reports
    /// ``Report/allTokensRefused(_:reason:)``.
    public var suspectDevices = 10
    /// The pauses between the attempts of a push.
    public var retry = PushRetry()

    public init() {}
  }

  private let ledger: any Ledger.Store
  private let clients: [PushSchedule.App: PushClient]
  private let settings: Settings
  private let now: @Sendable () -> Date
  private let date: @Sendable () -> Date
  private let sleep: @Sendable (Duration) async throws -> Void
  private let random: @Sendable () -> UInt64
  private let report: @Sendable (Report) -> Void
  /// The seat of the present run; nil if no other sender can exist.
  private var seat: DeliverySeat?
  private var schedule = PushSchedule()
  private var lastNumber: Int64 = 0
  /// The topics that were reported as stopped, and to which no push has succeeded since.
  private var stopped: [PushSchedule.Topic: (reason: String, since: Date)] = [:]
  /// The devices of each app whose tokens APNs has refused since it last accepted a push to the app.
  private var refused: [PushSchedule.App: Set<String>] = [:]
  /// Wakes the sender. The sender reads the outbox only if the signal announces new pushes, because answers of APNs
  /// wake the sender too.
  private let signal: WorkSignal

  /// - Parameters:
  ///   - clients: The client for each app. A push to another app waits until it expires.
  ///   - now: Returns the time of a monotonic clock. Pauses and expiries are computed with it.
  ///   - date: Returns the date and time, for the values that APNs reads.
  ///   - sleep: Waits for a duration.
  ///   - random: Returns a random number for the pauses between attempts.
  ///   - report: Called with everything that happens. It must return at once.
  public init(
    ledger: any Ledger.Store, clients: [PushSchedule.App: PushClient], settings: Settings = Settings(),
    now: @escaping @Sendable () -> Date = SteadyClock().now,
    date: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) },
    report: @escaping @Sendable (Report) -> Void = { _ in }
  ) {
    self.ledger = ledger
    self.clients = clients
    self.settings = settings
    self.now = now
    self.date = date
    self.sleep = sleep
    self.random = random
    self.report = report
    signal = WorkSignal(sleep: sleep)
  }

  /// Tells the sender that the outbox may have new pushes.
  public nonisolated func lookForPushes() { signal.announceNews() }

  /// The number of pushes that have not ended, as far as the sender knows.
  public var waitingCount: Int { schedule.count }
  /// The number of pushes that are set aside; see `InterruptedWork`.
  public var setAsideCount: Int { schedule.setAsideCount }

  /// The topics that are stopped. A stopped topic is in the list while pushes wait for it, and until the time of its
  /// next attempt. After that, an app without pushes does not count, because perhaps nobody uses it any more.
  public var stops: [PushSchedule.Topic: Stop] {
    guard !stopped.isEmpty else { return [:] }
    return stopped.reduce(into: [:]) { stops, stop in
      let waiting = schedule.waitingCount(of: stop.key)
      guard waiting > 0 || schedule.isPaused(stop.key, at: now()) else { return }
      stops[stop.key] = Stop(reason: stop.value.reason, since: stop.value.since, waiting: waiting)
    }
  }

  /// Tells the sender that another part of the program has sent a push to a topic, such as a test, and that APNs has
  /// accepted it. If the topic was stopped, its pushes are sent at once.
  public func resume(_ topic: PushSchedule.Topic) {
    schedule.resume(topic)
    noteProof(of: topic)
    signal.wake()
  }

  /// Sends pushes until the task is cancelled or the seat is lost. The call then returns as soon as the pushes that are
  /// being sent have ended. It can be called again after that, and reads the whole outbox anew, because another sender
  /// may have sent pushes meanwhile.
  ///
  /// - Parameter seat: The seat of the sender; nil if no other sender can exist.
  public func run(under seat: DeliverySeat? = nil) async {
    (self.seat, schedule, lastNumber) = (seat, PushSchedule(), 0)
    signal.announceNews()
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled, maySend {
        if signal.takeNews() { await load() }
        let turn = schedule.next(
          at: now(), room: max(0, settings.mostUnderWay - schedule.underWay), mostToApp: settings.mostToApp)
        if !turn.expired.isEmpty { group.addTask { await self.expire(turn.expired) } }
        if !turn.send.isEmpty { await start(turn.send, in: &group) }
        if schedule.underWay < settings.mostUnderWay, schedule.nextMoment.map({ $0 <= now() }) == true { continue }
        // If the maximum number of pushes is being sent, only an answer makes room.
        let next = schedule.underWay < settings.mostUnderWay ? schedule.nextMoment : nil
        await signal.wait(atMost: next.map { .seconds(max(0.001, $0.timeIntervalSince(now()))) })
      }
    }
  }

  private var maySend: Bool { seat?.isUsable ?? true }

  /// Adds the pushes that are new in the outbox.
  private func load() async {
    var (interrupted, setAside) = (0, 0)
    do throws(LedgerError) {
      while true {
        let pushes = try await ledger.unfinishedPushes(after: lastNumber)
        for push in pushes.map(onOwnClock) {
          // Only pushes that were stored before the sender started can have been interrupted.
          if let pause = InterruptedWork.pause(afterStarts: push.starts) {
            setAside += 1
            // A push that would expire before the end of the pause is tried earlier, in the middle of the time it has
            // left.
            let current = now()
            let left = push.expiresAt.timeIntervalSince(current)
            schedule.setAside(push, until: current.addingTimeInterval(min(pause, left / 2)))
          } else {
            if push.wasInterrupted { interrupted += 1 }
            schedule.add(push)
          }
        }
        guard let last = pushes.last else { break }
        lastNumber = last.number
      }
    } catch {
      report(.ledgerFailed(error))
      signal.announceNews(after: .seconds(1))
    }
    if interrupted > 0 { report(.interrupted(count: interrupted)) }
    if setAside > 0 { report(.setAside(count: setAside)) }
  }

  /// Returns a push with its expiry on the sender's clock. The expiry was stored as a date and time, and the system's
  /// clock may have been set since. A push never has more time left than it had at its acceptance.
  private func onOwnClock(_ push: Ledger.UnfinishedPush) -> Ledger.UnfinishedPush {
    let left = min(push.expiresAt.timeIntervalSince(date()), push.expiresAt.timeIntervalSince(push.createdAt))
    var push = push
    push.expiresAt = now().addingTimeInterval(left)
    return push
  }

  private func start(_ pushes: [Ledger.UnfinishedPush], in group: inout DiscardingTaskGroup) async {
    do throws(LedgerError) {
      let started = try await ledger.startSending(pushes.map(\.number), under: seat)
      let known = Dictionary(started.map { ($0.push.number, $0) }) { first, _ in first }
      for push in pushes {
        guard let (stored, token) = known[push.number] else {
          // Somebody else has ended or removed the push.
          schedule.ended(push, provesTopic: false)
          continue
        }
        group.addTask { await self.send(stored, token: token, of: push) }
      }
    } catch {
      reportFailure(error)
      for push in pushes { schedule.retry(push, at: now().addingTimeInterval(1), wasStarted: false) }
    }
  }

  /// Sends a push once, and stores the outcome.
  private func send(_ push: Ledger.Push, token: String?, of entry: Ledger.UnfinishedPush) async {
    let app = PushSchedule.App(bundleID: push.app, environment: push.environment)
    guard let token else { return await end(push, .unregistered, reason: Self.noToken, entry) }
    guard let client = clients[app] else {
      return await stop(reason: Self.notConfigured, push, entry)
    }
    let request: PushRequest
    do {
      // APNs needs the expiry as a date and time.
      let expiry = date().addingTimeInterval(entry.expiresAt.timeIntervalSince(now()))
      request = try Self.request(push, token: token, expiresAt: expiry)
    } catch {
      return await end(push, .failed, reason: error.code.rawValue, entry)
    }
    do throws(PushTransportError) {
      let attempt = try await client.send(request, if: { [seat] in seat?.isUsable ?? true })
      report(.attempted(server: client.server, nil))
      let reason = attempt.response.reason ?? "Status\(attempt.response.status)"
      switch attempt.consequence {
      case .delivered:
        refused[app] = nil
        await end(push, .delivered, reason: nil, provesTopic: true, entry)
      case .retry(let wait, let scope): await retry(push, after: wait, scope, reason: reason, entry)
      case .deviceGone(let since):
        if let since { await removeToken(token, of: push, since: since) }
        await end(push, .unregistered, reason: reason, provesTopic: true, entry)
      case .tokenSuspect:
        await countRefusal(of: token, push, reason: reason)
        // APNs looks at the provider token first, so this answer proves that the key is right, but not the topic.
        let provesTopic = reason == "BadDeviceToken"
        await end(push, .failed, reason: reason, provesTopic: provesTopic, entry)
      case .failed: await end(push, .failed, reason: reason, entry)
      case .stopApp, .refreshToken: await stop(reason: reason, push, entry)
      }
    } catch {
      // Another sender has taken over, and sends the push.
      guard maySend else { return schedule.ended(entry, provesTopic: false) }
      report(.attempted(server: client.server, error.code))
      guard case .retry(let wait, let scope) = PushConsequence(error.interruption) else {
        return await end(push, .failed, reason: error.code.rawValue, entry)
      }
      await retry(push, after: wait, scope, reason: error.code.rawValue, entry)
    }
  }

  private static func request(
    _ push: Ledger.Push, token: String, expiresAt: Date
  ) throws(PushMessageError) -> PushRequest {
    try PushRequest(
      token: DeviceToken(token), app: BundleID(push.app), type: push.kind, id: push.id,
      priority: PushRequest.Priority(rawValue: push.priority), expiresAt: expiresAt, collapseID: push.collapseID,
      body: push.body)
  }

  // MARK: Outcomes

  /// - Parameter provesTopic: Whether the outcome shows that APNs accepts the app's key and topic.
  private func end(
    _ push: Ledger.Push, _ state: Ledger.Push.State, reason: String?, provesTopic: Bool = false,
    _ entry: Ledger.UnfinishedPush
  ) async {
    // Until the outcome is stored, nothing else may be sent to the device.
    let isStored = await store(push.number, state, reason: reason)
    schedule.ended(entry, provesTopic: provesTopic)
    if provesTopic { noteProof(of: PushSchedule.Topic(entry)) }
    if isStored {
      report(
        .ended(
          Ended(
            number: push.number, account: push.account, announcement: push.announcement, device: push.device,
            state: state, reason: reason)))
    }
    signal.wake()
  }

  private func noteProof(of topic: PushSchedule.Topic) {
    if stopped.removeValue(forKey: topic) != nil { report(.topicResumed(topic)) }
  }

  /// Stores an outcome, however long it takes.
  ///
  /// - Returns: False if somebody else has ended the push, or if the sender ends or loses its seat first. In these two
  ///   cases the push stays unfinished, and the next sender sends it again.
  private func store(_ number: Int64, _ state: Ledger.Push.State, reason: String?) async -> Bool {
    await stored { [ledger, seat] () async throws(LedgerError) in
      try await ledger.finishPush(number, state, reason: reason, under: seat)
    } ?? false
  }

  /// Stores something, however long it takes.
  ///
  /// - Returns: Nil if the sender ends or loses its seat first.
  private func stored<Value: Sendable>(_ store: () async throws(LedgerError) -> Value) async -> Value? {
    while true {
      do throws(LedgerError) {
        return try await store()
      } catch {
        if error.code == .leaseLost { return nil }
        report(.ledgerFailed(error))
        guard (try? await sleep(.seconds(1))) != nil else { return nil }
      }
    }
  }

  /// Reports an error of the ledger. The loss of the seat is not reported, because the code that passed the seat
  /// already knows it.
  private func reportFailure(_ error: LedgerError) {
    if error.code != .leaseLost { report(.ledgerFailed(error)) }
  }

  private func retry(
    _ push: Ledger.Push, after wait: Duration?, _ scope: PushConsequence.Scope, reason: String,
    _ entry: Ledger.UnfinishedPush
  ) async {
    let next = settings.retry.nextAttempt(
      at: now(), afterAttempts: push.attempts, requested: wait, random: random(), expiresAt: entry.expiresAt)
    guard let next else { return await end(push, .expired, reason: reason, entry) }
    if scope == .app { schedule.pause(PushSchedule.Topic(entry), until: next) }
    if reason == Self.tooManyTokens { noteStop(of: PushSchedule.Topic(entry), reason: reason) }
    await postpone(push, until: next, reason: reason, entry)
  }

  private func stop(reason: String, _ push: Ledger.Push, _ entry: Ledger.UnfinishedPush) async {
    let topic = PushSchedule.Topic(entry)
    let until = now().addingTimeInterval(settings.appPause)
    schedule.pause(topic, until: until)
    noteStop(of: topic, reason: reason)
    await postpone(push, until: until, reason: reason, entry)
  }

  private func noteStop(of topic: PushSchedule.Topic, reason: String) {
    guard stopped[topic] == nil else { return }
    stopped[topic] = (reason, date())
    report(.topicStopped(topic, reason: reason))
  }

  private func postpone(
    _ push: Ledger.Push, until moment: Date, reason: String, _ entry: Ledger.UnfinishedPush
  ) async {
    // If this cannot be stored, the push counts as interrupted after a restart, which does no harm.
    try? await ledger.postponePush(push.number, reason: reason, under: seat)
    var entry = entry
    entry.reason = reason
    schedule.retry(entry, at: moment)
    signal.wake()
  }

  private func expire(_ expired: [Ledger.UnfinishedPush]) async {
    // A push that was never tried has no reason of its own: it waited for its stopped topic.
    let pushes = expired.map { push in
      var push = push
      push.reason = push.reason ?? stopped[PushSchedule.Topic(push)]?.reason
      return push
    }
    for start in stride(from: 0, to: pushes.count, by: Self.mostExpiredAtOnce) {
      let part = pushes[start..<min(start + Self.mostExpiredAtOnce, pushes.count)]
      let ended = await stored { [ledger, seat] () async throws(LedgerError) in
        try await ledger.expirePushes(part.map { ($0.number, $0.reason) }, under: seat)
      }
      for push in part where ended?.contains(push.number) == true {
        report(
          .ended(
            Ended(
              number: push.number, account: push.account, announcement: push.announcement, device: push.device,
              state: .expired, reason: push.reason)))
      }
    }
  }

  /// The maximum number of expired pushes that are stored in one transaction, for which other writes have to wait.
  private static let mostExpiredAtOnce = 500

  private func removeToken(_ token: String, of push: Ledger.Push, since: Date) async {
    do throws(LedgerError) {
      try await ledger.removeToken(
        token, account: push.account, device: push.device, invalidSince: since, under: seat)
    } catch {
      // APNs will answer the next push to the token in the same way, so the removal is tried again then.
      reportFailure(error)
    }
  }

  private func countRefusal(of token: String, _ push: Ledger.Push, reason: String) async {
    report(.tokenRefused(account: push.account, device: push.device))
    let app = PushSchedule.App(bundleID: push.app, environment: push.environment)
    // Accounts choose the ids of their devices, so only the account and the id together identify a device.
    let known = refused[app]?.count ?? 0
    if known < settings.suspectDevices, refused[app, default: []].insert("\(push.account) \(push.device)").inserted,
      known + 1 == settings.suspectDevices
    {
      report(.allTokensRefused(app, reason: reason))
    }
    do throws(LedgerError) {
      try await ledger.countRefusal(ofToken: token, account: push.account, device: push.device, under: seat)
    } catch {
      reportFailure(error)
    }
  }
}
