// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerMoving
import LedgerTestSupport
import PlaybackOrder
import PostgreSQLTestSupport
import TestSupport
import Testing
import WebhookMessages

@Suite(
  "Moving a ledger to PostgreSQL and back", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct MovingTests {
  /// SQLite counts the remembered requests of a key anew.
  private static let countedAnew: Set = ["signed_requests.number"]

  @Test("a ledger that is moved to PostgreSQL and back has the same bytes in every row, and the same last numbers")
  func thereAndBack() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let before = try dump(place.file, without: Self.countedAnew)
    let there = try await LedgerMove.intoDatabase(from: place.file, to: place.address).run()
    #expect(there.tables.filter { $0.rows == 0 }.map(\.name) == [])
    #expect(try dump(place.file, without: Self.countedAnew) == before)

    let back = try await LedgerMove.intoFile(from: place.address, to: place.copy).run()
    #expect(back == there)
    let after = try dump(place.copy, without: Self.countedAnew)
    #expect(after.keys.sorted() == before.keys.sorted())
    for (table, rows) in before { #expect(after[table] == rows, "\(table)") }
    #expect(place.filesOfCopy == ["ledger.sqlite", "ledger.sqlite.opening"])
    let attributes = try FileManager.default.attributesOfItem(atPath: place.copy.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("SQLite numbers the remembered requests of a key in the order in which it forgets them")
  func signedRequests() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    _ = try await LedgerMove.intoDatabase(from: place.file, to: place.address).run()
    _ = try await LedgerMove.intoFile(from: place.address, to: place.copy).run()
    try await place.using(place.copy) { ledger in
      #expect(
        try await ledger.admitSignedRequest(digestOf("s2"), keyID: "guarded", signedAt: 200, atMost: 1_000) == .replayed
      )
      #expect(
        try await ledger.admitSignedRequest(digestOf("s1"), keyID: "guarded", signedAt: 100, atMost: 1_000)
          == .forgotten)
      try await ledger.forgetSignedRequests(before: 201)
      // One request is left, so the limit of two is not reached.
      #expect(
        try await ledger.admitSignedRequest(digestOf("s4"), keyID: "guarded", signedAt: 400, atMost: 2) == .admitted)
      #expect(
        try await ledger.admitSignedRequest(digestOf("s5"), keyID: "guarded", signedAt: 400, atMost: 2) == .tooMany)
    }
  }

  @Test("after a move to PostgreSQL, all numbers and all waiting work continue as before")
  func continues() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    let before = Locked<State?>(nil)
    try await place.using(place.file) { ledger in
      let state = try await State(of: ledger)
      before.withLock { $0 = state }
    }
    _ = try await LedgerMove.intoDatabase(from: place.file, to: place.address).run()
    try await place.usingDatabase { ledger in
      let state = try await State(of: ledger)
      #expect(before.withLock { $0 } == state)
      try await expectContinuation(of: ledger, after: state)
    }
  }

  @Test("after a move back to SQLite, all numbers and all waiting work continue as before")
  func continuesInFile() async throws {
    let place = try await MovingPlace()
    try await place.fill()
    _ = try await LedgerMove.intoDatabase(from: place.file, to: place.address).run()
    let before = Locked<State?>(nil)
    try await place.usingDatabase { ledger in
      _ = try await ledger.accept(payment("C-1", account: "shop"))
      // A number that was given out and is not used any more.
      _ = try await ledger.takeCommands(lane: "counter")
      let state = try await State(of: ledger)
      before.withLock { $0 = state }
    }
    _ = try await LedgerMove.intoFile(from: place.address, to: place.copy).run()
    try await place.using(place.copy) { ledger in
      let state = try await State(of: ledger)
      #expect(before.withLock { $0 } == state)
      try await expectContinuation(of: ledger, after: state)
    }
  }

  /// Checks that new rows get new numbers, and that old rows are recognised.
  private func expectContinuation(of ledger: any Ledger.Store, after state: State) async throws {
    let again = NewAnswer(
      account: "shop", key: "id:A-1", bodyDigest: digestOf("A-1"), id: "A-1", status: 201, report: Data("other".utf8))
    let answered = try await ledger.accept(answer: again)
    #expect(answered.isDuplicate && answered.answer.report == Data(#"{"text":"twelve dollars fifty"}"#.utf8))
    #expect(try await ledger.accept(providerPayments: [report("wx-1")]) == [.duplicate])

    let news = NewAnswer(
      account: "shop", key: "id:D-1", bodyDigest: digestOf("D-1"), id: "D-1", status: 201, report: Data(),
      rendered: [:])
    let accepted = try await ledger.accept(
      answer: news, playing: payment("D-1", account: "shop"), pushing: [newPush()], publishing: [libraryClip("3.wav")])
    let number = try #require(accepted.acceptance?.number)
    #expect(number > state.lastNumber)
    let push = try #require(try await ledger.pushes(account: "shop", announcement: "D-1").first)
    #expect(push.sequence == state.lastSequence + 1 && push.number > state.lastPush)
    let events = try await ledger.events(after: state.lastEvent)
    #expect(events.first?.number == number && events.allSatisfy { $0.position > state.lastEvent })
    #expect(try await ledger.unfinishedWebhooks().last?.number ?? 0 > state.lastWebhook)
    #expect(try await ledger.send(.resume, lane: "counter") > state.lastCommand)
    #expect(try await ledger.accept(providerPayments: [report("wx-9")]) == [.accepted])
    #expect(try await ledger.waitingProviderPayments(after: state.lastProviderPayment).map(\.id) == ["wx-9"])
    let page = try #require(
      try await ledger.libraryChanges(account: "shop", group: "group.crier", after: state.anchor))
    #expect(page.changes.map(\.name) == ["3.wav"])
    #expect(try await ledger.key(digest: digestOf("guarded"))?.id == "guarded")
    #expect(try await ledger.createKey(newKey("new")).id == "new")
    #expect(try await ledger.keys().last?.id == "new")
  }
}

