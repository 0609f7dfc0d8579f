// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import ConcurrencySupport
import Foundation
import Ledger
import PaymentProviders
import SQLiteLedger
import TestSupport
import Testing

@testable import Announcer

@Suite("Payments of providers are announced once", .timeLimit(.minutes(5)))
final class ProviderPaymentsTests {
  /// Clips that are said to exist. Those of some payments cannot be made.
  private final class StandInClips: ClipMaking {
    let made = Locked<[String]>([])
    let failure = Locked<(@Sendable (Payment) -> (any Error)?)?>(nil)
    /// Called before each clip is made.
    let before = Locked<(@Sendable () async -> Void)?>(nil)

    func made(
      _ announcement: Announcement, options: RenderOptions, group: String, for account: String
    ) async throws -> (report: ClipReport, isCached: Bool) {
      guard case .payment(let payment) = announcement else { throw CancellationError() }
      await before.withLock { $0 }?()
      if let error = failure.withLock({ $0 })?(payment) { throw error }
      made.withLock { $0.append(payment.id ?? "") }
      let clip = ClipReport.Clip(
        name: "a.wav", path: "/a.wav", url: "", bytes: 4, sha256: String(repeating: "0", count: 64),
        durationMilliseconds: 1_200, format: "wav", encoding: "pcm16", sampleRate: 22_050, channels: 1)
      let report = ClipReport(
        id: nil, text: "words", locale: "en-US", method: "speech", voice: "en-us", amount: nil, clip: clip,
        loudnessLUFS: -16, marks: [], shortened: [], unspoken: [], warnings: [], cached: false)
      return (report, false)
    }

    func keeping<Value: Sendable>(
      _ clips: [ClipReport], _ work: @Sendable () async throws -> Value
    ) async throws -> Value? { try await work() }

    func url(ofClip name: String, authority: String?) -> String { "/\(name)" }
  }

  private let folder = FileManager.default.temporaryDirectory.appending(path: "providers-\(UUID().uuidString)")
  private let ledger: any Ledger.Store
  private let clips = StandInClips()
  private let reports = Locked<[ProviderPayments.Report]>([])
  private let service: AnnouncementService
  private let endpoint: ProviderEndpoint
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let books = try PhraseBooks(
      directory: Installation(data: nil, environment: [:], executable: executable).templates)
    service = AnnouncementService(
      ledger: ledger, clips: clips,
      pushes: AnnouncementPushes(lifetime: nil, ledger: ledger, phraseBooks: books) { _ in false },
      groups: AppGroups(standard: "group.crier", listed: [], containers: folder), locale: "en-US",
      lane: PlayingLane("speaker")
    ) { _ in }
    endpoint = ProviderEndpoint(id: "till", provider: .stripe, account: "shop")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns the announcing of payments, without the pauses between attempts.
  private func payments() -> ProviderPayments {
    ProviderPayments(service: service, ledger: ledger, sleep: { _ in await Task.yield() }) { [reports] report in
      reports.withLock { $0.append(report) }
    }
  }

  private func payment(
    _ id: String, _ minor: Int64 = 1_250, _ kind: Payment.Kind = .received, at date: Date? = nil
  ) throws -> ProviderOutcome {
    let currency = try #require(Currency(code: "USD"))
    var payment = ProviderPayment(id: id, kind: kind, amount: try Money(minorUnits: minor, currency: currency))
    payment.occurredAt = date
    return .payment(payment)
  }

  /// Runs the announcing until a condition holds.
  private func announce(
    _ payments: ProviderPayments, until isMet: @escaping @Sendable () async throws -> Bool
  ) async throws {
    let running = Task { await payments.run() }
    defer { running.cancel() }
    try await eventually { try await isMet() }
    running.cancel()
    await running.value
  }

