// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import GRDB
import LedgerTestSupport
import PushMessages
import Testing
import WebhookMessages

@testable import Ledger
@testable import SQLiteLedger

/// An endpoint of the tests.
func newEndpoint(
  _ path: String = "hooks", account: String = "shop",
  kinds: Set<WebhookEvent.Kind> = Set(WebhookEvent.Kind.registrable)
) throws -> NewWebhookEndpoint {
  NewWebhookEndpoint(account: account, url: try WebhookURL("https://shop.example/\(path)"), kinds: kinds)
}

@Suite("Webhooks in the ledger")
struct WebhookTests {
  private static let days: TimeInterval = 86_400

  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func answer(_ id: String, key: String? = nil, rendered: [String: String]? = ["method": "speech"]) -> NewAnswer
  {
    NewAnswer(
      account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
      rendered: rendered)
  }

  @discardableResult
  private func register(_ new: NewWebhookEndpoint) async throws -> String {
    try await ledger.register(new, by: .currentUser).id
  }

  /// The bodies of the messages to an endpoint, oldest first.
  private func bodies(_ endpoint: String, account: String = "shop") async throws -> [String] {
    try await ledger.webhooks(account: account, endpoint: endpoint).map {
      String(decoding: $0.message.body, as: UTF8.self)
    }
  }

  private func kinds(_ endpoint: String) async throws -> [WebhookEvent.Kind] {
    try await ledger.webhooks(account: "shop", endpoint: endpoint).map(\.kind)
  }

  private func endpoint(_ id: String) async throws -> Ledger.WebhookEndpoint {
    try #require(try await ledger.webhookEndpoint(account: "shop", id: id))
  }

  /// Records a failure or a delivery of a message at the clock's time.
  @discardableResult
  private func record(
    _ outcome: WebhookOutcome, _ number: Int64, next: TimeInterval? = 5, isFirst: Bool = false
  ) async throws -> Ledger.WebhookRecord? {
    try await ledger.record(
      Ledger.WebhookAttempt(
        startedAt: place.clock.now, outcome: outcome, nextAt: next.map { place.clock.now.addingTimeInterval($0) },
        patience: 3 * Self.days, isFirst: isFirst),
      ofWebhook: number)
  }

  @Test("a webhook endpoint of an earlier version gets details as texts, and a new one gets numbers and booleans")
  func formats() async throws {
    let (old, new) = (try await register(newEndpoint("old")), try await register(newEndpoint("new")))
    #expect(try await endpoint(new).format == .typed)
    try await DatabaseQueue(waitingFor: place.file).write {
      try $0.execute(sql: "UPDATE webhook_endpoints SET format = 1 WHERE id = ?", arguments: [old])
    }
    _ = try await ledger.accept(answer: answer("a", rendered: ["cached": "false", "duration_ms": "1333"]))
    #expect(try await bodies(old).first?.contains(#""detail":{"cached":"false","duration_ms":"1333"}"#) == true)
    #expect(try await bodies(new).first?.contains(#""detail":{"cached":false,"duration_ms":1333}"#) == true)
  }

  @Test("the latest attempts to reach a webhook endpoint are kept, newest first, and are removed with the endpoint")
  func keptAttempts() async throws {
    let id = try await register(try newEndpoint())
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
    try await record(.timedOut, number)
    let kept = try await ledger.webhookAttempts(account: "shop", endpoint: id)
    #expect(kept.count == Ledger.mostWebhookAttempts)
    #expect(kept[0].outcome == .timedOut && kept[0].status == nil && kept[0].at == place.clock.now)
    #expect(kept[1].status == 524 && kept[1].milliseconds == 24 && kept.last?.status == 506)
    let message = try #require(kept[0].message)
    #expect(message.hasPrefix("msg_") && kept.allSatisfy { $0.message == message && $0.kind == .ping })
    try await DatabaseQueue(waitingFor: place.file).write {
      try $0.execute(sql: "UPDATE webhook_attempts SET message = NULL, kind = NULL")
    }
    let earlier = try await ledger.webhookAttempts(account: "shop", endpoint: id)
    #expect(earlier.count == kept.count && earlier.allSatisfy { $0.message == nil && $0.kind == nil })
    #expect(try await ledger.webhookAttempts(account: "other", endpoint: id).isEmpty)
    #expect(try await ledger.removeWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(try await ledger.webhookAttempts(account: "shop", endpoint: id).isEmpty)
  }

  // MARK: - Endpoints

