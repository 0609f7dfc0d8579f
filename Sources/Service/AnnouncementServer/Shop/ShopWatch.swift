// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import Playback

/// Watches the shop: collects the facts for its state, reports changes, and raises and ends alarms in the log, the
/// event streams, the metrics and the webhooks.
actor ShopWatch {
  /// The parts of the service that know about the shop.
  struct Parts: Sendable {
    var ledger: any Ledger.Store
    var player: LanePlayer?
    var pushes: PushService?
    var webhooks: WebhookService?
    var providers: ProviderEndpoints
    var readiness: Readiness
    var setAside: @Sendable () async -> Ledger.SetAsideCounts
    var payments: LatestPayment
    /// Returns whether the shop is open at a moment. Without hours, it is always open.
    var isOpen: @Sendable (Date) -> Bool
  }

  /// The time between two looks.
  static let interval: Duration = .seconds(5)
  /// The time for which the player may be missing before this counts as a problem. It is missing for a moment when the
  /// service starts, and while `crier play` plays a file.
  static let patience: Duration = .seconds(10)
  /// The time for which facts that take long to collect are remembered.
  private static let memory: Duration = .seconds(30)

  private let parts: Parts
  private let settings: AlarmSettings
  private let hub: EventHub
  private let logger: Logger
  private let time: @Sendable () -> Duration
  private let engine: Remembered<Readiness.Check>
  private let silence: Remembered<Duration?>
  private var alarms: AlarmWatch?
  private var began: [Alarm: Date] = [:]
  /// The news that could not be stored.
  private var untold: [AlarmWatch.News] = []
  private var missingSince: Duration?
  private var last: ShopFacts?

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(
    _ parts: Parts, settings: AlarmSettings, hub: EventHub, logger: Logger, time: @escaping @Sendable () -> Duration
  ) {
    (self.parts, self.settings, self.hub, self.logger, self.time) = (parts, settings, hub, logger, time)
    engine = Remembered(for: Self.memory, time: time) { [readiness = parts.readiness] in await readiness.engineCheck }
    silence = Remembered(for: Self.memory, time: time) { [payments = parts.payments, isOpen = parts.isOpen] in
      guard settings.silentHours > 0, let latest = await payments.date else { return nil }
      return OpenTime.between(latest, Date(), upTo: .seconds(3_600 * settings.silentHours), isOpen: isOpen)
    }
  }

  /// The alarms that are on.
  var activeAlarms: Set<Alarm> { alarms?.active ?? [] }

  /// Looks at the shop regularly until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await look()
      // The sleep throws only when the task is cancelled, and the loop ends then.
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Looks at the shop now, and reports changes.
  @discardableResult
  func look() async -> ShopFacts {
    var facts = await find()
    let now = time()
    await restoreAlarms(at: now)
    let found = await alarmFacts(facts)
    let news = alarms?.look(found, at: now) ?? []
    for one in news { began[one.alarm] = one.hasBegun ? Date() : nil }
    facts.alarms = began
    facts.firstSeen = firstSeen(facts)
    keepTimes(of: &facts)
    // The free space is not compared, because it changes all the time. If it becomes a problem, that problem is in
    // `firstSeen`.
    var (told, new) = (last, facts)
    told?.freeBytes = nil
    new.freeBytes = nil
    last = facts
    if told != new { hub.tell(.shop(facts)) }
    for one in news { tell(one, facts) }
    untold += news
    await store(facts)
    return facts
  }

  // MARK: Finding out

  private func find() async -> ShopFacts {
    var facts = ShopFacts()
    await findPlayer(&facts)
    let ledger = parts.ledger
    do throws(LedgerError) {
      let lanes = try await ledger.waitingLanes()
      facts.unplayed = lanes.filter { !$0.isPlayed && $0.lane != parts.player?.lane }.reduce(0) { $0 + $1.count }
      for endpoint in try await ledger.disabledWebhookEndpoints() {
        facts.endpoints[endpoint.account, default: .init()].disabled = endpoint.count
        facts.endpoints[endpoint.account, default: .init()].disabledSince = endpoint.since
      }
    } catch {
      facts.ledgerFault = error.code.rawValue
    }
    if let pushes = parts.pushes {
      let waiting = await pushes.waitingCount
      (facts.pushServer, facts.pushOutage) = pushes.reach.outage(waiting: waiting)
      facts.pushStop = await pushes.longestStop
    }
    if let webhooks = parts.webhooks {
      for (account, outage) in webhooks.reach.outages(waiting: await webhooks.waitingCount) {
        facts.endpoints[account, default: .init()].unreachable = outage
      }
    }
    facts.areProvidersInvalid = !parts.providers.check.ok
    facts.freeBytes = await parts.readiness.diskCheck().freeBytes
    let engine = await engine.value
    facts.engineFault = engine.ok ? nil : engine.code
    facts.speechServerOutage = await parts.readiness.speechServerOutage
    facts.setAside = await parts.setAside().total
    return facts
  }

  private func findPlayer(_ facts: inout ShopFacts) async {
    guard let lane = parts.player else { return }
    guard let status = try? await lane.player?.status() else {
      let since = missingSince ?? time()
      missingSince = since
      facts.isPlayerMissing = time() - since >= Self.patience
      facts.waiting = (try? await parts.ledger.unfinishedAloneCount(lane: lane.lane)) ?? last?.waiting ?? 0
      return
    }
    missingSince = nil
    (facts.waiting, facts.pause) = (status.unheardCount, status.pause)
    facts.deviceLoss = status.deviceLoss.map { .init(since: $0.since, cause: $0.code) }
    facts.blockage = status.blockage.map { .init(since: $0.since, cause: $0.code) }
  }

  private func alarmFacts(_ facts: ShopFacts) async -> AlarmWatch.Facts {
    func age(_ date: Date?) -> Duration? { date.map { .seconds(-$0.timeIntervalSinceNow) } }
    var found = AlarmWatch.Facts(isPushUnreachable: facts.pushOutage != nil, silentFor: await silence.value)
    found.isOpen = parts.isOpen(Date())
    // A player that has only just gone may come back.
    if parts.player != nil, missingSince == nil {
      found.player = .init(
        deviceLostFor: age(facts.deviceLoss?.since), pausedFor: age(facts.pause?.since), waiting: facts.waiting)
    }
    return found
  }

  /// Returns, for each present problem, the time at which it was first seen.
  private func firstSeen(_ facts: ShopFacts) -> [ShopProblem.Code: Date] {
    let codes = ShopState(of: facts, for: .all).problems.map(\.code)
    let now = Date()
    return Dictionary(uniqueKeysWithValues: codes.map { ($0, last?.firstSeen[$0] ?? now) })
  }

  /// Keeps the times of outages that are still the same. They are computed from another clock, so they differ a little
  /// each time.
  private func keepTimes(of facts: inout ShopFacts) {
    func kept(_ outage: ShopFacts.Outage?, _ before: ShopFacts.Outage?) -> ShopFacts.Outage? {
      guard var outage, let since = outage.since, let earlier = before?.since else { return outage }
      if abs(since.timeIntervalSince(earlier)) < 2 { outage.since = earlier }
      return outage
    }
    facts.pushOutage = kept(facts.pushOutage, last?.pushOutage)
    facts.speechServerOutage = kept(facts.speechServerOutage, last?.speechServerOutage)
    for (account, endpoints) in facts.endpoints {
      let outage = kept(endpoints.unreachable, last?.endpoints[account]?.unreachable)
      facts.endpoints[account]?.unreachable = outage
    }
  }

  // MARK: Alarms

  private var lane: String { parts.player?.lane ?? "" }

  /// Reads, at the first look, which alarms were reported before the restart.
  private func restoreAlarms(at now: Duration) async {
    guard alarms == nil, let told = try? await parts.ledger.activeAlarms(lane: lane), alarms == nil else { return }
    let active = Alarm.allCases.filter { told[$0.webhook] != nil }
    for alarm in active { began[alarm] = told[alarm.webhook] }
    alarms = AlarmWatch(settings, active: Set(active), at: now)
  }

  private func tell(_ news: AlarmWatch.News, _ facts: ShopFacts) {
    let metadata: Logger.Metadata = ["alarm": "\(news.alarm.rawValue)", "waiting": "\(facts.waiting)"]
    if news.hasBegun {
      logger.warning("\(news.alarm.words) GET /v1/shop says what to do.", metadata: metadata)
    } else {
      logger.notice("An alarm has ended.", metadata: metadata)
    }
    let detail = ["alarm": news.alarm.rawValue, "state": news.hasBegun ? "began" : "ended"]
    hub.tell(LiveEvent(kind: .alarm, detail: detail))
  }

  /// Stores the messages about changes. A message that cannot be stored is tried again at the next look.
  private func store(_ facts: ShopFacts) async {
    while let news = untold.first {
      do throws(LedgerError) {
        try await parts.ledger.tellAlarm(
          news.alarm.webhook, lane: lane, hasBegun: news.hasBegun, detail: ["waiting": String(facts.waiting)])
      } catch {
        return
      }
      if untold.first == news { untold.removeFirst() }
    }
  }
}

extension Alarm {
  /// The problem, as a sentence.
  fileprivate var words: String {
    switch self {
    case .deviceLost: "The sound device is still lost, so nothing is heard."
    case .paused: "The player is still paused, so nothing is heard."
    case .queueLong: "Many announcements wait to be heard."
    case .pushUnreachable: "Pushes do not reach APNs."
    case .shopSilent: "The shop is open, and no payment has come for a long time."
    }
  }
}
