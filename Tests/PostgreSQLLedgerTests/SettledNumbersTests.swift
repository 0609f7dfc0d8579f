// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import PushMessages
import Testing

@testable import PostgreSQLLedger

@Suite("Knowledge of settled numbers")
struct SettledKnowledgeTests {
  private typealias Knowledge = SettledNumbers.Knowledge

  @Test("a number is settled only when all transactions with lower ids than the transaction that read it have ended")
  func ticket() {
    var knowledge = Knowledge()
    knowledge.add(Knowledge.Ticket(number: 7, id: 100))
    #expect(knowledge.settled == 0 && knowledge.highest == 7)
    knowledge.note(ended: 99)
    #expect(knowledge.settled == 0)
    knowledge.note(ended: 100)
    #expect(knowledge.settled == 7 && knowledge.tickets.isEmpty)
    #expect(knowledge.highest == 7)
  }

  @Test("an earlier number is settled even though later numbers are read all the time")
  func steadyWork() {
    var knowledge = Knowledge()
    for number in Int64(1)...100 {
      knowledge.add(Knowledge.Ticket(number: number, id: number * 10))
      #expect(knowledge.tickets.count <= Knowledge.mostTickets)
    }
    knowledge.note(ended: 35)
    #expect(knowledge.settled == 3)
    knowledge.note(ended: 1_000)
    #expect(knowledge.settled == 100)
  }

  @Test("the late result of a slow call does not unsettle a number")
  func slowCall() {
    var knowledge = Knowledge()
    knowledge.add(Knowledge.Ticket(number: 9, id: 50))
    knowledge.add(Knowledge.Ticket(number: 8, id: 40))
    #expect(knowledge.tickets.map(\.number) == [9])
    knowledge.note(ended: 60)
    knowledge.note(ended: 45)
    #expect(knowledge.settled == 9)
  }
}

/// Each test with an open transaction has a server of its own.
@Suite(
  "Lists that are read on from a number", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct SettledListTests {
  private let openPush = """
    INSERT INTO pushes
      (apns_id, account, device, kind, app, environment, priority, body, state, created_at, expires_at)
    VALUES ('00000000-0000-0000-0000-000000000001', 'shop', 'phone', 'background', 'app', 'production', 5, '', 'waiting',
      0, 0)
    """

  private func register(_ ledger: PostgreSQLLedger) async throws {
    try await ledger.register(
      NewDevice(account: "shop", id: "phone", app: "app", environment: .production),
      key: NewKey(id: "key", account: "shop", digest: digest("key"), scopes: ["device"], device: "phone"),
      renewsKey: false, with: nil, by: .key("admin"))
  }

  private var push: NewPush {
    NewPush(
      device: "phone", kind: .background, priority: 5, expiresAt: Date().addingTimeInterval(3_600),
      body: NewPush.Body(Data("{}".utf8)))
  }

  @Test(
    "a push after that of an open transaction is listed once the transaction has ended, and neither is listed twice")
  func openTransaction() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer(), patience: .milliseconds(100))
    try await register(nodes.first)
    let before = try await nodes.first.accept([push], account: "shop")
    // Each sender lists the pushes when it starts. It then knows that no earlier push can appear.
    for ledger in nodes.both { #expect(try await ledger.unfinishedPushes(after: 0, limit: 10).map(\.number) == before) }
    let open = try await OpenTransaction(on: nodes, openPush)
    let after = try await nodes.second.accept([push], account: "shop")
    for ledger in nodes.both {
      #expect(try await ledger.unfinishedPushes(after: 0, limit: 10).map(\.number) == before)
    }
    try await open.commit()
    let rest = try await nodes.first.unfinishedPushes(after: try #require(before.last), limit: 10).map(\.number)
    #expect(rest.count == 2 && rest.last == after.last && rest == rest.sorted())
  }

  @Test("pushes are listed again after the database was replaced by an older copy")
  func olderCopy() async throws {
    let nodes = try await TwoNodes()
    try await register(nodes.first)
    for _ in 0..<5 { _ = try await nodes.first.accept([push], account: "shop") }
    #expect(try await nodes.first.unfinishedPushes(after: 0, limit: 10).count == 5)
    try await nodes.run("WITH gone AS (DELETE FROM pushes WHERE number > 2) SELECT setval('push_numbers', 2)")
    #expect(try await nodes.first.unfinishedPushes(after: 0, limit: 10).map(\.number) == [1, 2])
    let numbers = try await nodes.second.accept([push], account: "shop")
    #expect(try await nodes.first.unfinishedPushes(after: 2, limit: 10).map(\.number) == numbers)
  }

  @Test("an open transaction in another database of the server does not delay pushes")
  func otherDatabase() async throws {
    let server = try await PostgreSQLServer()
    let (nodes, others) = (try await TwoNodes(on: server), try await TwoNodes(on: server))
    try await register(nodes.first)
    let open = try await OpenTransaction(on: others, openPush)
    let numbers = try await nodes.second.accept([push], account: "shop")
    #expect(try await nodes.first.unfinishedPushes(after: 0, limit: 10).map(\.number) == numbers)
    try await open.commit()
  }

  @Test("a sender that keeps reading while two nodes accept pushes gets every push once")
  func reader() async throws {
    let nodes = try await TwoNodes()
    try await register(nodes.first)
    let reader = Task {
      var seen: [Int64] = []
      while seen.count < 300 {
        seen += try await nodes.second.unfinishedPushes(after: seen.last ?? 0, limit: 7).map(\.number)
        try Task.checkCancellation()
      }
      return seen
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<300 {
        group.addTask { try await nodes.both[place % 2].accept([push], account: "shop") }
      }
      try await group.waitForAll()
    }
    let seen = try await reader.value
    #expect(seen == Set(seen).sorted())
    #expect(try await nodes.first.unfinishedPushes(after: 0, limit: 1_000).map(\.number) == seen)
  }

  @Test("a reader of the library gets every change, even if it continues at another node")
  func library() async throws {
    let nodes = try await TwoNodes()
    let reader = Task {
      var (seen, anchor): ([String], LibraryAnchor?) = ([], nil)
      for turn in 0... {
        let page = try await nodes.both[turn % 2].libraryChanges(
          account: "shop", group: "group.shop", after: anchor, limit: 7)
        seen += page?.changes.map(\.name) ?? ["expired"]
        anchor = page?.anchor
        try Task.checkCancellation()
        if seen.count >= 100 { break }
      }
      return seen
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<100 {
        group.addTask {
          let clip = LibrarySound(
            name: "\(place).wav", group: "group.shop", sha256: String(repeating: "a", count: 64), bytes: 1)
          try await nodes.both[place % 2].note(
            clips: [clip.name], ofBatch: "batch", account: "shop", files: [clip])
        }
      }
      try await group.waitForAll()
    }
    #expect(try await Set(reader.value) == Set((0..<100).map { "\($0).wav" }))
    #expect(try await reader.value.count == 100)
  }
}
