// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import SQLiteLedger
import TestSupport
import Testing
import WebhookDelivery
import WebhookMessages

/// A ledger in a fresh folder with endpoints, and the sender of its outbox.
private final class Outbox: Sendable {
  let ledger: any Ledger.Store
  let receiver: Receiver
  let clock = JumpingClock()
  private let folder: URL
  private let reported = Locked<[WebhookSender.Report]>([])

  init(_ receiver: Receiver) throws {
    self.receiver = receiver
    folder = FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID().uuidString)")
    ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"), now: { [clock] in clock.date })
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var reports: [WebhookSender.Report] { reported.withLock { $0 } }

  /// Registers an endpoint with a path of the receiver.
  func register(_ path: String, account: String = "shop") async throws -> String {
    let url = try WebhookURL(receiver.url(path), allowsPrivateAddresses: true)
    return try await ledger.register(
      NewWebhookEndpoint(account: account, url: url, secret: receiver.secret), by: .currentUser
    ).id
  }

  func test(_ endpoint: String, account: String = "shop") async throws {
    _ = try await ledger.testWebhookEndpoint(account: account, id: endpoint)
  }

  func endpoint(_ id: String) async throws -> Ledger.WebhookEndpoint {
    try #require(try await ledger.webhookEndpoint(account: "shop", id: id))
  }

  /// Runs a sender until a condition holds after one of its reports, or at once.
  func send(
    longest: Duration = .seconds(30), trustRoots: URL? = nil, until isDone: @escaping @Sendable () async throws -> Bool
  ) async throws {
    let (reports, report) = AsyncStream<Void>.makeStream()
    let client = receiver.client(longest: longest, trustRoots: trustRoots)
    let sender = WebhookSender(
      ledger: ledger, client: client, now: { [clock] in clock.now }, date: { [clock] in clock.date },
      sleep: clock.sleep,
      random: { 0 }
    ) { [reported] event in
      reported.withLock { $0.append(event) }
      report.yield()
    }
    let running = Task { await sender.run() }
    if try await !isDone() {
      for await _ in reports {
        if try await isDone() { break }
      }
    }
    running.cancel()
    await running.value
  }

  /// Lets the first attempt of a message fail, and stops the sender before the second.
  func failOnce(_ id: String) async throws {
    clock.stop()
    try await send { [self] in
      guard reports.contains(.attempted(.serverFailed)) else { return false }
      // An attempt is reported before it is stored, and nothing is reported then.
      try await eventually { try await endpoint(id).failingSince != nil }
      return true
    }
    clock.go()
  }
}

