// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Crypto
package import Foundation
package import Ledger
package import PaymentProviders
import SpeechEngine
import VoicePackIntegrity
import VoicePacks

/// Announces the payments that providers' webhooks report.
///
/// A request of a provider is answered as soon as its payments are durable. Their clips are made afterwards. The clips
/// of one account are made one after another, in the order of the reports.
package actor ProviderPayments {
  /// The mark in the id of a test of an endpoint, and in the id of the test's announcement.
  package static let testMark = "crier-test-"

  /// The outcome of one entry of a request.
  package enum Result: Sendable, Hashable {
    case accepted
    case late
    case duplicate
    /// The entry is not announced, for this reason.
    case ignored(String)
    /// The payment cannot be announced, for this reason, which contains no amounts and names.
    case refused(String)
  }

  /// An event of a payment after its request was answered, for logs, metrics and events.
  package enum Report: Sendable {
    case announced(Ledger.ProviderPayment)
    case refused(Ledger.ProviderPayment, reason: String)
    /// Nothing can be announced at the moment. It is tried again.
    case failed(any Error & Sendable, endpoint: String)
    case setAside(count: Int)
  }

  /// The number of payments of an account that are announced before other payments are looked for.
  private static let mostOfAccount = 8
  /// The shortest and the longest pause of an account after a failed attempt, in seconds. The pause doubles with each
  /// failure.
  private static let pauses: ClosedRange<TimeInterval> = 1...60
  /// The number of failed attempts after which later payments of the account are announced first.
  private static let patience = 3
  /// The time for which a payment is tried, in seconds. After an hour, the payment is too old to be announced.
  private static let longestTrying: TimeInterval = 3_600

  private let service: AnnouncementService
  private let ledger: any Ledger.ProviderPaymentStore
  private let now: @Sendable () -> Date
  private let report: @Sendable (Report) -> Void
  private let signal: WorkSignal

  /// The seat of the present run; nil if no other process can announce payments.
  private var seat: DeliverySeat?
  /// The payments that wait, oldest first, by account.
  private var waiting: [String: [Ledger.ProviderPayment]] = [:]
  private var lastNumber: Int64 = 0
  /// The numbers of the payments that a crash interrupted.
  private var suspects: Set<Int64> = []
  /// The payments that two crashes in a row interrupted.
  private var setAside = SetAsideWork<Ledger.ProviderPayment, Date>()
  /// The accounts for which nothing can be announced at the moment: the time of the next attempt, and the number of
  /// failures.
  private var resting: [String: (until: Date, failures: Int)] = [:]
  /// The payments that could not be announced, by number: the time of the first failure, and the number of failed
  /// attempts.
  private var failing: [Int64: (since: Date, failures: Int)] = [:]

  /// - Parameters:
  ///   - now: Returns the time of a clock that is never adjusted.
  ///   - sleep: Waits for a duration.
  ///   - report: Called with each ``Report``. It must return at once.
  package init(
    service: AnnouncementService, ledger: any Ledger.ProviderPaymentStore,
    now: @escaping @Sendable () -> Date = SteadyClock().now,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    report: @escaping @Sendable (Report) -> Void
  ) {
    (self.service, self.ledger, self.now, self.report) = (service, ledger, now, report)
    signal = WorkSignal(sleep: sleep)
  }

  // MARK: Accepting

  /// Stores the payments that a request reports. When the call returns, they are durable, or were known before.
  ///
  /// - Parameters:
  ///   - body: The request's body.
  ///   - moment: The time of the request's arrival.
  /// - Returns: The result of each outcome, in the same order.
  /// - Throws: `LedgerError`, after which nothing is stored.
  package nonisolated func take(
    _ outcomes: [ProviderOutcome], of body: Data = Data(), for endpoint: ProviderEndpoint, at moment: Date
  ) async throws -> [Result] {
    let reports = Self.reports(of: outcomes, in: body, for: endpoint, at: moment)
    var acceptances: [Ledger.ProviderAcceptance] = []
    let stored = reports.compactMap(\.self)
    if !stored.isEmpty { acceptances = try await ledger.accept(providerPayments: stored) }
    if acceptances.contains(.accepted) { signal.announceNews() }
    var rest = acceptances[...]
    return zip(outcomes, reports).map { outcome, report in
      guard report != nil, let acceptance = rest.popFirst() else { return .ignored(outcome.ignoredReason ?? "") }
      return switch acceptance {
      case .accepted: .accepted
      case .late: .late
      case .duplicate: .duplicate
      case .afterSuccess: .ignored("the payment has succeeded before")
      case .otherSum: .refused(Ledger.otherSum)
      case .refused: .refused(outcome.refusedReason ?? "")
      }
    }
  }

  /// Returns the ledger's report of each outcome; nil for an ignored outcome.
  package static func reports(
    of outcomes: [ProviderOutcome], in body: Data, for endpoint: ProviderEndpoint, at moment: Date
  ) -> [Ledger.NewProviderPayment?] {
    outcomes.map { outcome in
      switch outcome {
      case .payment(let payment): ProviderPayload(payment: payment, endpoint: endpoint).report(at: moment)
      case .refused(let reason, let id):
        ProviderPayload.refusal(reason, of: id, in: body, for: endpoint, at: moment)
      case .ignored: nil
      }
    }
  }

  // MARK: Announcing

  /// Looks for payments that another process has stored.
  package nonisolated func lookForPayments() { signal.announceNews() }

  /// The number of payments that wait, without those that are set aside.
  package var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }
  package var setAsideCount: Int { setAside.count }

  /// Announces payments until the task is cancelled or the seat is lost. The call can be repeated, and reads all waiting
  /// payments anew then, because another process may have announced some meanwhile.
  ///
  /// - Parameter seat: The seat of this process; nil if no other process can announce payments.
  package func run(under seat: DeliverySeat? = nil) async {
    self.seat = seat
    (waiting, lastNumber, suspects, setAside) = ([:], 0, [], SetAsideWork())
    (resting, failing) = ([:], [:])
    signal.announceNews()
    while !Task.isCancelled, seat?.isUsable ?? true {
      if signal.takeNews() { await load() }
      // A payment that is set aside waits for the other payments. If there are always others, it is announced after ten
      // minutes.
      if let payment = setAside.next(at: now().addingTimeInterval(-InterruptedWork.longestDelay)) {
        _ = await announce(payment)
        continue
      }
      if await announceSome() { continue }
      // No other payment is being announced now. If this one crashes the process again, no other payment is suspected.
      if let payment = setAside.next(at: now()) {
        _ = await announce(payment)
        continue
      }
      await signal.wait(atMost: nextMoment.map { .seconds(max(0.001, $0.timeIntervalSince(now()))) })
    }
  }

  private var nextMoment: Date? {
    let rests = resting.values.map(\.until).min()
    return [rests, setAside.nextMoment].compactMap(\.self).min()
  }

  private func load() async {
    var newlyAside = 0
    do {
      while true {
        let payments = try await ledger.waitingProviderPayments(after: lastNumber)
        for payment in payments {
          if let pause = InterruptedWork.pause(afterStarts: payment.starts, isHeard: true) {
            setAside.add(payment, until: now().addingTimeInterval(pause))
            newlyAside += 1
          } else {
            waiting[payment.account, default: []].append(payment)
            if payment.starts > 0 { suspects.insert(payment.number) }
          }
        }
        guard let last = payments.last else { break }
        lastNumber = last.number
      }
    } catch {
      report(.failed(error, endpoint: ""))
      signal.announceNews(after: .seconds(1))
    }
    if newlyAside > 0 { report(.setAside(count: newlyAside)) }
  }

  /// Announces some of the waiting payments of each account, usually for all accounts at the same time.
  ///
  /// - Returns: Whether there were any.
  private func announceSome() async -> Bool {
    let moment = now()
    // Each turn is a new array of a few payments. With a slice, removing the first payment would copy the whole
    // backlog.
    let turns = waiting.compactMap { account, payments -> [Ledger.ProviderPayment]? in
      guard resting[account].map({ $0.until <= moment }) ?? true else { return nil }
      // If a crash interrupted a payment of the account, the account's payments are announced one at a time.
      let isSuspect = !suspects.isEmpty && payments.contains { suspects.contains($0.number) }
      return Array(payments.prefix(isSuspect || resting[account] != nil ? 1 : Self.mostOfAccount))
    }
    guard !turns.isEmpty else { return false }
    let isAnySuspect = turns.contains { $0.contains { $0.starts > 0 } }
    if isAnySuspect {
      for turn in turns { await announce(turn) }
    } else {
      await withDiscardingTaskGroup { group in
        for turn in turns { group.addTask { await self.announce(turn) } }
      }
    }
    return true
  }

  /// Announces payments of one account, one after another, until one fails.
  private func announce(_ payments: [Ledger.ProviderPayment]) async {
    for payment in payments {
      guard !Task.isCancelled, await announce(payment) else { return }
    }
  }

  /// Announces a payment.
  ///
  /// - Returns: Whether it was announced or refused. If not, it waits for another attempt.
  private func announce(_ payment: Ledger.ProviderPayment) async -> Bool {
    do {
      try await ledger.startAnnouncing(providerPayment: payment.number, under: seat)
      var refusal: String?
      do {
        try await accept(payment)
      } catch  where Self.isFinal(error) {
        refusal = "\(error)"
      }
      try await end(payment, refusal: refusal)
      resting[payment.account] = nil
      return true
    } catch {
      // The service was told to stop, or the attempt failed and may succeed later. The process did not crash, so this
      // start must not count as interrupted by a crash.
      try? await ledger.stopAnnouncing(providerPayment: payment.number, under: seat)
      if Task.isCancelled || (error as? LedgerError)?.code == .leaseLost { return false }
      await postpone(payment, after: error)
      return false
    }
  }

  /// Whether every attempt to announce a payment would end with an error. The provider does not send the payment a
  /// second time, so errors that somebody at the shop can correct are not final: errors of a voice pack, an output, a
  /// device or an app.
  private static func isFinal(_ error: any Error) -> Bool {
    switch error {
    case let error as AcceptanceError: [.fieldInvalid, .idConflict].contains(error.code)
    case is VoicePackError, is VoicePackIntegrityError: false
    case let error as AnnouncerError: error.code == .tooLong
    case let error as SpeechEngineError: error.code == .textUnspeakable
    default: RequestFault.isCause(of: error)
    }
  }

  /// Whether a payment waits for as long as an error lasts, because the error is not about the payment.
  private static func isPatient(_ error: any Error) -> Bool {
    error is LedgerError || (error as? AcceptanceError)?.code == .playerUnavailable
  }

  private func end(_ payment: Ledger.ProviderPayment, refusal: String?) async throws {
    try await ledger.end(providerPayment: payment.number, refusal: refusal, under: seat)
    report(refusal.map { .refused(payment, reason: $0) } ?? .announced(payment))
    remove(payment)
    failing[payment.number] = nil
    suspects.remove(payment.number)
  }

  private func remove(_ payment: Ledger.ProviderPayment) {
    // The payment is one of the first in the list, however long the list is, so the search is short.
    if let index = waiting[payment.account]?.firstIndex(where: { $0.number == payment.number }) {
      waiting[payment.account]?.remove(at: index)
    }
    // If no payment of the account is left, the end of its pause would wake the loop for nothing.
    if waiting[payment.account]?.isEmpty == true { (waiting[payment.account], resting[payment.account]) = (nil, nil) }
  }

  private func postpone(_ payment: Ledger.ProviderPayment, after error: any Error) async {
    let moment = now()
    report(.failed(error, endpoint: payment.endpoint))
    var (since, failures) = failing[payment.number] ?? (moment, 0)
    failures += 1
    failing[payment.number] = (since, failures)
    let isOver = moment.timeIntervalSince(since) > Self.longestTrying && !Self.isPatient(error)
    if isOver, (try? await end(payment, refusal: "The payment could not be announced for an hour: \(error)")) != nil {
      return
    }
    // If some of the account's payments have not been tried yet, the pause is short.
    let isHopeless = waiting[payment.account]?.allSatisfy { failing[$0.number] != nil } ?? true
    let pauses = (resting[payment.account]?.failures ?? 0) + 1
    let pause =
      isHopeless
      ? min(Self.pauses.upperBound, Self.pauses.lowerBound * pow(2, Double(min(pauses, 10) - 1)))
      : Self.pauses.lowerBound
    remove(payment)
    resting[payment.account] = (moment.addingTimeInterval(pause), pauses)
    // While the ledger fails, nothing else can be announced either. If another payment has failed again and again, this
    // payment goes to the end of the list at its first failure.
    let isOneOfMany = failing.contains { $0.key != payment.number && $0.value.failures >= Self.patience }
    let isLast = (failures >= Self.patience || isOneOfMany) && !(error is LedgerError)
    waiting[payment.account, default: []].insert(
      payment, at: isLast ? waiting[payment.account]?.endIndex ?? 0 : 0)
  }

  /// Accepts the announcement of a payment, or finds that it was accepted before.
  private func accept(_ payment: Ledger.ProviderPayment) async throws {
    guard let payload = payment.payload else { return }
    let order = try service.order(
      Submission(
        account: payment.account, defaults: AnnouncementRequest.Defaults(), body: payload,
        bodyDigest: Data(SHA256.hash(data: payload))))
    _ = try await service.accept(order)
  }
}
