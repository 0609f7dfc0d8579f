// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import PushMessages
import Testing
import WebhookMessages

@Suite("Webhooks in the ledger", .removesLedgers)
struct WebhookTests {
  private static let days: TimeInterval = 86_400

  @Test(
    "the latest attempts to reach a webhook endpoint are kept, newest first, and are removed with the endpoint",
    arguments: LedgerUnderTest.all)
  func keptAttempts(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(try newEndpoint())
    guard case .stored = try await ledger.testWebhookEndpoint(account: "shop", id: id) else {
      Issue.record("no message")
      return
    }
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    for index in 0..<Ledger.mostWebhookAttempts + 5 {
      place.clock.advance(by: 1)
      var attempt = Ledger.WebhookAttempt(
        startedAt: place.clock.now, outcome: .serverFailed, nextAt: place.clock.now + 5, patience: 3 * Self.days)
      (attempt.status, attempt.milliseconds) = (500 + index, index)
      _ = try await ledger.record(attempt, ofWebhook: number)
    }
    place.clock.advance(by: 1)
    try await ledger.record(.timedOut, number, at: place.clock.now)
    let kept = try await ledger.webhookAttempts(account: "shop", endpoint: id)
    #expect(kept.count == Ledger.mostWebhookAttempts)
    #expect(kept[0].outcome == .timedOut && kept[0].status == nil && kept[0].at == place.clock.now)
    #expect(kept[1].status == 524 && kept[1].milliseconds == 24 && kept.last?.status == 506)
    let message = try #require(kept[0].message)
    #expect(message.hasPrefix("msg_") && kept.allSatisfy { $0.message == message && $0.kind == .ping })
    #expect(try await ledger.webhookAttempts(account: "other", endpoint: id).isEmpty)
    #expect(try await ledger.removeWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(try await ledger.webhookAttempts(account: "shop", endpoint: id).isEmpty)
  }

  // MARK: - Endpoints