extension Networked {
  @Suite("The sender of webhooks", .timeLimit(.minutes(5)))
  struct WebhookSenderTests {
    @Test("a webhook message is delivered once, with a valid signature, and is counted")
    func delivered() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/204")
      try await outbox.test(id)
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 1 }
      let requests = try await outbox.receiver.received(1)
      let request = try #require(requests.first)
      #expect(requests.count == 1 && request.genuine)
      #expect(request.body.contains(#""type":"test.ping""#))
      #expect(
        outbox.reports == [
          .attempted(.delivered), .connected(true, account: "shop", endpoint: id, .delivered),
          .ended(.delivered, count: 1),
        ])
    }

    @Test(
      "a receiver that only fails gets ten attempts in three days, and then its endpoint is disabled with one alarm",
      arguments: [
        ("status/302", WebhookOutcome.redirected), ("status/403", .refused), ("status/500", .serverFailed),
        ("close", .closedEarly), ("nonsense", .answerInvalid), ("stall", .timedOut),
      ])
    func failing(path: String, outcome: WebhookOutcome) async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register(path)
      try await outbox.test(id)
      let start = outbox.clock.now
      try await outbox.send(longest: path == "stall" ? .milliseconds(200) : .seconds(30)) {
        try await outbox.endpoint(id).disabledAt != nil
      }
      let endpoint = try await outbox.endpoint(id)
      #expect(endpoint.disabledReason == .failing && endpoint.lastOutcome == outcome && endpoint.counts.expired == 1)
      let message = try #require(try await outbox.ledger.webhooks(account: "shop", endpoint: id, limit: 1000).first)
      #expect(message.state == .expired && message.outcome == outcome && message.attempts == 10)
      let requests = try await outbox.receiver.received(10)
      #expect(requests.count == 10 && Set(requests.map(\.id)) == [message.message.id])
      #expect(Set(requests.map(\.body)).count == 1 && requests.allSatisfy(\.genuine))
      let ages = requests.compactMap { TimeInterval($0.timestamp).map { $0 - start.timeIntervalSince1970 } }
      #expect(ages.first == 0 && ages.last.map { (259_200...259_201).contains($0) } == true)
      #expect(
        outbox.reports.filter {
          switch $0 {
          case .attempted, .connected: false
          default: true
          }
        } == [
          .ended(.expired, count: 1), .disabled(account: "shop", endpoint: id, .failing),
        ])
    }

    @Test("a receiver with a bad certificate gets no message, and its endpoint is disabled after three days")
    func badCertificate() async throws {
      let outbox = try Outbox(try await Receiver(certified: "other.example"))
      let id = try await outbox.register("status/204")
      try await outbox.test(id)
      try await outbox.send { try await outbox.endpoint(id).disabledAt != nil }
      #expect(try await outbox.endpoint(id).lastOutcome == .certificateRefused)
      #expect(outbox.receiver.requestsSoFar.isEmpty)
    }

    @Test("an answer 410 of a receiver disables its endpoint at once")
    func gone() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/410")
      try await outbox.test(id)
      try await outbox.send { try await outbox.endpoint(id).disabledAt != nil }
      #expect(try await outbox.endpoint(id).disabledReason == .gone)
      #expect(
        outbox.reports == [
          .attempted(.gone), .connected(true, account: "shop", endpoint: id, .gone), .ended(.failed, count: 1),
          .disabled(account: "shop", endpoint: id, .gone),
        ])
    }

    @Test("a receiver that recovers gets the same message again with the same id")
    func recovered() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("first/500")
      try await outbox.test(id)
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 1 }
      let requests = try await outbox.receiver.received(2)
      #expect(requests.count == 2 && Set(requests.map(\.id)).count == 1 && requests.allSatisfy(\.genuine))
      #expect(try await outbox.endpoint(id).failingSince == nil)
    }

    @Test("messages that became due while no sender ran get three more days, and their endpoint stays enabled")
    func absence() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/500")
      try await outbox.test(id)
      try await outbox.failOnce(id)
      let away: Duration = .seconds(5 * 86_400)
      try await outbox.clock.sleep(away)
      let back = outbox.clock.now
      try await outbox.send { try await outbox.endpoint(id).failingSince.map { $0 >= back } == true }
      #expect(try await outbox.endpoint(id).disabledAt == nil)
      try await outbox.send { try await outbox.endpoint(id).disabledAt != nil }
      #expect(outbox.clock.now.timeIntervalSince(back) >= 3 * 86_400)
    }

    @Test("a message that was postponed while the clock was years ahead is sent after the clock was corrected")
    func clockSetBack() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/500")
      let start = outbox.clock.now
      outbox.clock.step(by: 3 * 365 * 86_400)
      try await outbox.test(id)
      try await outbox.failOnce(id)
      outbox.clock.step(by: -3 * 365 * 86_400)
      try await outbox.send {
        outbox.receiver.requestsSoFar.contains { request in
          TimeInterval(request.timestamp).map { $0 < start.timeIntervalSince1970 + 86_400 } ?? false
        }
      }
    }

    @Test(
      "a step of the wall clock does not change the pauses between attempts",
      arguments: [5, 3_600, 86_400, -5, -3_600, -86_400] as [TimeInterval])
    func clockStep(seconds: TimeInterval) async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("first/500")
      try await outbox.test(id)
      let start = outbox.clock.now
      try await outbox.send {
        // The step comes after the first failure, and before the second attempt.
        if try await outbox.endpoint(id).failingSince != nil, outbox.clock.date == outbox.clock.now {
          outbox.clock.step(by: seconds)
        }
        return try await outbox.endpoint(id).counts.delivered == 1
      }
      #expect((5...30).contains(outbox.clock.now.timeIntervalSince(start)))
    }

    @Test(
      "a message that waits for another attempt is sent after a restart, whatever the wall clock shows",
      arguments: [5, 3_600, 86_400, -5, -3_600, -86_400] as [TimeInterval])
    func clockStepAtRestart(seconds: TimeInterval) async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("first/500")
      try await outbox.test(id)
      try await outbox.failOnce(id)
      outbox.clock.step(by: seconds)
      let start = outbox.clock.now
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 1 }
      #expect(outbox.clock.now.timeIntervalSince(start) <= 11)
    }

    @Test("a message that was interrupted twice is reported, and sent later, after the others")
    func setAside() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/204")
      for _ in 0..<3 { try await outbox.test(id) }
      let first = try #require(try await outbox.ledger.unfinishedWebhooks().first)
      // Nothing records the end of these attempts, as if the process had ended.
      for _ in 0..<2 { _ = try await outbox.ledger.startSending(webhooks: [first.number]) }
      let start = outbox.clock.now
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 3 }
      #expect(outbox.reports.contains(.setAside(count: 1)))
      #expect(outbox.clock.now.timeIntervalSince(start) >= 600)
      let messages = try await outbox.ledger.webhooks(account: "shop", endpoint: id, limit: 1000)
      #expect(try await outbox.receiver.received(3).last?.id == messages.first?.message.id)
    }

    @Test("a webhook message that was interrupted once is sent again at once")
    func interruptedOnce() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/204")
      try await outbox.test(id)
      let number = try #require(try await outbox.ledger.unfinishedWebhooks().first?.number)
      _ = try await outbox.ledger.startSending(webhooks: [number])
      let start = outbox.clock.now
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 1 }
      #expect(outbox.clock.now == start && !outbox.reports.contains(.setAside(count: 1)))
    }

    @Test("a stopped sender leaves no message that counts as interrupted")
    func stopped() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("stall")
      try await outbox.test(id)
      for _ in 0..<3 {
        let before = outbox.receiver.requestsSoFar.count
        let sending = Task { try await outbox.send { false } }
        _ = try await outbox.receiver.received(before + 1)
        #expect(try await outbox.ledger.unfinishedWebhooks().map(\.starts) == [1], "it is marked before it is sent")
        sending.cancel()
        _ = try? await sending.value
        #expect(try await outbox.ledger.unfinishedWebhooks().map(\.starts) == [0])
      }
    }

    @Test(
      "a sender that has lost its lease stores no outcome, and the next sender sends the message again under the same id"
    )
    func lostSeat() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("stall")
      try await outbox.test(id)
      let sender = WebhookSender(
        ledger: outbox.ledger, client: outbox.receiver.client(longest: .seconds(30)),
        now: { [clock = outbox.clock] in clock.now }, date: { [clock = outbox.clock] in clock.date })
      for attempt in 1...2 {
        let seat = try #require(try await outbox.ledger.takeSeat(of: .webhooks))
        let running = Task { await sender.run(under: seat) }
        _ = try await outbox.receiver.received(attempt)
        await seat.giveBack()
        running.cancel()
        await running.value
        #expect(try await outbox.ledger.unfinishedWebhooks().map(\.starts) == [attempt])
      }
      #expect(Set(outbox.receiver.requestsSoFar.map(\.id)).count == 1)
      #expect(try await outbox.ledger.webhookAttempts(account: "shop", endpoint: id).isEmpty)
      // A sender without its seat ends by itself.
      let lost = try #require(try await outbox.ledger.takeSeat(of: .webhooks))
      await lost.giveBack()
      await sender.run(under: lost)
      #expect(outbox.receiver.requestsSoFar.count == 2)
    }

    @Test("a receiver that asks for a pause gets no message during the pause")
    func pause() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("status/503")
      for _ in 0..<10 { try await outbox.test(id) }
      let start = outbox.clock.now
      try await outbox.send { try await outbox.endpoint(id).lastOutcome != nil && outbox.clock.now > start + 1_900 }
      // Four messages were under way at the first failure. The answer 503 asks for a pause of 600 s.
      let later = outbox.receiver.requestsSoFar.compactMap { TimeInterval($0.timestamp) }
        .filter { $0 > start.timeIntervalSince1970 + 1 }
      #expect(later.count <= 4 && later.allSatisfy { $0 >= start.timeIntervalSince1970 + 600 })
    }

    @Test("a receiver that stalls delays no other receiver")
    func slow() async throws {
      let outbox = try Outbox(try await Receiver())
      let (slow, quick) = (try await outbox.register("stall"), try await outbox.register("status/204"))
      for _ in 0..<20 {
        try await outbox.test(slow)
        try await outbox.test(quick)
      }
      try await outbox.send { try await outbox.endpoint(quick).counts.delivered == 20 }
      #expect(outbox.receiver.requestsSoFar.count { $0.path == "/stall" } <= 4)
      // The attempts that had no answer were given up, and count for nothing.
      let endpoint = try await outbox.endpoint(slow)
      #expect(endpoint.counts.waiting == 20 && endpoint.failingSince == nil && endpoint.lastOutcome == nil)
    }

    @Test("a webhook message whose answer was not recorded is sent again by the next sender, with the same id")
    func restarted() async throws {
      let outbox = try Outbox(try await Receiver())
      let id = try await outbox.register("first/stall")
      try await outbox.test(id)
      let first = Task { try await outbox.send { false } }
      _ = try await outbox.receiver.received(1)
      first.cancel()
      _ = try? await first.value
      #expect(try await outbox.endpoint(id).counts.waiting == 1)
      try await outbox.send { try await outbox.endpoint(id).counts.delivered == 1 }
      let requests = try await outbox.receiver.received(2)
      #expect(requests.count == 2 && Set(requests.map(\.id)).count == 1)
    }

    @Test("messages that are stored while the sender runs are sent to the endpoints of all accounts")
    func later() async throws {
      let outbox = try Outbox(try await Receiver())
      let shop = try await outbox.register("status/204")
      let kiosk = try await outbox.register("status/200", account: "kiosk")
      try await outbox.test(shop)
      try await outbox.send {
        // Each delivery leads to the next message.
        let delivered = try await outbox.endpoint(shop).counts.delivered
        if delivered > 0, try await outbox.ledger.webhooks(account: "kiosk", endpoint: kiosk, limit: 1000).isEmpty {
          try await outbox.test(kiosk, account: "kiosk")
        }
        return try await outbox.ledger.webhookEndpoint(account: "kiosk", id: kiosk)?.counts.delivered == 1
      }
      #expect(try await outbox.receiver.received(2).count == 2)
    }
  }
}
