// SPDX-License-Identifier: Apache-2.0

public import ConcurrencySupport
public import Foundation
public import Ledger
public import WebhookMessages

/// Sends the messages of a ledger's outbox to the endpoints of accounts until each of them has ended.
///
/// - A message is delivered at least once. If the process ends between the receiver's answer and the record of it, the
///   message is sent again with the same `webhook-id`.
/// - A message is marked in the ledger before it is sent. A message that two crashes in a row interrupted is set aside,
///   and sent later, alone; see `InterruptedWork`.
/// - Only one sender of a ledger runs at a time; see `Ledger.SeatStore.takeSeat(of:)`. A sender that has lost its seat
///   begins no more attempts, and stores no more outcomes.
public actor WebhookSender {
  /// A report of the sender, for logs and metrics. It contains no URLs, secrets or announcements.
  public enum Report: Sendable, Hashable {
    /// An attempt to send a message has ended.
    case attempted(WebhookOutcome)
    /// An attempt has found whether a connection to an endpoint can be opened.
    case connected(Bool, account: String, endpoint: String, WebhookOutcome)
    /// Messages have ended in a state.
    case ended(Ledger.Webhook.State, count: Int)
    /// An endpoint was disabled.
    case disabled(account: String, endpoint: String, Ledger.WebhookEndpoint.DisabledReason)
    /// Messages that two crashes in a row interrupted are set aside.
    case setAside(count: Int)
    /// The ledger's secret of an endpoint cannot be read. The message is tried again in an hour.
    case secretUnreadable(account: String, endpoint: String)
    /// The ledger could not be read or written. The sender tries again.
    case ledgerFailed(LedgerError)
  }

  public struct Settings: Sendable, Hashable {
    /// The maximum number of messages that are sent at a time.
    public var mostUnderWay = 256
    /// The maximum number of messages that are sent to an endpoint at a time.
    public var mostOfOne = 4
    /// The pauses between the attempts of a message.
    public var retry = WebhookRetry()
    /// The shortest pause between two attempts to an endpoint that fails, in seconds.
    public var shortestRest: TimeInterval = 5

    public init() {}
  }

  private let ledger: any Ledger.WebhookStore
  private let client: WebhookClient
  private let settings: Settings
  private let now: @Sendable () -> Date
  private let date: @Sendable () -> Date
  private let sleep: @Sendable (Duration) async throws -> Void
  private let random: @Sendable () -> UInt64
  private let report: @Sendable (Report) -> Void
  /// The seat of the present run; nil if no other sender can exist.
  private var seat: DeliverySeat?
  private var schedule: WebhookSchedule
  private var lastNumber: Int64 = 0
  /// The time at which the sender last looked at the schedule; nil before the first time.
  private var lastLook: Date?
  /// The time since which the sender could send messages: its start, or the end of the machine's last sleep.
  private var present = Date.distantPast
  private let signal: WorkSignal

  /// - Parameters:
  ///   - now: Returns the time of a monotonic clock. Pauses and deadlines are computed with it.
  ///   - date: Returns the date and time, for signatures and for times that are stored.
  ///   - sleep: Waits for a duration.
  ///   - random: Returns a random number for the pauses between attempts.
  ///   - report: Called with everything that happens. It must return at once.
  public init(
    ledger: any Ledger.WebhookStore, client: WebhookClient, settings: Settings = Settings(),
    now: @escaping @Sendable () -> Date = SteadyClock().now,
    date: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) },
    report: @escaping @Sendable (Report) -> Void = { _ in }
  ) {
    self.ledger = ledger
    self.client = client
    self.settings = settings
    self.now = now
    self.date = date
    self.sleep = sleep
    self.random = random
    self.report = report
    schedule = WebhookSchedule(mostOfOne: settings.mostOfOne)
    signal = WorkSignal(sleep: sleep)
  }

  /// Tells the sender that the outbox may have new messages.
  public nonisolated func lookForMessages() { signal.announceNews() }

  /// The number of messages that have not ended, as far as the sender knows.
  public var waitingCount: Int { schedule.count }

  /// The number of messages that are set aside; see `InterruptedWork`.
  public var setAsideCount: Int { schedule.setAsideCount }

  /// Sends messages until the task is cancelled or the seat is lost. Attempts without an answer are then given up and not
  /// recorded, so the next sender makes them again. The call can be repeated, and reads the whole outbox anew then,
  /// because another sender may have sent messages meanwhile.
  ///
  /// - Parameter seat: The seat of the sender; nil if no other sender can exist.
  public func run(under seat: DeliverySeat? = nil) async {
    (self.seat, schedule, lastNumber) = (seat, WebhookSchedule(mostOfOne: settings.mostOfOne), 0)
    (lastLook, present) = (nil, .distantPast)
    signal.announceNews()
    ledger.onNewWebhooks { [weak self] in self?.lookForMessages() }
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled, maySend {
        notePresence()
        if signal.takeNews() { await load() }
        let turn = schedule.next(at: now(), room: max(0, settings.mostUnderWay - schedule.underWay))
        if !turn.isEmpty { await start(turn, in: &group) }
        if schedule.underWay < settings.mostUnderWay, schedule.nextMoment.map({ $0 <= now() }) == true { continue }
        // If the maximum number of messages is being sent, only an answer makes room.
        let next = schedule.underWay < settings.mostUnderWay ? schedule.nextMoment : nil
        await signal.wait(atMost: next.map { .seconds(max(0.001, $0.timeIntervalSince(now()))) })
      }
    }
    await client.close()
  }

  private var maySend: Bool { seat?.isUsable ?? true }

  /// The delay of an attempt, in seconds, above which the sender assumes that no sender was running.
  private static let absence: TimeInterval = 3_600

  private func notePresence() {
    let current = now()
    if lastLook.map({ current.timeIntervalSince($0) > Self.absence }) ?? true { present = current }
    lastLook = current
  }

  /// Adds the messages that are new in the outbox.
  private func load() async {
    var setAside = 0
    do throws(LedgerError) {
      while true {
        let messages = try await ledger.unfinishedWebhooks(after: lastNumber)
        for message in messages {
          // Only messages that were stored before the sender started can have been interrupted.
          let pause = InterruptedWork.pause(afterStarts: message.starts)
          if pause != nil { setAside += 1 }
          schedule.add(onOwnClock(message), setAsideUntil: pause.map { now().addingTimeInterval($0) })
        }
        guard let last = messages.last else { break }
        lastNumber = last.number
      }
    } catch {
      report(.ledgerFailed(error))
      signal.announceNews(after: .seconds(1))
    }
    if setAside > 0 { report(.setAside(count: setAside)) }
  }

  /// Returns a message with its times on the sender's clock. The times were stored as dates, and the system's clock may
  /// have been set since. If a time is further ahead than the length of its pause, it is replaced by the present time.
  private func onOwnClock(_ message: Ledger.UnfinishedWebhook) -> Ledger.UnfinishedWebhook {
    let (current, date) = (now(), date())
    let wait = message.nextAt.timeIntervalSince(date)
    let pause = message.nextAt.timeIntervalSince(message.computedAt)
    var message = message
    message.nextAt = wait > max(0, pause) ? current : current.addingTimeInterval(wait)
    message.firstAttemptAt = message.firstAttemptAt.map { min(current, current + $0.timeIntervalSince(date)) }
    return message
  }

  /// Marks messages in the ledger, and sends them.
  private func start(_ turn: [WebhookSchedule.Entry], in group: inout DiscardingTaskGroup) async {
    do throws(LedgerError) {
      let started = try await ledger.startSending(webhooks: turn.map(\.message), under: seat)
      let found = Dictionary(started.map { ($0.number, $0) }) { first, _ in first }
      for entry in turn {
        guard let message = found[entry.message] else {
          // The message has ended, or its endpoint was removed.
          schedule.ended(entry, .unknown)
          continue
        }
        group.addTask { await self.send(message, of: entry) }
      }
    } catch {
      if error.code != .leaseLost { report(.ledgerFailed(error)) }
      for entry in turn { schedule.notStarted(entry, at: now().addingTimeInterval(1)) }
    }
  }

  /// Sends a message once, and stores the outcome.
  private func send(_ found: Ledger.WebhookToSend, of entry: WebhookSchedule.Entry) async {
    defer { signal.wake() }
    var entry = entry
    let (startedAt, startDate) = (now(), date())
    guard let secret = found.secret else {
      report(.secretUnreadable(account: found.account, endpoint: found.endpoint))
      try? await ledger.stopSending(webhook: entry.message, under: seat)
      return schedule.retry(entry, at: startedAt.addingTimeInterval(3_600), .unknown)
    }
    guard maySend else { return schedule.retry(entry, at: startedAt, .unknown) }
    // While no sender was running, the receiver could not get the message. The time for its attempts therefore begins
    // again.
    let isFirst = present.timeIntervalSince(entry.dueAt) > Self.absence
    let answer = await client.send(found.message, to: found.url, secrets: [secret], at: date())
    if Task.isCancelled, answer.status == nil {
      // If this is not stored, the message counts as interrupted once, which does no harm.
      try? await ledger.stopSending(webhook: entry.message, under: seat)
      return schedule.retry(entry, at: startedAt, .unknown)
    }
    report(.attempted(answer.outcome))
    if let couldConnect = answer.couldConnect {
      report(.connected(couldConnect, account: found.account, endpoint: found.endpoint, answer.outcome))
    }
    let first = isFirst ? startedAt : entry.firstAttemptAt ?? startedAt
    entry.firstAttemptAt = first
    let nextAt =
      answer.outcome.consequence == .retry
      ? settings.retry.nextAttempt(
        at: now(), afterAttempts: isFirst ? 1 : found.attempts + 1, first: first, requested: answer.requestedPause,
        random: random()) : nil
    let attempt = Ledger.WebhookAttempt(
      startedAt: startDate, outcome: answer.outcome,
      nextAt: nextAt.map { date().addingTimeInterval($0.timeIntervalSince(now())) },
      patience: settings.retry.lifetime, isFirst: isFirst, status: answer.status,
      milliseconds: Int(now().timeIntervalSince(startedAt) * 1000))
    guard let record = await store(attempt, of: entry.message) else {
      return schedule.ended(entry, .unknown)
    }
    // A pause that the receiver asks for applies to all its messages.
    let pause = max(settings.shortestRest, min(answer.requestedPause ?? 0, WebhookRetry.longestRequest))
    let result: WebhookSchedule.Result =
      record.state == .delivered ? .succeeded : .failed(restUntil: now().addingTimeInterval(pause))
    if record.state == .waiting, let nextAt {
      schedule.retry(entry, at: nextAt, result)
    } else {
      schedule.ended(entry, result)
      report(.ended(record.state, count: 1))
    }
    guard let reason = record.disabled else { return }
    schedule.drop(record.expired, of: entry.endpoint)
    if !record.expired.isEmpty { report(.ended(.expired, count: record.expired.count)) }
    report(.disabled(account: found.account, endpoint: found.endpoint, reason))
  }

  /// Stores an attempt, however long it takes.
  ///
  /// - Returns: nil if the message has ended or was removed meanwhile, or if the sender ends or loses its seat first. In
  ///   the last two cases the next sender sends the message again.
  private func store(_ attempt: Ledger.WebhookAttempt, of number: Int64) async -> Ledger.WebhookRecord? {
    while true {
      do throws(LedgerError) {
        return try await ledger.record(attempt, ofWebhook: number, under: seat)
      } catch {
        if error.code == .leaseLost { return nil }
        report(.ledgerFailed(error))
        guard (try? await sleep(.seconds(1))) != nil else { return nil }
      }
    }
  }
}
