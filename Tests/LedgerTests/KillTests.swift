// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import Testing

@testable import SQLiteLedger

@Suite("Killed processes")
struct KillTests {
  @Test(
    "all announcements that were confirmed before SIGKILL are stored with the same numbers", .timeLimit(.minutes(10)))
  func killed() async throws {
    let place = try TemporaryLedger()
    var promised: [Int64: String] = [:]
    for round in 0..<15 {
      let writer = try Writer("accept", place.file.path)
      let early = try writer.lines(1 + round * 37)
      writer.kill()
      let late = try writer.lines()
      for line in early + late {
        let parts = line.split(separator: " ")
        let number = try #require(Int64(parts[0]))
        #expect(promised.updateValue(String(parts[1]), forKey: number) == nil)
      }
      let ledger = try place.open()
      for (number, id) in promised { #expect(try await ledger.entry(number)?.id == id) }
    }
    #expect(promised.count > 3000)
    let ledger = try place.open()
    let stored = try #require(try await ledger.counts(lane: nil)[.accepted])
    // At each kill, each of the four tasks may have stored one announcement that it had not promised yet.
    #expect(stored >= promised.count && stored <= promised.count + 15 * 4)
  }

  @Test(
    "everything that was confirmed before SIGKILL is stored, and each response has its announcement and vice versa",
    .timeLimit(.minutes(2)))
  func answers() async throws {
    let place = try TemporaryLedger()
    let ledger = try place.open()
    var promised: [String: Int64] = [:]
    for round in 0..<10 {
      let writer = try Writer("answer", place.file.path)
      let early = try writer.lines(1 + round * 23)
      writer.kill()
      for line in try early + writer.lines() {
        let parts = line.split(separator: " ")
        promised[String(parts[1])] = Int64(parts[0]) ?? 0
      }
    }
    #expect(promised.count > 1_000)
    for (id, number) in promised {
      let found = try #require(try await ledger.announcement(account: "", id: id))
      #expect(found.entry?.number == number && found.answer?.report == Data(id.utf8))
    }
    let halves = try await ledger.read {
      try Int.fetchOne(
        $0,
        sql: """
          SELECT (SELECT count(*) FROM answers WHERE id NOT IN (SELECT id FROM announcements))
               + (SELECT count(*) FROM announcements WHERE id NOT IN (SELECT id FROM answers))
          """)
    }
    #expect(halves == 0)
  }

  @Test(
    "after SIGKILL, every stored answer has led to one webhook message or is counted as missed", .timeLimit(.minutes(5))
  )
  func webhooks() async throws {
    let place = try TemporaryLedger()
    let ledger = try place.open()
    let id = try await ledger.register(newEndpoint(), by: .currentUser).id
    var promised = 0
    for round in 0..<5 {
      let writer = try Writer("answer", place.file.path, "shop")
      promised += try writer.lines(1 + round * 37).count
      writer.kill()
      promised += try writer.lines().count
    }
    let again = try place.open()
    let answers = try await again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM answers") ?? 0 }
    let counts = try #require(try await again.webhookEndpoint(account: "shop", id: id)).counts
    #expect(answers >= promised && promised > 100)
    #expect(counts.waiting + counts.missed == answers)
    let stored = try await again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM webhooks") ?? 0 }
    #expect(counts.waiting == stored)
  }

  @Test("many processes can open and close one ledger file at the same time", .timeLimit(.minutes(5)))
  func opening() async throws {
    let place = try TemporaryLedger()
    let writers = try (0..<4).map { _ in try Writer("open", place.file.path, "10") }
    let ledger = try place.open()
    for id in 0..<50 { try await _ = ledger.accept(payment("\(id)")) }
    for writer in writers {
      writer.process.waitUntilExit()
      #expect(writer.process.terminationStatus == 0)
    }
    #expect(try await ledger.counts(lane: nil)[.accepted] == 50)
  }
}