  private func states() async throws -> [Ledger.ProviderPayment.State] {
    try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 100).map(\.state).reversed()
  }

  private func announced() async throws -> [String] {
    try await ledger.unfinished(lane: "speaker").map(\.id)
  }

  @Test("payments of a provider are announced in the order of their reports")
  func order() async throws {
    let payments = payments()
    let outcomes = try (1...20).map { try payment("p\($0)") }
    #expect(try await payments.take(outcomes, for: endpoint, at: now) == Array(repeating: .accepted, count: 20))
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(clips.made.withLock { $0 } == (1...20).map { "till:p\($0)" })
    #expect(try await announced() == (1...20).map { "till:p\($0)" })
  }

  @Test("a payment that several events report is announced once, also after a restart")
  func once() async throws {
    let first = payments()
    #expect(try await first.take([try payment("p")], for: endpoint, at: now) == [.accepted])
    #expect(try await first.take([try payment("p")], for: endpoint, at: now) == [.duplicate])
    try await announce(first) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    let second = payments()
    #expect(try await second.take([try payment("p")], for: endpoint, at: now) == [.duplicate])
    #expect(try await announced() == ["till:p"])
  }

  @Test("two partial refunds with ids of their own are announced, each with its sum")
  func refunds() async throws {
    let payments = payments()
    let outcomes = [try payment("p"), try payment("r1", 300, .refunded), try payment("r2", 400, .refunded)]
    _ = try await payments.take(outcomes, for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    let amounts = try await ledger.unfinished(lane: "speaker").map { entry in
      try PayloadDecoder.storedRequest(entry.payload).announcement
    }.compactMap { if case .payment(let payment) = $0 { payment.amount.decimalText } else { nil } }
    #expect(amounts == ["12.50", "3.00", "4.00"])
  }

  @Test("a refund and a payment with the same id are two announcements")
  func kinds() async throws {
    let payments = payments()
    let outcomes = [try payment("p"), try payment("p", 1_250, .refunded)]
    #expect(try await payments.take(outcomes, for: endpoint, at: now) == [.accepted, .accepted])
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:p", "till:p/refunded"])
  }

  @Test("a payment is recognised by its signed identity, and not by the id that is shown")
  func identity() async throws {
    let payments = payments()
    guard case .payment(var first) = try payment("shown-1") else { return }
    first.identity = "order-1"
    var second = first
    second.id = "shown-2"
    #expect(
      try await payments.take([.payment(first), .payment(second)], for: endpoint, at: now) == [.accepted, .duplicate])
  }

  @Test("a failure reported after the success is ignored, and a failure reported before the success is announced")
  func failures() async throws {
    let payments = payments()
    #expect(try await payments.take([try payment("a", 500, .failed)], for: endpoint, at: now) == [.accepted])
    #expect(try await payments.take([try payment("a", 500)], for: endpoint, at: now) == [.accepted])
    let late = try await payments.take([try payment("a", 500, .failed)], for: endpoint, at: now)
    #expect(late == [.duplicate])
    _ = try await payments.take([try payment("b", 500)], for: endpoint, at: now)
    guard case .ignored = try await payments.take([try payment("b", 500, .failed)], for: endpoint, at: now)[0] else {
      Issue.record("it was not ignored")
      return
    }
  }

  @Test(
    "if the id of a payment is not signed, reports with the same signed identity are one payment, whatever their ids")
  func identities() async throws {
    func payment(_ id: String, _ identity: String, _ kind: Payment.Kind = .received) throws -> ProviderOutcome {
      try self.payment(id, 1_250, kind).with { payment in
        (payment.identity, payment.reference) = (kind == .failed ? identity + "/failed" : identity, identity)
      }
    }
    let payments = payments()
    #expect(try await payments.take([payment("t1", "order-1")], for: endpoint, at: now) == [.accepted])
    #expect(try await payments.take([payment("t2", "order-1")], for: endpoint, at: now) == [.duplicate])
    guard case .ignored = try await payments.take([payment("t3", "order-1", .failed)], for: endpoint, at: now)[0] else {
      Issue.record("the failure was not ignored")
      return
    }
    #expect(try await payments.take([payment("t1", "order-2")], for: endpoint, at: now) == [.accepted])
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:order-1", "till:order-2"])
  }

  @Test("a payment that is older than max_age is stored as late, and is not spoken")
  func age() async throws {
    let payments = payments()
    let old = now.addingTimeInterval(-3_601)
    let young = now.addingTimeInterval(-3_600)
    #expect(
      try await payments.take([try payment("old", at: old), try payment("young", at: young)], for: endpoint, at: now)
        == [.late, .accepted])
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:young"])
    #expect(try await states() == [.late, .announced])
  }

  @Test("a payment that cannot be spoken is refused with the reason, and the next payment is announced")
  func unspeakable() async throws {
    clips.failure.withLock {
      $0 = { payment in
        payment.id == "till:bad"
          ? AnnouncementError(.currencyUnspeakable, "currency", "cannot be spoken", remedy: "use another locale") : nil
      }
    }
    let payments = payments()
    _ = try await payments.take([try payment("bad"), try payment("good")], for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:good"])
    #expect(try await states() == [.refused, .announced])
    #expect(
      reports.withLock { $0 }.contains {
        if case .refused(_, let reason) = $0 { reason.contains("currency") } else { false }
      })
  }

  @Test("a payment that fails again and again does not hold back the payments after it")
  func stubborn() async throws {
    clips.failure.withLock { $0 = { $0.id == "till:bad" ? CocoaError(.fileWriteOutOfSpace) : nil } }
    let payments = ProviderPayments(
      service: service, ledger: ledger, now: quickClock(), sleep: { _ in await Task.yield() }
    ) { _ in }
    _ = try await payments.take([try payment("bad"), try payment("good")], for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.unfinished(lane: "speaker").count == 1 }
    #expect(try await announced() == ["till:good"])
    #expect(try await states() == [.waiting, .announced])
    clips.failure.withLock { $0 = nil }
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:good", "till:bad"])
  }

  /// A clock on which each look is some seconds later than the one before.
  private func quickClock(step: TimeInterval = 10) -> @Sendable () -> Date {
    let time = Locked(0.0)
    return {
      Date(
        timeIntervalSince1970: time.withLock { time in
          time += step
          return time
        })
    }
  }

  @Test("a payment that was under way at two crashes of the service is announced after the other payments")
  func setAside() async throws {
    let first = payments()
    _ = try await first.take([try payment("deadly"), try payment("other")], for: endpoint, at: now)
    let deadly = try await ledger.waitingProviderPayments(after: 0)[0].number
    for _ in 0..<2 { try await ledger.startAnnouncing(providerPayment: deadly) }
    let second = payments()
    try await announce(second) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(clips.made.withLock { $0 } == ["till:other", "till:deadly"])
    #expect(reports.withLock { $0 }.contains { if case .setAside(1) = $0 { true } else { false } })
  }

  @Test("a service that loses the exclusive right to announce providers' payments stops, and reports no failure")
  func lostSeat() async throws {
    let payments = payments()
    _ = try await payments.take([try payment("a"), try payment("b")], for: endpoint, at: now)
    let lost = try #require(try await ledger.takeSeat(of: .providerPayments))
    // The seat is lost while the clip of the first payment is made.
    clips.before.withLock { $0 = { await lost.giveBack() } }
    await payments.run(under: lost)
    #expect(clips.made.withLock { $0 } == ["till:a"])
    #expect(try await states() == [.waiting, .waiting])
    #expect(reports.withLock { $0.isEmpty })
    // Another service announces the first payment, and then this one has the seat again.
    clips.before.withLock { $0 = nil }
    let first = try await ledger.waitingProviderPayments(after: 0)[0].number
    try await ledger.end(providerPayment: first, refusal: nil)
    let seat = try #require(try await ledger.takeSeat(of: .providerPayments))
    let running = Task { await payments.run(under: seat) }
    try await eventually { try await ledger.waitingProviderPayments(after: 0).isEmpty }
    running.cancel()
    await running.value
    #expect(clips.made.withLock { $0 } == ["till:a", "till:b"])
  }

  @Test("a payment waits while the service has no output, and is announced when there is an output")
  func noOutput() async throws {
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let books = try PhraseBooks(
      directory: Installation(data: nil, environment: [:], executable: executable).templates)
    let silent = AnnouncementService(
      ledger: ledger, clips: clips,
      pushes: AnnouncementPushes(lifetime: nil, ledger: ledger, phraseBooks: books) { _ in false },
      groups: AppGroups(standard: "group.crier", listed: [], containers: folder), locale: "en-US", lane: nil
    ) { _ in }
    let failed = Locked(0)
    let payments = ProviderPayments(
      service: silent, ledger: ledger, now: quickClock(step: 600), sleep: { _ in await Task.yield() }
    ) { report in if case .failed = report { failed.withLock { $0 += 1 } } }
    _ = try await payments.take([try payment("p")], for: endpoint, at: now)
    // The clock is hours ahead by then.
    try await announce(payments) { failed.withLock { $0 } > 20 }
    #expect(try await states() == [.waiting])
    try await announce(self.payments()) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await announced() == ["till:p"])
  }

  @Test("a payment that is given up after an hour does not wake the service any more")
  func givenUp() async throws {
    clips.failure.withLock { $0 = { _ in CocoaError(.fileReadCorruptFile) } }
    let sleeps = Locked(0)
    let payments = ProviderPayments(
      service: service, ledger: ledger, now: quickClock(step: 600),
      sleep: { _ in
        sleeps.withLock { $0 += 1 }
        await Task.yield()
      }
    ) { _ in }
    _ = try await payments.take([try payment("p")], for: endpoint, at: now)
    let running = Task { await payments.run() }
    try await eventually { try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await states() == [.refused])
    // Work that ends now may still ask for one pause.
    for _ in 0..<200 { await Task.yield() }
    let before = sleeps.withLock { $0 }
    for _ in 0..<2_000 { await Task.yield() }
    #expect(sleeps.withLock { $0 } - before <= 1)
    running.cancel()
    await running.value
  }

  @Test("twenty payments that cannot be announced delay a good payment only a short time")
  func many() async throws {
    clips.failure.withLock { $0 = { $0.id?.hasPrefix("till:bad") == true ? CocoaError(.fileReadCorruptFile) : nil } }
    let attempts = Locked(0)
    let payments = ProviderPayments(
      service: service, ledger: ledger, now: quickClock(), sleep: { _ in await Task.yield() }
    ) { report in if case .failed = report { attempts.withLock { $0 += 1 } } }
    let outcomes = try (1...20).map { try payment("bad\($0)") } + [try payment("good")]
    _ = try await payments.take(outcomes, for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.unfinished(lane: "speaker").count == 1 }
    #expect(attempts.withLock { $0 } <= 40)
  }

  @Test("two payments whose ids have 200 characters and differ only in the last character are both announced")
  func longIDs() async throws {
    let payments = payments()
    let id = String(repeating: "a", count: 199)
    _ = try await payments.take([try payment(id + "1"), try payment(id + "2")], for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await states() == [.announced, .announced])
    #expect(Set(try await announced()).count == 2)
  }

  @Test(
    "a payment with an empty or very long channel is announced", arguments: ["", " ", "x", "long"])
  func channels(channel: String) async throws {
    let payments = payments()
    guard case .payment(var named) = try payment("p") else { return }
    named.channel = channel == "long" ? String(repeating: "ab", count: 100) : channel
    _ = try await payments.take([.payment(named)], for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await states() == [.announced])
  }

  @Test("a refund is remembered for ever, because providers report a changed refund again")
  func refundIdentity() async throws {
    let payments = payments()
    _ = try await payments.take([try payment("r", 300, .refunded, at: now)], for: endpoint, at: now)
    let later = now.addingTimeInterval(200 * 86_400)
    try await ledger.prune(finishedBefore: later)
    let again = try await payments.take([try payment("r", 300, .refunded, at: later)], for: endpoint, at: later)
    #expect(again == [.duplicate])
  }

  @Test("a refused request that is repeated is stored once, and a different refused request is stored too")
  func refusedOnce() async throws {
    let payments = payments()
    let bodies = ["a", "a", "b"].map { Data($0.utf8) }
    for body in bodies { _ = try await payments.take([.refused("no sum")], of: body, for: endpoint, at: now) }
    #expect(try await states() == [.refused, .refused])
  }

  @Test("the texts of a provider's payment are cut to the length that a payload may have")
  func texts() async throws {
    let payments = payments()
    guard case .payment(var named) = try payment("p") else { return }
    named.payer = String(repeating: "ab ", count: 100)
    named.note = " "
    _ = try await payments.take([.payment(named)], for: endpoint, at: now)
    try await announce(payments) { [ledger] in try await ledger.waitingProviderPayments(after: 0).isEmpty }
    #expect(try await states() == [.announced])
  }
}