  @Test("a webhook endpoint is stored with all its values, shown without its secret, and removed with its messages")
  func endpoints() async throws {
    var new = try newEndpoint(kinds: [.played, .failed])
    new.text = "till"
    let id = try await register(new)
    for ledger in [ledger, try place.open()] {
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
    #expect(try await record(.delivered, number) == nil, "an attempt that was under way changes nothing")
    let acts = try await ledger.administrativeActs()
    #expect(acts.map(\.action) == [.webhookEndpointRegistered, .webhookEndpointRemoved])
    #expect(acts.allSatisfy { $0.subject == id })
  }

  @Test("an account has at most sixteen webhook endpoints with different URLs, and sees none of other accounts")
  func limits() async throws {
    for number in 0..<16 { try await register(newEndpoint("\(number)")) }
    for (new, code) in [
      (try newEndpoint("17"), LedgerError.Code.tooManyWebhookEndpoints),
      (try newEndpoint("17", kinds: []), .invalidValue), (try newEndpoint("17", kinds: [.ping]), .invalidValue),
      (try newEndpoint("17", account: ""), .invalidValue),
    ] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.register(new, by: .currentUser) }
      #expect(error.code == code && !"\(error)".contains("shop.example"))
    }
    let other = try await register(newEndpoint("0", account: "kiosk"))
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

  @Test("a pending payment has a message type of its own, so that it is not taken for a received payment")
  func pending() async throws {
    let id = try await register(newEndpoint())
    let moneyOnly = try await register(newEndpoint("money", kinds: [.rendered]))
    var new = answer("A")
    let clip = PublishedClip(name: "1.wav", group: "group.a")
    (new.clip, new.decision) = (
      clip,
      Decision(
        kind: "pending", text: "Payment pending, five dollars", locale: "en-US", method: "speech", voice: "en-us+f2",
        clip: clip, durationMilliseconds: 1_000, loudnessLUFS: -16)
    )
    _ = try await ledger.accept(answer: new)
    let told = try await bodies(id)
    #expect(told.count == 1 && told[0].hasSuffix(#""type":"announcement.pending"}"#), "\(told)")
    #expect(try await bodies(moneyOnly).isEmpty)
  }

