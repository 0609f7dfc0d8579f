// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import SQLiteLedger
import Testing

@Suite("A home of an earlier version", .timeLimit(.minutes(10)))
struct EarlierHomeTests {
  private static let waiting = (1...4).map { "waiting-\($0)" }

  @Test(
    "announcements that wait in an earlier version's home are played, and announcements already played are not repeated"
  )
  func playedOn() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "ledger.sqlite")
    try EarlierLedger.write(to: file)
    let created = try crier.run(["keys", "create", "--json", "--account", "shop", "--locale", "zh-CN"])
    let key = try #require(try JSONValue(Data(created.output.utf8))["key"]?.string)
    let service = try RunningService(of: crier)
    let ledger = try SQLiteLedger(at: file)
    while try await ledger.unfinishedAloneCount(lane: "null") > 0 { try Task.checkCancellation() }

    let entries = try await ledger.recent(20, lane: "null")
    let played = entries.filter { $0.number > 2 && $0.state == .played }.sorted { $0.number < $1.number }
    #expect(played.map(\.id) == Self.waiting)
    #expect(entries.filter { $0.number <= 2 }.allSatisfy { $0.state == .played && $0.attempts == 1 })
    // The replays have expired, and the file of this machine does not exist here.
    #expect(entries.filter { $0.number > 6 }.allSatisfy { $0.state == .expired || $0.state == .failed })
    // The clips are in the group of the key of that time: it is the group that the migration found.
    let clip = try #require(try await ledger.entry(account: "shop", id: "waiting-1")?.clip)
    let path = crier.home.appending(path: "containers/group.tills/Library/Sounds/\(clip)").path(percentEncoded: false)
    #expect(FileManager.default.fileExists(atPath: path))

    // A retry with the same bytes is the same request although its answer has expired, and other bytes are not.
    let body = #" {"id":"waiting-1","amount":"20.00","currency":"CNY","deliver":["play","clip"]}"#
    #expect(try service.announce(body, key: key).status == 201)
    #expect(try service.announce(body.replacingOccurrences(of: "20.00", with: "20.01"), key: key).status == 409)
    #expect(try await ledger.recent(20, lane: "null").count == entries.count)
  }

  @Test(
    "an older home without stored decisions is migrated, plays what waits, and answers retries with the same bytes")
  func undecided() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "ledger.sqlite")
    try EarlierLedger.write(.fourteen, to: file)
    let responses = try EarlierLedger.responses(in: file)
    let created = try crier.run(["keys", "create", "--json", "--account", "shop", "--locale", "zh-CN"])
    let key = try #require(try JSONValue(Data(created.output.utf8))["key"]?.string)
    let service = try RunningService(of: crier)
    let ledger = try SQLiteLedger(at: file)
    while try await ledger.unfinishedAloneCount(lane: "null") > 0 { try Task.checkCancellation() }

    let played = try await ledger.recent(20, lane: "null").sorted { $0.number < $1.number }
    #expect(played.map(\.id) == ["heard-1", "waiting-1", "waiting-2", "text-key"])
    #expect(played.allSatisfy { $0.state == .played && $0.attempts == 1 }, "each of them once")
    #expect(played[0].decision == nil && played[1].decision?.text == "到账二十元")
    #expect(played[2].decision?.locale == "en-US" && played[2].decision?.clip.group == "group.tills")

    let bodies = [
      "heard-1": #"{"id":"heard-1","amount":"12.50","currency":"CNY","channel":"alipay","payer":"张三","note":"谢谢","#
        + #""sequence":1,"occurred_at":"2026-11-20T20:23:58Z","deliver":["clip","play"]}"#,
      "waiting-1": #"{"id":"waiting-1","amount":"20.00","currency":"CNY","deliver":["play"]}"#,
      "clip-1": #"{"id":"clip-1","amount":"3.00","currency":"EUR","locale":"es-ES"}"#,
    ]
    for (id, body) in bodies {
      let answer = try service.announce(body, key: key)
      #expect(answer.status == 200 && answer.body == responses[id], "\(id)")
    }
    #expect(try await ledger.recent(20, lane: "null").count == played.count, "a retry is not played again")
  }

  @Test("crier queue shows the words of waiting announcements of an earlier home, in the language of the sender's key")
  func queue() throws {
    let crier = try Command()
    defer { crier.remove() }
    try EarlierLedger.write(to: crier.home.appending(path: "ledger.sqlite"))
    let queue = try crier.run(["queue", "--output", "null"])
    #expect(queue.status == 0, "\(queue.message)")
    #expect(queue.output.contains("二十元") && queue.output.contains("The shop closes in ten minutes"))
    let json = try crier.run(["queue", "--output", "null", "--json"])
    let waiting = try #require(try JSONValue(Data(json.output.utf8))["waiting"]?.array)
    // Money goes first, then the replays, then the text and the file. Only requests have an id.
    #expect(waiting.compactMap { $0["id"]?.string } == ["waiting-1", "waiting-2", "waiting-4", "waiting-3"])
    #expect(waiting.compactMap { $0["replay"]?.boolean } == [false, false, false, true, true, false, false])
  }
}
