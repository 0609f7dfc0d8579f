// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("A home of an earlier version", .timeLimit(.minutes(10)))
struct EarlierHomeTests {
  private static let waiting = (1...4).map { "waiting-\($0)" }

  @Test("the announcements that waited in it are played, and what was played is not played again")
  func playedOn() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "ledger.sqlite")
    try EarlierLedger.write(to: file)
    let created = try crier.run(["keys", "create", "--json", "--account", "shop", "--locale", "zh-CN"])
    let key = try #require(try JSONValue(Data(created.output.utf8))["key"]?.string)
    let service = try RunningService(of: crier)
    let ledger = try Ledger(at: file)
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

  @Test("crier queue shows what waits in it by its words, in the language of the key that sent it")
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