  @Test("a new answer leads to one webhook message with its details, and a repeated answer leads to none")
  func rendered() async throws {
    let id = try await register(newEndpoint())
    _ = try await ledger.accept(answer: answer("A"))
    #expect(try await ledger.accept(answer: answer("A")).isDuplicate)
    _ = try await ledger.accept(answer: answer("A", key: "h:other", rendered: nil))
    #expect(
      try await bodies(id) == [
        #"{"data":{"delivery":"clip","detail":{"method":"speech"},"id":"A"},"timestamp":"2027-01-15T08:00:00.000Z","#
          + #""type":"announcement.rendered"}"#
      ])
    #expect(try await endpoint(id).counts.waiting == 1)
  }

  @Test("the end of an announcement is sent to webhooks, and its earlier states and its cancellation are not")
  func ended() async throws {
    let id = try await register(newEndpoint())
    for (name, state) in [("A", .played), ("B", .failed), ("C", .expired), ("D", .cancelled)]
      as [(String, Ledger.State)]
    {
      let number = try await ledger.accept(payment(name, account: "shop")).number
      for step in StateTests.way(to: state) {
        try await ledger.set(number, step, Ledger.Change(detail: ["code": "\(step)"]))
      }
      #expect(try await !ledger.set(number, state), "it leads to one message")
    }
    #expect(try await kinds(id) == [.played, .failed, .expired])
    #expect(
      try await bodies(id).first
        == #"{"data":{"delivery":"play","detail":{"code":"played"},"id":"A"},"timestamp":"2027-01-15T08:00:00.000Z","#
        + #""type":"announcement.played"}"#)
  }

  @Test(
    "webhooks get the end of each payment in a summary, and nothing about the summary or this machine's announcements")
  func summaries() async throws {
    let id = try await register(newEndpoint())
    let members = try await [
      ledger.accept(payment("A", account: "shop")).number, ledger.accept(payment("B", account: "shop")).number,
    ]
    let summary = try await ledger.accept(payment("sum"), standingFor: members).number
    for state in StateTests.way(to: .played) { try await ledger.set(summary, state) }
    let file = try await ledger.accept(payment("file")).number
    try await ledger.set(file, .failed)
    #expect(try await kinds(id) == [.played, .played])
    #expect(try await bodies(id).allSatisfy { $0.contains(#""detail":{"by":\#(summary)}"#) })
  }

  @Test("webhooks get the end of a push with its outcome, unless the push announces nothing")
  func pushed() async throws {
    let id = try await register(newEndpoint())
    try await ledger.register(newDevice())
    for (name, state) in [("A", .delivered), ("B", .failed), ("C", .unregistered), ("D", .expired)]
      as [(String, Ledger.Push.State)]
    {
      _ = try await ledger.accept(answer: answer(name, rendered: nil), pushing: [newPush()])
      let number = try #require(try await ledger.unfinishedPushes().last?.number)
      #expect(try await ledger.finishPush(number, state, reason: state == .delivered ? nil : "Why"))
      #expect(try await !ledger.finishPush(number, state))
    }
    let silent = try await ledger.accept([newPush("phone-1", .background)], account: "shop")
    #expect(try await ledger.finishPush(silent[0], .delivered))
    #expect(try await kinds(id) == [.pushed, .failed, .failed, .expired])
    #expect(
      try await bodies(id)[2]
        == #"{"data":{"delivery":"push","detail":{"device":"phone-1","reason":"Why","state":"unregistered"},"id":"C"},"#
        + #""timestamp":"2027-01-15T08:00:00.000Z","type":"announcement.failed"}"#)
  }

  @Test("each webhook endpoint gets only the messages of its account and of the types for which it is registered")
  func isolated() async throws {
    let all = try await register(newEndpoint("all"))
    let failures = try await register(newEndpoint("failures", kinds: [.failed]))
    let other = try await register(newEndpoint("other", account: "kiosk"))
    for (id, state) in [("A", Ledger.State.failed), ("B", .expired)] {
      try await ledger.set(ledger.accept(payment(id, account: "shop")).number, state)
    }
    #expect(try await kinds(all) == [.failed, .expired])
    #expect(try await kinds(failures) == [.failed])
    #expect(try await bodies(other, account: "kiosk").isEmpty)
    let ids =
      try await ledger.webhooks(account: "shop", endpoint: all).map(\.message.id)
      + ledger.webhooks(account: "shop", endpoint: failures).map(\.message.id)
    #expect(Set(ids).count == 3)
  }

  @Test("a write that the ledger refuses leads to no webhook message")
  func refused() async throws {
    let id = try await register(newEndpoint())
    let number = try await ledger.accept(payment("A", account: "shop")).number
    _ = try? await ledger.set(number, .played)
    var options = SQLiteLedger.Options()
    options.maximumBytes = 4096
    let full = try place.open(options)
    let error = try await #require(throws: LedgerError.self) { try await full.accept(answer: answer("B")) }
    #expect(error.code == .diskFull)
    #expect(try await kinds(id).isEmpty)
  }

  @Test("the listener for messages is called after the transaction, and only for new messages")
  func noticed() async throws {
    let count = Locked(0)
    ledger.onNewWebhooks { count.withLock { $0 += 1 } }
    let id = try await register(newEndpoint())
    _ = try await ledger.accept(payment("A", account: "shop"))
    #expect(count.withLock { $0 } == 0)
    _ = try await ledger.accept(answer: answer("B"))
    #expect(count.withLock { $0 } == 1)
    try await record(.delivered, try #require(try await ledger.unfinishedWebhooks().first?.number))
    #expect(count.withLock { $0 } == 1)
    _ = try await ledger.testWebhookEndpoint(account: "shop", id: id)
    #expect(count.withLock { $0 } == 2)
  }

  @Test("an answer of an account without webhook endpoints costs one look-up in an index")
  func lookUp() async throws {
    let plan = try await ledger.read { database in
      try Row.fetchAll(
        database,
        sql: """
          EXPLAIN QUERY PLAN
          SELECT number, kinds, waiting FROM webhook_endpoints WHERE account = 'shop' AND disabled_at IS NULL
          """
      ).map { $0["detail"] as String? ?? "" }
    }
    #expect(plan.count == 1 && plan.first?.hasPrefix("SEARCH webhook_endpoints USING INDEX") == true, "\(plan)")
  }

  @Test(
    "after SIGKILL, every stored answer has led to one webhook message or is counted as missed", .timeLimit(.minutes(5))
  )
  func killed() async throws {
    let id = try await register(newEndpoint())
    var promised = 0
    for round in 0..<5 {
      let writer = try Writer("answer", place.file.path, "shop")
      promised += try writer.lines(1 + round * 37).count
      writer.kill()
      promised += try writer.lines().count
    }
    let ledger = try place.open()
    let answers = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM answers") ?? 0 }
    let counts = try #require(try await ledger.webhookEndpoint(account: "shop", id: id)).counts
    #expect(answers >= promised && promised > 100)
    #expect(counts.waiting + counts.missed == answers)
    let stored = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM webhooks") ?? 0 }
    #expect(counts.waiting == stored)
  }

  // MARK: - Sending

  @Test("a delivered webhook message ends, and a failed message waits with the same id and body")
  func attempts() async throws {
    let id = try await register(newEndpoint())
    _ = try await ledger.accept(answer: answer("A"))
    let waiting = try #require(try await ledger.unfinishedWebhooks().first)
    #expect(waiting.nextAt == place.clock.now && waiting.firstAttemptAt == nil)
    let before = try #require(try await ledger.startSending(webhooks: [waiting.number]).first)
    #expect(before.attempts == 0)
    let first = place.clock.now
    #expect(try await record(.serverFailed, waiting.number)?.state == .waiting)
    place.clock.advance(by: 7)
    let again = try #require(try await ledger.startSending(webhooks: [waiting.number]).first)
    #expect(again.message == before.message && again.attempts == 1)
    let unfinished = try #require(try await ledger.unfinishedWebhooks().first)
    #expect(unfinished.nextAt == first.addingTimeInterval(5))
    #expect(unfinished.computedAt == first && unfinished.firstAttemptAt == first)
    var shown = try await endpoint(id)
    #expect(shown.failingSince == first && shown.lastOutcome == .serverFailed && shown.lastAttemptAt == first)
    #expect(try await record(.delivered, waiting.number)?.state == .delivered)
    #expect(try await record(.delivered, waiting.number) == nil)
    shown = try await endpoint(id)
    #expect(shown.failingSince == nil && shown.lastOutcome == .delivered && shown.deliveredAt == place.clock.now)
    #expect(shown.counts.waiting == 0 && shown.counts.delivered == 1)
    #expect(try await ledger.startSending(webhooks: [waiting.number]).isEmpty)
    let stored = try #require(try await ledger.webhooks(account: "shop", endpoint: id).first)
    #expect(stored.state == .delivered && stored.attempts == 2 && stored.finishedAt == place.clock.now)
  }

  @Test("after three days of only failed attempts, the webhook endpoint is disabled and its messages expire")
  func disabled() async throws {
    let id = try await register(newEndpoint())
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: answer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await record(.timedOut, numbers[0])
    place.clock.advance(by: 3 * Self.days - 1)
    #expect(try await record(.timedOut, numbers[1])?.disabled == nil)
    place.clock.advance(by: 1)
    let result = try await record(.unreachable, numbers[0], next: nil)
    #expect(result?.state == .expired && result?.disabled == .failing && result?.expired == Array(numbers[1...]))
    let shown = try await endpoint(id)
    #expect(shown.disabledAt == place.clock.now && shown.disabledReason == .failing)
    #expect(shown.counts.waiting == 0 && shown.counts.expired == 3)
    #expect(try await ledger.disabledWebhookEndpoints().map(\.count) == [1])
    #expect(try await ledger.enabledWebhookEndpoints().isEmpty)
    _ = try await ledger.accept(answer: answer("D"))
    #expect(try await kinds(id).count == 3)
    #expect(try await ledger.testWebhookEndpoint(account: "shop", id: id) == .disabled)

    let enabled = try #require(try await ledger.enableWebhookEndpoint(account: "shop", id: id, by: .currentUser))
    #expect(enabled.disabledAt == nil && enabled.disabledReason == nil && enabled.failingSince == nil)
    let known = try await ledger.enabledWebhookEndpoints()
    #expect(known.map(\.account) == ["shop"] && known.map(\.id) == [id])
    guard case .sound(_, _, _, _, webhookEndpoints: 1, _) = try SQLiteLedger.examine(ledger.file, at: place.clock.now)
    else {
      Issue.record("another number of endpoints")
      return
    }
    _ = try await ledger.accept(answer: answer("E"))
    let next = try #require(try await ledger.unfinishedWebhooks().first?.number)
    #expect(try await record(.timedOut, next)?.disabled == nil, "it has three days again")
    #expect(try await ledger.administrativeActs().last?.action == .webhookEndpointEnabled)
  }

  @Test("a delivery restarts the three days until a failing endpoint is disabled, however old its messages are")
  func recovering() async throws {
    let id = try await register(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: answer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await record(.refused, numbers[0])
    place.clock.advance(by: 2 * Self.days)
    try await record(.delivered, numbers[1])
    let delivered = place.clock.now
    place.clock.advance(by: Self.days)
    // The first message has been tried for three days, but the endpoint works.
    let result = try await record(.refused, numbers[0], next: nil)
    #expect(result?.state == .expired && result?.disabled == nil)
    let shown = try await endpoint(id)
    #expect(shown.failingSince == delivered && shown.disabledAt == nil)
    #expect(shown.counts.delivered == 1 && shown.counts.expired == 1 && shown.counts.waiting == 0)
  }

  @Test("after a webhook message has expired, the next one has three days of its own, however old the failure is")
  func quietAfterExpiry() async throws {
    let id = try await register(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: answer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await record(.refused, numbers[0])
    place.clock.advance(by: 3_600)
    try await record(.delivered, numbers[1])
    place.clock.advance(by: 3 * Self.days - 3_600)
    #expect(try await record(.refused, numbers[0], next: nil)?.state == .expired)
    place.clock.advance(by: 30 * Self.days)
    _ = try await ledger.accept(answer: answer("C"))
    let next = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let result = try await record(.serverFailed, next)
    #expect(result?.state == .waiting && result?.disabled == nil)
    place.clock.advance(by: 3 * Self.days)
    #expect(try await record(.serverFailed, next, next: nil)?.disabled == .failing)
    #expect(try await endpoint(id).disabledReason == .failing)
  }

  @Test("if no sender was running, a late attempt restarts the three days until an endpoint is disabled")
  func absence() async throws {
    let id = try await register(newEndpoint())
    _ = try await ledger.accept(answer: answer("A"))
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    try await record(.timedOut, number)
    place.clock.advance(by: 10 * Self.days)
    let result = try await record(.unreachable, number, isFirst: true)
    #expect(result?.state == .waiting && result?.disabled == nil)
    #expect(try await endpoint(id).failingSince == place.clock.now)
    #expect(try await ledger.unfinishedWebhooks().first?.firstAttemptAt == place.clock.now)
  }

  @Test("each start of sending a webhook message is counted until the attempt ends or the sender is stopped")
  func starts() async throws {
    _ = try await register(newEndpoint())
    _ = try await ledger.accept(answer: answer("A"))
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    for starts in 1...3 {
      _ = try await ledger.startSending(webhooks: [number, number + 1])
      #expect(try await place.open().unfinishedWebhooks().map(\.starts) == [starts])
    }
    try await ledger.stopSending(webhook: number)
    #expect(try await ledger.unfinishedWebhooks().map(\.starts) == [0])
    _ = try await ledger.startSending(webhooks: [number])
    try await record(.timedOut, number)
    #expect(try await ledger.unfinishedWebhooks().map(\.starts) == [0])
  }

  @Test("a webhook endpoint is disabled at once if its receiver wants no more messages")
  func gone() async throws {
    let id = try await register(newEndpoint())
    for name in ["A", "B"] { _ = try await ledger.accept(answer: answer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    let result = try await record(.gone, numbers[0], next: nil)
    #expect(result?.state == .failed && result?.disabled == .gone && result?.expired == [numbers[1]])
    let shown = try await endpoint(id)
    #expect(shown.disabledReason == .gone && shown.counts.failed == 1 && shown.counts.expired == 1)
  }

  @Test("if more than ten thousand webhook messages wait, further events are counted and not stored")
  func backlog() async throws {
    let id = try await register(newEndpoint())
    try await ledger.write(while: .changingWebhooks) { database in
      try database.execute(sql: "UPDATE webhook_endpoints SET waiting = \(Ledger.mostWaitingWebhooks - 1)")
    }
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: answer(name)) }
    #expect(try await kinds(id).count == 1)
    #expect(try await endpoint(id).counts.missed == 2)
    #expect(try await ledger.testWebhookEndpoint(account: "shop", id: id) == .tooManyWaiting)
  }

  @Test("webhook messages that have ended are kept for a day at most, and unfinished messages stay")
  func pruned() async throws {
    let id = try await register(newEndpoint())
    for name in ["A", "B", "C"] { _ = try await ledger.accept(answer: answer(name)) }
    let numbers = try await ledger.unfinishedWebhooks().map(\.number)
    try await record(.delivered, numbers[0])
    place.clock.advance(by: Self.days + 1)
    try await record(.delivered, numbers[1])
    let pruned = try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-30 * Self.days))
    #expect(pruned.webhooks == 1)
    #expect(try await ledger.webhooks(account: "shop", endpoint: id).map(\.number) == Array(numbers[1...]))
    #expect(try await endpoint(id).counts.delivered == 2)
  }

  @Test("only one sender at a time may send the webhooks")
  func seat() throws {
    do {
      let seat = try #require(try ledger.takeSeat(of: .webhooks))
      #expect(try place.open().takeSeat(of: .webhooks) == nil)
      withExtendedLifetime(seat) {}
    }
    #expect(try ledger.takeSeat(of: .webhooks) != nil)
  }
}
