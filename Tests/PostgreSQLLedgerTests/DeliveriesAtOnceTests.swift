// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import PushMessages
import Testing
import WebhookMessages

@testable import PostgreSQLLedger

@Suite(
  "Two nodes that deliver at once", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct DeliveriesAtOnceTests {
  private func key(_ device: String, _ id: String) -> NewKey {
    NewKey(id: id, account: "shop", digest: digest(id), scopes: ["device"], device: device)
  }

  private func register(
    _ device: String, on ledger: PostgreSQLLedger, token: String? = nil, key id: String? = nil
  ) async throws {
    try await ledger.register(
      NewDevice(
        account: "shop", id: device, app: "app", environment: .production,
        tokens: [.alert: token ?? "token of \(device)"]),
      key: key(device, id ?? "key of \(device)"), renewsKey: false, with: nil, by: .key("admin"))
  }

  private func push(_ device: String, _ kind: PushType = .alert) -> NewPush {
    NewPush(
      device: device, kind: kind, priority: kind == .alert ? 10 : 5, expiresAt: Date().addingTimeInterval(3_600),
      body: NewPush.Body(Data("{}".utf8)))
  }

  @Test("a push that both nodes end at the same time has one outcome and causes one event")
  func endOfPush() async throws {
    let nodes = try await TwoNodes()
    try await register("phone", on: nodes.first)
    try await nodes.first.register(
      NewWebhookEndpoint(account: "shop", url: try WebhookURL("https://shop.example/"), kinds: [.pushed, .failed]),
      by: .key("admin"))
    for round in 0..<10 {
      _ = try await nodes.first.accept(
        answer: answer("A-\(round)"), playing: nil, pushing: [push("phone")], publishing: [])
    }
    let numbers = try await nodes.second.unfinishedPushes(after: 0, limit: 100).map(\.number)
    #expect(numbers.count == 10)
    // Both orders, so that transactions would wait for each other in a circle if they locked rows in the given order.
    async let first = nodes.first.startSending(numbers)
    async let second = nodes.second.startSending(numbers.reversed())
    #expect(try await first.count == 10)
    #expect(try await second.map(\.push.number) == numbers.reversed())
    let ends = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in numbers {
        group.addTask { try await nodes.first.finishPush(number, .delivered, reason: nil) }
        group.addTask { try await nodes.second.finishPush(number, .failed, reason: "BadTopic") }
      }
      return try await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(ends.count { $0 } == 10)
    let states = try await nodes.first.pushCounts()
    #expect(states[.delivered, default: 0] + states[.failed, default: 0] == 10)
    #expect(try await nodes.first.unfinishedWebhooks(after: 0, limit: 100).count == 10)
    let endpoint = try #require(try await nodes.second.webhookEndpoints(account: "shop").first)
    #expect(endpoint.counts.waiting == 10)
  }

  @Test("phones that exchange their tokens while announcements are pushed to both cause no deadlock")
  func movedTokens() async throws {
    let nodes = try await TwoNodes()
    for device in ["a", "b"] { try await register(device, on: nodes.first) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<40 {
        group.addTask {
          let ledger = nodes.both[place % 2]
          if place % 4 < 2 {
            try await register(place % 4 == 0 ? "a" : "b", on: ledger, token: "the same")
          } else {
            let devices = place % 8 < 4 ? ["a", "b"] : ["b", "a"]
            _ = try await ledger.accept(devices.map { push($0) }, account: "shop")
          }
        }
      }
      try await group.waitForAll()
    }
    for name in ["a", "b"] {
      let device = try #require(try await nodes.first.device(account: "shop", id: name))
      #expect(device.lastSequence == 20)
      let sequences = try await nodes.second.pushes(account: "shop", device: name, afterSequence: 0, limit: 100)
        .compactMap(\.sequence)
      #expect(sequences == Array(1...20))
    }
    let devices = try await nodes.first.devices(account: "shop", after: "", limit: 10)
    #expect(devices.count { $0.tokens[.alert]?.text == "the same" } == 1)
  }

  @Test("two nodes that register devices at the same time keep the limit of the account")
  func mostDevices() async throws {
    let nodes = try await TwoNodes()
    var options = PostgreSQLLedger.Options()
    options.limits.mostDevices = 5
    options.connections = 3
    let home = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    let ledgers = [
      try await PostgreSQLLedger(address: nodes.address, home: home, options: options),
      try await PostgreSQLLedger(address: nodes.address, home: home, options: options),
    ]
    let registered = await withTaskGroup(of: Bool.self) { group in
      for place in 0..<20 {
        group.addTask { (try? await register("phone\(place)", on: ledgers[place % 2])) != nil }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(registered == 5)
    #expect(try await nodes.first.devices(account: "shop", after: "", limit: 100).count == 5)
    for ledger in ledgers { await ledger.close() }
  }

  @Test("a clip that one node forgets while another node publishes it stays in the library of its account")
  func library() async throws {
    let nodes = try await TwoNodes()
    let clip = LibrarySound(name: "a.wav", group: "group.shop", sha256: String(repeating: "a", count: 64), bytes: 1)
    func announce(_ id: String, on ledger: PostgreSQLLedger) async throws {
      var new = answer(id)
      new.clip = PublishedClip(name: clip.name, group: clip.group)
      _ = try await ledger.accept(answer: new, playing: nil, pushing: [], publishing: [clip])
    }
    for round in 0..<30 {
      try await announce("old-\(round)", on: nodes.first)
      async let removal = nodes.first.remove(account: "shop", id: "old-\(round)")
      async let acceptance: Void = announce("new-\(round)", on: nodes.second)
      _ = try await (removal, acceptance)
      let names = try await nodes.first.libraryChanges(
        account: "shop", group: "group.shop", after: nil, limit: 10)?.changes.map(\.name)
      #expect(names == ["a.wav"])
      _ = try await nodes.second.remove(account: "shop", id: "new-\(round)")
    }
  }

  @Test("an event that is reported while its endpoint is removed or disabled is not sent, and is not an error")
  func endOfEndpoint() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<10 {
      let endpoint = try await nodes.first.register(
        NewWebhookEndpoint(account: "shop", url: try WebhookURL("https://shop.example/\(round)")), by: .key("admin"))
      _ = try await nodes.first.testWebhookEndpoint(account: "shop", id: endpoint.id)
      let message = try #require(try await nodes.second.unfinishedWebhooks(after: 0, limit: 10).first)
      let attempt = Ledger.WebhookAttempt(startedAt: Date(), outcome: .gone, nextAt: nil, patience: 3_600)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 {
          group.addTask { _ = try await nodes.second.testWebhookEndpoint(account: "shop", id: endpoint.id) }
        }
        group.addTask {
          if round.isMultiple(of: 2) {
            try await nodes.first.removeWebhookEndpoint(account: "shop", id: endpoint.id, by: .key("admin"))
          } else {
            _ = try await nodes.first.record(attempt, ofWebhook: message.number)
          }
        }
        try await group.waitForAll()
      }
      let rest = try await nodes.first.unfinishedWebhooks(after: 0, limit: 100).map(\.number)
      #expect(try await nodes.second.startSending(webhooks: rest).isEmpty)
      #expect(try await nodes.first.unfinishedWebhooks(after: 0, limit: 100).isEmpty)
      for endpoint in try await nodes.first.webhookEndpoints(account: "shop") {
        #expect(endpoint.counts.waiting == 0)
        try await nodes.first.removeWebhookEndpoint(account: "shop", id: endpoint.id, by: .key("admin"))
      }
    }
  }
}