  @Test(
    "a webhook endpoint is stored with all its values, shown without its secret, and removed with its messages",
    arguments: LedgerUnderTest.all)
  func endpoints(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = try newEndpoint(kinds: [.played, .failed])
    new.text = "till"
    let id = try await ledger.addEndpoint(new)
    for ledger in [ledger, try await place.open()] {
      let stored = try #require(try await ledger.webhookEndpoints(account: "shop").first)
      #expect(stored.id == id && stored.account == "shop" && stored.url == new.url.text && stored.text == "till")
      #expect(stored.kinds == [.played, .failed] && stored.createdAt == place.clock.now)
      #expect(stored.deliveredAt == nil && stored.failingSince == nil && stored.lastOutcome == nil)
      #expect(stored.disabledAt == nil && stored.disabledReason == nil && stored.counts.waiting == 0)
      #expect(!"\(stored)".contains(new.secret.text))
    }
    _ = try await ledger.testWebhookEndpoint(account: "shop", id: id)
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let found = try #require(try await ledger.startSending(webhooks: [number]).first)
    #expect(found.secret == new.secret && found.url == new.url.text && found.endpoint == id && found.account == "shop")
    #expect(try await ledger.removeWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(try await !ledger.removeWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(try await ledger.unfinishedWebhooks().isEmpty)
    #expect(try await ledger.startSending(webhooks: [number]).isEmpty)
    #expect(
      try await ledger.record(.delivered, number, at: place.clock.now) == nil,
      "an attempt that was under way changes nothing")
    let acts = try await ledger.administrativeActs()
    #expect(acts.map(\.action) == [.webhookEndpointRegistered, .webhookEndpointRemoved])
    #expect(acts.allSatisfy { $0.subject == id })
  }

  @Test(
    "an account has at most sixteen webhook endpoints with different URLs, and sees none of other accounts",
    arguments: LedgerUnderTest.all)
  func limits(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for number in 0..<16 { try await ledger.addEndpoint(newEndpoint("\(number)")) }
    for (new, code) in [
      (try newEndpoint("17"), LedgerError.Code.tooManyWebhookEndpoints),
      (try newEndpoint("17", kinds: []), .invalidValue), (try newEndpoint("17", kinds: [.ping]), .invalidValue),
      (try newEndpoint("17", account: ""), .invalidValue),
    ] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.register(new, by: .currentUser) }
      #expect(error.code == code && !"\(error)".contains("shop.example"))
    }
    let other = try await ledger.addEndpoint(newEndpoint("0", account: "kiosk"))
    let error = try await #require(throws: LedgerError.self) {
      try await ledger.register(newEndpoint("0", account: "kiosk"), by: .currentUser)
    }
    #expect(error.code == .webhookEndpointExists)
    for account in ["shop", "other", "shop\0", ""] {
      #expect(try await ledger.webhookEndpoint(account: account, id: other) == nil)
      #expect(try await ledger.webhooks(account: account, endpoint: other).isEmpty)
      #expect(try await ledger.testWebhookEndpoint(account: account, id: other) == .unknown)
      #expect(try await ledger.enableWebhookEndpoint(account: account, id: other, by: .currentUser) == nil)
      #expect(try await !ledger.removeWebhookEndpoint(account: account, id: other, by: .currentUser))
    }
    #expect(try await ledger.webhookEndpoints(account: "kiosk").map(\.id) == [other])
  }

  // MARK: - Telling

  @Test(
    "a pending payment has a message type of its own, so that it is not taken for a received payment",
    arguments: LedgerUnderTest.all)
  func pending(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    let moneyOnly = try await ledger.addEndpoint(newEndpoint("money", kinds: [.rendered]))
    var new = renderedAnswer("A")
    let clip = PublishedClip(name: "1.wav", group: "group.a")
    (new.clip, new.decision) = (
      clip,
      Decision(
        kind: "pending", text: "Payment pending, five dollars", locale: "en-US", method: "speech", voice: "en-us+f2",
        clip: clip, durationMilliseconds: 1_000, loudnessLUFS: -16)
    )
    _ = try await ledger.accept(answer: new)
    let told = try await ledger.bodies(id)
    #expect(told.count == 1 && told[0].hasSuffix(#""type":"announcement.pending"}"#), "\(told)")
    #expect(try await ledger.bodies(moneyOnly).isEmpty)
  }

  @Test(
    "a new answer leads to one webhook message with its details, and a repeated answer leads to none",
    arguments: LedgerUnderTest.all)
  func rendered(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    _ = try await ledger.accept(answer: renderedAnswer("A"))
    #expect(try await ledger.accept(answer: renderedAnswer("A")).isDuplicate)
    _ = try await ledger.accept(answer: renderedAnswer("A", key: "h:other", rendered: nil))
    #expect(
      try await ledger.bodies(id) == [
        #"{"data":{"delivery":"clip","detail":{"method":"speech"},"id":"A"},"timestamp":"2027-01-15T08:00:00.000Z","#
          + #""type":"announcement.rendered"}"#
      ])
    #expect(try await ledger.endpoint(id).counts.waiting == 1)
  }

  @Test(
    "the end of an announcement is sent to webhooks, and its earlier states and its cancellation are not",
    arguments: LedgerUnderTest.all)
  func ended(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    for (name, state) in [("A", .played), ("B", .failed), ("C", .expired), ("D", .cancelled)]
      as [(String, Ledger.State)]
    {
      let number = try await ledger.accept(payment(name, account: "shop")).number
      for step in way(to: state) {
        try await ledger.set(number, step, Ledger.Change(detail: ["code": "\(step)"]))
      }
      #expect(try await !ledger.set(number, state), "it leads to one message")
    }
    #expect(try await ledger.kinds(id) == [.played, .failed, .expired])
    #expect(
      try await ledger.bodies(id).first
        == #"{"data":{"delivery":"play","detail":{"code":"played"},"id":"A"},"timestamp":"2027-01-15T08:00:00.000Z","#
        + #""type":"announcement.played"}"#)
  }

  @Test(
    "webhooks get the end of each payment in a summary, and nothing about the summary or this machine's announcements",
    arguments: LedgerUnderTest.all)
  func summaries(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    let members = try await [
      ledger.accept(payment("A", account: "shop")).number, ledger.accept(payment("B", account: "shop")).number,
    ]
    let summary = try await ledger.accept(payment("sum"), standingFor: members).number
    for state in way(to: .played) { try await ledger.set(summary, state) }
    let file = try await ledger.accept(payment("file")).number
    try await ledger.set(file, .failed)
    #expect(try await ledger.kinds(id) == [.played, .played])
    #expect(try await ledger.bodies(id).allSatisfy { $0.contains(#""detail":{"by":\#(summary)}"#) })
  }

  @Test(
    "webhooks get the end of a push with its outcome, unless the push announces nothing", arguments: LedgerUnderTest.all
  )
  func pushed(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let id = try await ledger.addEndpoint(newEndpoint())
    try await ledger.register(newDevice())
    for (name, state) in [("A", .delivered), ("B", .failed), ("C", .unregistered), ("D", .expired)]
      as [(String, Ledger.Push.State)]
    {
      _ = try await ledger.accept(answer: renderedAnswer(name, rendered: nil), pushing: [newPush()])
      let number = try #require(try await ledger.unfinishedPushes().last?.number)
      #expect(try await ledger.finishPush(number, state, reason: state == .delivered ? nil : "Why"))
      #expect(try await !ledger.finishPush(number, state))
    }
    let silent = try await ledger.accept([newPush("phone-1", .background)], account: "shop")
    #expect(try await ledger.finishPush(silent[0], .delivered))
    #expect(try await ledger.kinds(id) == [.pushed, .failed, .failed, .expired])
    #expect(
      try await ledger.bodies(id)[2]
        == #"{"data":{"delivery":"push","detail":{"device":"phone-1","reason":"Why","state":"unregistered"},"id":"C"},"#
        + #""timestamp":"2027-01-15T08:00:00.000Z","type":"announcement.failed"}"#)
  }

  @Test(
    "each webhook endpoint gets only the messages of its account and of the types for which it is registered",
    arguments: LedgerUnderTest.all)
  func isolated(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let all = try await ledger.addEndpoint(newEndpoint("all"))
    let failures = try await ledger.addEndpoint(newEndpoint("failures", kinds: [.failed]))
    let other = try await ledger.addEndpoint(newEndpoint("other", account: "kiosk"))
    for (id, state) in [("A", Ledger.State.failed), ("B", .expired)] {
      try await ledger.set(ledger.accept(payment(id, account: "shop")).number, state)
    }
    #expect(try await ledger.kinds(all) == [.failed, .expired])
    #expect(try await ledger.kinds(failures) == [.failed])
    #expect(try await ledger.bodies(other, account: "kiosk").isEmpty)
    let ids =
      try await ledger.webhooks(account: "shop", endpoint: all).map(\.message.id)
      + ledger.webhooks(account: "shop", endpoint: failures).map(\.message.id)
    #expect(Set(ids).count == 3)
  }

  @Test("a write that the ledger refuses leads to no webhook message", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let id = try await ledger.addEndpoint(newEndpoint())
    let number = try await ledger.accept(payment("A", account: "shop")).number
    _ = try? await ledger.set(number, .played)
    #expect(try await ledger.kinds(id).isEmpty)
  }

  @Test(
    "the listener for messages is called after the transaction, and only for new messages",
    arguments: LedgerUnderTest.all)
  func noticed(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let count = Locked(0)
    ledger.onNewWebhooks { count.withLock { $0 += 1 } }
    let id = try await ledger.addEndpoint(newEndpoint())
    _ = try await ledger.accept(payment("A", account: "shop"))
    #expect(count.withLock { $0 } == 0)
    _ = try await ledger.accept(answer: renderedAnswer("B"))
    #expect(count.withLock { $0 } == 1)
    try await ledger.record(
      .delivered, try #require(try await ledger.unfinishedWebhooks().first?.number), at: place.clock.now)
    #expect(count.withLock { $0 } == 1)
    _ = try await ledger.testWebhookEndpoint(account: "shop", id: id)
    #expect(count.withLock { $0 } == 2)
  }
}
