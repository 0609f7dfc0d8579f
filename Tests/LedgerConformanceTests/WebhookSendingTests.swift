// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing
import WebhookMessages

@Suite("Sending webhooks from the ledger", .removesLedgers)
struct WebhookSendingTests {
  private static let days: TimeInterval = 86_400

  @Test(
    "a delivered webhook message ends, and a failed message waits with the same id and body",
    arguments: LedgerUnderTest.all)
  func attempts(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    _ = try await ledger.accept(answer: renderedAnswer("A"))
    let waiting = try #require(try await ledger.unfinishedWebhooks().first)
    #expect(waiting.nextAt == place.clock.now && waiting.firstAttemptAt == nil)
    let before = try #require(try await ledger.startSending(webhooks: [waiting.number]).first)
    #expect(before.attempts == 0)
    let first = place.clock.now
    #expect(try await ledger.record(.serverFailed, waiting.number, at: place.clock.now)?.state == .waiting)
    place.clock.advance(by: 7)
    let again = try #require(try await ledger.startSending(webhooks: [waiting.number]).first)
    #expect(again.message == before.message && again.attempts == 1)
    let unfinished = try #require(try await ledger.unfinishedWebhooks().first)
    #expect(unfinished.nextAt == first.addingTimeInterval(5))
    #expect(unfinished.computedAt == first && unfinished.firstAttemptAt == first)
    var shown = try await ledger.endpoint(id)
    #expect(shown.failingSince == first && shown.lastOutcome == .serverFailed && shown.lastAttemptAt == first)
    #expect(try await ledger.record(.delivered, waiting.number, at: place.clock.now)?.state == .delivered)
    #expect(try await ledger.record(.delivered, waiting.number, at: place.clock.now) == nil)
    shown = try await ledger.endpoint(id)
    #expect(shown.failingSince == nil && shown.lastOutcome == .delivered && shown.deliveredAt == place.clock.now)
    #expect(shown.counts.waiting == 0 && shown.counts.delivered == 1)
    #expect(try await ledger.startSending(webhooks: [waiting.number]).isEmpty)
    let stored = try #require(try await ledger.webhooks(account: "shop", endpoint: id).first)
    #expect(stored.state == .delivered && stored.attempts == 2 && stored.finishedAt == place.clock.now)
  }

  @Test(
    "after three days of only failed attempts, the webhook endpoint is disabled and its messages expire",
    arguments: LedgerUnderTest.all)
  func disabled(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await ledger.record(.timedOut, numbers[0], at: place.clock.now)
    place.clock.advance(by: 3 * Self.days - 1)
    #expect(try await ledger.record(.timedOut, numbers[1], at: place.clock.now)?.disabled == nil)
    place.clock.advance(by: 1)
    let result = try await ledger.record(.unreachable, numbers[0], next: nil, at: place.clock.now)
    #expect(result?.state == .expired && result?.disabled == .failing && result?.expired == Array(numbers[1...]))
    let shown = try await ledger.endpoint(id)
    #expect(shown.disabledAt == place.clock.now && shown.disabledReason == .failing)
    #expect(shown.counts.waiting == 0 && shown.counts.expired == 3)
    #expect(try await ledger.disabledWebhookEndpoints().map(\.count) == [1])
    #expect(try await ledger.enabledWebhookEndpoints().isEmpty)
    _ = try await ledger.accept(answer: renderedAnswer("D"))
    #expect(try await ledger.kinds(id).count == 3)
    #expect(try await ledger.testWebhookEndpoint(account: "shop", id: id) == .disabled)

    let enabled = try #require(try await ledger.enableWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(enabled.disabledAt == nil && enabled.disabledReason == nil && enabled.failingSince == nil)
    let known = try await ledger.enabledWebhookEndpoints()
    #expect(known.map(\.account) == ["shop"] && known.map(\.id) == [id])
    _ = try await ledger.accept(answer: renderedAnswer("E"))
    let next = try #require(try await ledger.unfinishedWebhooks().first?.number)
    #expect(try await ledger.record(.timedOut, next, at: place.clock.now)?.disabled == nil, "it has three days again")
    #expect(try await ledger.administrativeActs().last?.action == .webhookEndpointEnabled)
  }

  @Test(
    "a delivery restarts the three days after which a failing endpoint is disabled, however old its messages are",
    arguments: LedgerUnderTest.all)
  func recovering(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await ledger.record(.refused, numbers[0], at: place.clock.now)
    place.clock.advance(by: 2 * Self.days)
    try await ledger.record(.delivered, numbers[1], at: place.clock.now)
    let delivered = place.clock.now
    place.clock.advance(by: Self.days)
    // The first message has been tried for three days, but the endpoint works.
    let result = try await ledger.record(.refused, numbers[0], next: nil, at: place.clock.now)
    #expect(result?.state == .expired && result?.disabled == nil)
    let shown = try await ledger.endpoint(id)
    #expect(shown.failingSince == delivered && shown.disabledAt == nil)
    #expect(shown.counts.delivered == 1 && shown.counts.expired == 1 && shown.counts.waiting == 0)
  }