/// What a ledger shows of its rows.
private struct State: Equatable {
  var unfinished: [Ledger.Entry]
  var pushes: [Ledger.UnfinishedPush]
  var webhooks: [Ledger.UnfinishedWebhook]
  var providerPayments: [Ledger.ProviderPayment]
  var endpoints: [Ledger.WebhookEndpoint]
  var device: Ledger.Device?
  var keys: [Ledger.Key]
  var keysVersion: Int64
  var acts: [Ledger.AdministrativeAct]
  var announcements: [String]
  var events: [Ledger.Event]
  var lastEvent: Int64
  var lastCommand: Int64
  var lastPassed: Int64?
  var pause: Ledger.Pause?
  var counts: [Ledger.State: Int]
  var anchor: LibraryAnchor?
  var lastSequence: Int64

  init(of ledger: any Ledger.Store) async throws {
    unfinished = try await ledger.unfinished(lane: "counter")
    pushes = try await ledger.unfinishedPushes()
    webhooks = try await ledger.unfinishedWebhooks()
    providerPayments = try await ledger.providerPayments(account: "shop", endpoint: "till", limit: 100)
    endpoints = try await ledger.webhookEndpoints(account: "shop")
    device = try await ledger.device(account: "shop", id: "phone-1")
    keys = try await ledger.keys()
    keysVersion = try await ledger.keysVersion()
    acts = try await ledger.administrativeActs()
    announcements = try await ledger.announcements(
      account: "shop", matching: Ledger.AnnouncementFilter(), before: nil, limit: 100
    ).announcements.map(\.id)
    events = try await ledger.events(limit: 1_000)
    lastEvent = try await ledger.lastEventPosition()
    lastCommand = try await ledger.lastCommandNumber()
    lastPassed = try await ledger.lastPassedSequence(lane: "counter")
    pause = try await ledger.pause(lane: "counter")
    counts = try await ledger.counts(lane: nil)
    anchor = try await ledger.libraryChanges(account: "shop", group: "group.crier", after: nil)?.anchor
    lastSequence =
      try await ledger.pushes(account: "shop", device: "phone-1", afterSequence: 0, limit: 100)
      .compactMap(\.sequence).max() ?? 0
  }

  var lastNumber: Int64 { events.compactMap(\.number).max() ?? 0 }
  var lastPush: Int64 { pushes.map(\.number).max() ?? 0 }
  var lastWebhook: Int64 { webhooks.map(\.number).max() ?? 0 }
  var lastProviderPayment: Int64 { providerPayments.map(\.number).max() ?? 0 }
}
