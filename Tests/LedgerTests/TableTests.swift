// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import PushMessages
import Testing
import WebhookMessages

@testable import SQLiteLedger

@Suite("The tables of the ledger's file")
struct TableTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func answer(_ id: String, rendered: [String: String]? = nil) -> NewAnswer {
    NewAnswer(
      account: "shop", key: "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data("{}".utf8),
      rendered: rendered)
  }

  @Test("the words of pruned answers are removed from the ledger's file")
  func prunedWords() async throws {
    var new = answer("A")
    new.report = Data(#"{"text":"收到王五的钱"}"#.utf8)
    _ = try await ledger.accept(answer: new, playing: payment("A", account: "shop"))
    func words() async throws -> Int? {
      try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(words) FROM answers") }
    }
    #expect(try await words() == 1)
    try await ledger.pruneAnswers(before: place.clock.now.addingTimeInterval(1))
    #expect(try await words() == 0)
  }

  @Test("the library has one row for each name, however often its file changed")
  func libraryRows() async throws {
    for round in 0..<50 {
      let clip = libraryClip("a.wav", round.isMultiple(of: 2) ? "1" : "2")
      _ = try await ledger.accept(answer: answer("\(round)"), playing: nil, pushing: [], publishing: [clip])
    }
    try await ledger.removeFromLibrary(clip: "a.wav", group: "group.crier")
    let rows = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM library_changes") }
    #expect(rows == 1)
  }

  @Test("the tokens of a removed device are removed from the ledger's file")
  func tokens() async throws {
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [.alert: id])) }
    #expect(try await ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin")))
    let left = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM device_tokens") }
    #expect(left == 1)
  }

  @Test("the version number of the keys changes when a key is changed or deleted directly in the database file")
  func byHand() async throws {
    try await ledger.createKey(newKey("a"))
    let other = try DatabaseQueue(waitingFor: place.file)
    for statement in ["UPDATE keys SET scopes = 'read'", "UPDATE keys SET rate = 1, burst = 1", "DELETE FROM keys"] {
      let version = try await ledger.keysVersion()
      try await other.write { try $0.execute(sql: statement) }
      #expect(try await ledger.keysVersion() != version, "\(statement)")
    }
  }

  @Test("a recorded action on a key cannot be changed")
  func unchanged() async throws {
    try await ledger.record(.playbackPaused, by: .key("a"), subject: nil)
    await #expect(throws: DatabaseError.self) {
      try await place.fill { try $0.execute(sql: "UPDATE administration SET actor = 'key:b'") }
    }
    #expect(try await ledger.administrativeActs().map(\.actor) == ["key:a"])
  }

  @Test(
    "if an announcement cannot be written, its response is not stored, and other announcements of the batch are stored")
  func together() async throws {
    let other = try DatabaseQueue(waitingFor: place.file)
    try await other.write {
      try $0.execute(
        sql: """
          CREATE TRIGGER refuse BEFORE INSERT ON announcements WHEN NEW.id = '7'
          BEGIN SELECT RAISE(ABORT, 'no'); END
          """)
    }
    let failed = await withTaskGroup(of: String?.self) { group in
      for id in 0..<20 {
        group.addTask {
          do {
            _ = try await ledger.accept(
              answer: answer("\(id)"), playing: payment("\(id)", account: "shop"))
            return nil
          } catch { return "\(id)" }
        }
      }
      return await group.reduce(into: [String]()) { if let id = $1 { $0.append(id) } }
    }
    #expect(failed == ["7"])
    #expect(try await ledger.known(account: "shop", key: "id:7", id: "nobody's").answer == nil)
    let all = try await ledger.announcements(account: "shop").announcements
    #expect(all.count == 19 && all.allSatisfy { $0.entry != nil && $0.answer != nil })
  }

  @Test(
    "a webhook endpoint of an earlier version gets all details as texts, and a new endpoint gets numbers and booleans")
  func formats() async throws {
    let old = try await ledger.register(newEndpoint("old"), by: .currentUser).id
    let new = try await ledger.register(newEndpoint("new"), by: .currentUser).id
    func body(_ endpoint: String) async throws -> String {
      let message = try #require(try await ledger.webhooks(account: "shop", endpoint: endpoint).first?.message)
      return String(decoding: message.body, as: UTF8.self)
    }
    #expect(try await ledger.webhookEndpoint(account: "shop", id: new)?.format == .typed)
    try await DatabaseQueue(waitingFor: place.file).write {
      try $0.execute(sql: "UPDATE webhook_endpoints SET format = 1 WHERE id = ?", arguments: [old])
    }
    _ = try await ledger.accept(answer: answer("a", rendered: ["cached": "false", "duration_ms": "1333"]))
    #expect(try await body(old).contains(#""detail":{"cached":"false","duration_ms":"1333"}"#))
    #expect(try await body(new).contains(#""detail":{"cached":false,"duration_ms":1333}"#))
  }

  @Test("a webhook attempt that an earlier version stored has no message and no kind")
  func attempts() async throws {
    let id = try await ledger.register(newEndpoint(), by: .currentUser).id
    _ = try await ledger.testWebhookEndpoint(account: "shop", id: id)
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let attempt = Ledger.WebhookAttempt(
      startedAt: place.clock.now, outcome: .serverFailed, nextAt: place.clock.now + 5, patience: 86_400)
    _ = try await ledger.record(attempt, ofWebhook: number)
    try await place.fill { try $0.execute(sql: "UPDATE webhook_attempts SET message = NULL, kind = NULL") }
    let kept = try await ledger.webhookAttempts(account: "shop", endpoint: id)
    #expect(kept.count == 1 && kept.allSatisfy { $0.message == nil && $0.kind == nil })
  }
}