  @Test(
    "after a webhook message has expired, the next one has three days of its own, however old the failure is",
    arguments: LedgerUnderTest.all)
  func quietAfterExpiry(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await ledger.record(.refused, numbers[0], at: place.clock.now)
    place.clock.advance(by: 3_600)
    try await ledger.record(.delivered, numbers[1], at: place.clock.now)
    place.clock.advance(by: 3 * Self.days - 3_600)
    #expect(try await ledger.record(.refused, numbers[0], next: nil, at: place.clock.now)?.state == .expired)
    place.clock.advance(by: 30 * Self.days)
    _ = try await ledger.accept(answer: renderedAnswer("C"))
    let next = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let result = try await ledger.record(.serverFailed, next, at: place.clock.now)
    #expect(result?.state == .waiting && result?.disabled == nil)
    place.clock.advance(by: 3 * Self.days)
    #expect(try await ledger.record(.serverFailed, next, next: nil, at: place.clock.now)?.disabled == .failing)
    #expect(try await ledger.endpoint(id).disabledReason == .failing)
  }

  @Test(
    "an attempt that is late because no sender ran restarts the three days after which an endpoint is disabled",
    arguments: LedgerUnderTest.all)
  func absence(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    _ = try await ledger.accept(answer: renderedAnswer("A"))
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    try await ledger.record(.timedOut, number, at: place.clock.now)
    place.clock.advance(by: 10 * Self.days)
    let result = try await ledger.record(.unreachable, number, isFirst: true, at: place.clock.now)
    #expect(result?.state == .waiting && result?.disabled == nil)
    #expect(try await ledger.endpoint(id).failingSince == place.clock.now)
    #expect(try await ledger.unfinishedWebhooks().first?.firstAttemptAt == place.clock.now)
  }

  @Test(
    "each start of sending a webhook message is counted until the attempt ends or the sender is stopped",
    arguments: LedgerUnderTest.all)
  func starts(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    _ = try await ledger.addEndpoint(newEndpoint())
    _ = try await ledger.accept(answer: renderedAnswer("A"))
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    for starts in 1...3 {
      _ = try await ledger.startSending(webhooks: [number, number + 1])
      #expect(try await place.open().unfinishedWebhooks().map(\.starts) == [starts])
    }
    try await ledger.stopSending(webhook: number)
    #expect(try await ledger.unfinishedWebhooks().map(\.starts) == [0])
    _ = try await ledger.startSending(webhooks: [number])
    try await ledger.record(.timedOut, number, at: place.clock.now)
    #expect(try await ledger.unfinishedWebhooks().map(\.starts) == [0])
  }

  @Test("a webhook endpoint is disabled at once if its receiver wants no more messages", arguments: LedgerUnderTest.all)
  func gone(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    let result = try await ledger.record(.gone, numbers[0], next: nil, at: place.clock.now)
    #expect(result?.state == .failed && result?.disabled == .gone && result?.expired == [numbers[1]])
    let shown = try await ledger.endpoint(id)
    #expect(shown.disabledReason == .gone && shown.counts.failed == 1 && shown.counts.expired == 1)
  }

  @Test(
    "if more than ten thousand webhook messages wait, further events are counted and not stored",
    arguments: LedgerUnderTest.all)
  func backlog(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    // The end of a push is an event, and many pushes can end together.
    try await ledger.register(newDevice())
    let pushes = Array(repeating: newPush(), count: Ledger.mostWaitingWebhooks - 1)
    _ = try await ledger.accept(answer: renderedAnswer("P", rendered: nil), pushing: pushes)
    var numbers: [Int64] = []
    while numbers.count < pushes.count {
      let page = try await ledger.unfinishedPushes(after: numbers.last ?? 0).map(\.number)
      try #require(!page.isEmpty)
      numbers += page
    }
    #expect(try await ledger.expirePushes(numbers.map { ($0, nil) }).count == pushes.count)
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    #expect(try await ledger.endpoint(id).counts.waiting == Ledger.mostWaitingWebhooks)
    #expect(try await ledger.endpoint(id).counts.missed == 2)
    #expect(try await ledger.testWebhookEndpoint(account: "shop", id: id) == .tooManyWaiting)
  }

  @Test(
    "webhook messages that have ended are kept for a day at most, and unfinished messages stay",
    arguments: LedgerUnderTest.all)
  func pruned(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: renderedAnswer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await ledger.record(.delivered, numbers[0], at: place.clock.now)
    place.clock.advance(by: Self.days + 1)
    try await ledger.record(.delivered, numbers[1], at: place.clock.now)
    let pruned = try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-30 * Self.days))
    #expect(pruned.webhooks == 1)
    #expect(try await ledger.webhooks(account: "shop", endpoint: id).map(\.number) == Array(numbers[1...]))
    #expect(try await ledger.endpoint(id).counts.delivered == 2)
  }

  @Test("only one sender at a time may send the webhooks", arguments: LedgerUnderTest.all)
  func seat(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let seat = try #require(try await ledger.takeSeat(of: .webhooks))
    #expect(try await place.open().takeSeat(of: .webhooks) == nil)
    await seat.giveBack()
    #expect(try await ledger.takeSeat(of: .webhooks) != nil)
  }
}
