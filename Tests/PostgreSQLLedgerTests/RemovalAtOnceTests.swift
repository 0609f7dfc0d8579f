// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "One node that removes what another one uses", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct RemovalAtOnceTests {
  @Test("an announcement that is answered again while it is removed is either whole or gone")
  func removal() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<30 {
      let id = "A-\(round)"
      let number = try await nodes.first.accept(answer: answer(id, decision: decided), playing: payment(id))
        .acceptance?.number
      _ = try await nodes.first.set(try number.orThrow("a number"), .cancelled)
      async let again = nodes.second.accept(answer: answer(id, key: "again", decision: decided), playing: payment(id))
      let removal = try await nodes.first.remove(account: "shop", id: id)
      let acceptance = try await again
      let left = try await nodes.second.announcement(account: "shop", id: id)
      if case .removed = removal, acceptance.acceptance?.isDuplicate == true {
        // The removal came second, and has removed the second answer too.
        #expect(left == nil)
      } else {
        #expect(left?.answer != nil && left?.entry != nil && left?.decision != nil)
      }
      // No decision is left without another row about its announcement.
      let alone = try await nodes.texts(
        """
        SELECT id AS value FROM decisions WHERE NOT EXISTS (SELECT 1 FROM answers WHERE answers.id = decisions.id)
          AND NOT EXISTS (SELECT 1 FROM announcements WHERE announcements.id = decisions.id)
        """)
      #expect(alone == [])
      try await nodes.run("DELETE FROM answers WHERE key = 'again'")
    }
  }

  @Test("a decision stays as long as it has an answer, even one that is stored while its other answers are pruned")
  func pruning() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<30 {
      let id = "A-\(round)"
      _ = try await nodes.first.accept(answer: answer(id, decision: decided))
      async let again = nodes.second.accept(answer: answer(id, key: "again-\(round)", decision: decided))
      _ = try await nodes.first.pruneAnswers(before: Date().addingTimeInterval(0.001))
      _ = try await again
      let left = try await nodes.second.announcement(account: "shop", id: id)
      #expect((left?.answer != nil) == (left?.decision != nil))
    }
  }

  @Test("a payment that is restored while its summary fails is played by itself")
  func summary() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<30 {
      let lane = "lane-\(round)"
      let members = [
        try await nodes.first.accept(payment("A-\(round)", lane: lane)).number,
        try await nodes.first.accept(payment("B-\(round)", lane: lane)).number,
      ]
      var new = payment("S-\(round)", account: "", lane: lane)
      new.kind = .summary
      let summary = try await nodes.first.accept(new, standingFor: members).number
      _ = try await nodes.first.set(members[0], .cancelled)
      _ = try await nodes.first.set(summary, .rendering)
      async let restored = nodes.second.restore(members[0])
      _ = try await nodes.first.set(summary, .failed)
      _ = try await restored
      // The summary was not played, so each of its unfinished members is to be played by itself.
      let unfinished = try await nodes.first.unfinished(lane: lane).map(\.number)
      let alone = try await nodes.first.unfinishedAlone(lane: lane, limit: 200).map(\.number)
      #expect(unfinished == alone && alone.contains(members[1]))
    }
  }
}
