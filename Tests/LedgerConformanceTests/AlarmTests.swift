// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing
import WebhookMessages

@Suite("Alarms in the ledger", .removesLedgers)
struct AlarmTests {
  private func messages(_ endpoint: String, account: String = "shop", in ledger: any Ledger.Store) async throws
    -> [WebhookEvent.Kind]
  {
    try await ledger.webhooks(account: account, endpoint: endpoint).map(\.kind)
  }

  @Test(
    "the beginning and the end of an alarm are each sent once to the registered endpoints of every account",
    arguments: LedgerUnderTest.all)
  func once(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let all = try await ledger.register(newEndpoint(), by: .currentUser).id
    let other = try await ledger.register(newEndpoint("b", account: "kiosk"), by: .currentUser).id
    let payments = try await ledger.register(newEndpoint("c", kinds: [.played]), by: .currentUser).id
    #expect(try await ledger.tellAlarm(.playerPaused, lane: "a", hasBegun: true, detail: ["waiting": "24"]))
    #expect(try await !ledger.tellAlarm(.playerPaused, lane: "a", hasBegun: true))
    #expect(try await ledger.activeAlarms(lane: "a").keys.sorted { $0.rawValue < $1.rawValue } == [.playerPaused])
    #expect(try await ledger.activeAlarms(lane: "b") == [:])
    #expect(try await ledger.tellAlarm(.playerPaused, lane: "a", hasBegun: false))
    #expect(try await !ledger.tellAlarm(.playerPaused, lane: "a", hasBegun: false))
    #expect(try await ledger.activeAlarms(lane: "a") == [:])
    #expect(try await messages(all, in: ledger) == [.playerPaused, .playerPaused])
    #expect(try await messages(other, account: "kiosk", in: ledger) == [.playerPaused, .playerPaused])
    #expect(try await messages(payments, in: ledger) == [])
    let body = try #require(try await ledger.webhooks(account: "shop", endpoint: all).first?.message.body)
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.hasPrefix(#"{"data":{"detail":{"state":"began","waiting":24}},"timestamp":"#), "\(text)")
    #expect(text.hasSuffix(#""type":"player.paused"}"#))
  }

  @Test(
    "the alarms of different lanes are stored separately, and are kept when the ledger is opened again",
    arguments: LedgerUnderTest.all)
  func lanes(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.tellAlarm(.deviceLost, lane: "a", hasBegun: true)
    try await ledger.tellAlarm(.queueLong, lane: "", hasBegun: true)
    try await ledger.tellAlarm(.deviceLost, lane: "b", hasBegun: true)
    #expect(try await ledger.tellAlarm(.deviceLost, lane: "b", hasBegun: false))
    let again = try await place.open()
    #expect(try await again.activeAlarms(lane: "a").keys.map(\.self) == [.deviceLost])
    #expect(try await again.activeAlarms(lane: "").keys.map(\.self) == [.queueLong])
  }

  @Test(
    "the latest payment is the latest received payment, and not a refund, a pending payment or a text",
    arguments: LedgerUnderTest.all)
  func latestPayment(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    #expect(try await ledger.latestPayment() == nil)
    func accept(_ id: String, _ kind: String) async throws {
      let decision = Decision(
        kind: kind, text: "words", locale: "en-US", amount: Decision.Amount(value: "1", currency: "USD"),
        method: "speech", voice: "en", clip: PublishedClip(name: "1.wav", group: nil), durationMilliseconds: 1_000,
        loudnessLUFS: -16)
      _ = try await ledger.accept(
        answer: NewAnswer(
          account: "shop", key: id, bodyDigest: digestOf(id), id: id, status: 201, report: Data("{}".utf8),
          clip: decision.clip, decision: decision))
    }
    try await accept("1", "received")
    place.clock.advance(by: 60)
    try await accept("2", "received")
    let latest = place.clock.now
    for kind in ["refunded", "pending", "text"] {
      place.clock.advance(by: 60)
      try await accept(kind, kind)
    }
    #expect(try await ledger.latestPayment() == latest)
  }

  @Test("a pause is stored with its author, can be replaced, and can be removed", arguments: LedgerUnderTest.all)
  func pauses(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let since = Date(timeIntervalSince1970: 1_800_000_000.125)
    #expect(try await ledger.pause(lane: "a") == nil)
    try await ledger.keep(Ledger.Pause(since: since, by: "till", account: "shop"), lane: "a")
    #expect(try await ledger.pause(lane: "a") == Ledger.Pause(since: since, by: "till", account: "shop"))
    #expect(try await ledger.pause(lane: "b") == nil)
    try await ledger.keep(Ledger.Pause(since: since), lane: "a")
    #expect(try await place.open().pause(lane: "a") == Ledger.Pause(since: since))
    try await ledger.keep(nil, lane: "a")
    #expect(try await ledger.pause(lane: "a") == nil)
    await #expect(throws: LedgerError.self) { try await ledger.keep(nil, lane: "") }
    await #expect(throws: LedgerError.self) { try await ledger.pause(lane: String(repeating: "a", count: 101)) }
  }
}
