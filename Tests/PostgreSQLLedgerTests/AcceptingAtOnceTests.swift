// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import PushMessages
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "Two nodes that accept at once", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct AcceptingAtOnceTests {
  @Test("an id that both nodes accept at the same moment is one announcement")
  func sameID() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<20 {
      let new = payment("A-\(round)")
      let acceptances = try await withThrowingTaskGroup(of: Ledger.Acceptance.self) { group in
        for ledger in nodes.both { for _ in 0..<3 { group.addTask { try await ledger.accept(new) } } }
        return try await group.reduce(into: [Ledger.Acceptance]()) { $0.append($1) }
      }
      #expect(acceptances.count { !$0.isDuplicate } == 1)
      #expect(Set(acceptances.map(\.number)).count == 1)
      #expect(acceptances.allSatisfy { $0.state == .accepted && $0.isSamePayload })
    }
    #expect(try await nodes.first.unfinishedAloneCount(lane: "counter") == 20)
  }

  @Test("a request that both nodes answer at the same moment has one answer, which both of them give")
  func sameKey() async throws {
    let nodes = try await TwoNodes()
    for round in 0..<20 {
      let acceptances = try await withThrowingTaskGroup(of: Ledger.AnswerAcceptance.self) { group in
        for (place, ledger) in nodes.both.enumerated() {
          group.addTask {
            // The nodes have chosen different ids for the same request.
            let id = "A-\(round)-\(place)"
            return try await ledger.accept(
              answer: answer(id, key: "key-\(round)", decision: decided), playing: payment(id))
          }
        }
        return try await group.reduce(into: [Ledger.AnswerAcceptance]()) { $0.append($1) }
      }
      #expect(acceptances.count { !$0.isDuplicate } == 1)
      #expect(Set(acceptances.map(\.answer.id)).count == 1)
      #expect(Set(acceptances.map { $0.acceptance?.number }).count == 1)
      #expect(acceptances.allSatisfy { $0.isSameBody })
    }
    // What the loser had begun to store is not left behind.
    #expect(try await nodes.first.unfinishedAloneCount(lane: "counter") == 20)
    #expect(try await nodes.texts("SELECT id AS value FROM decisions").count == 20)
  }

  @Test("each answer in a shared transaction goes to its own caller, and an answer that breaks a rule fails alone")
  func batches() async throws {
    let nodes = try await TwoNodes()
    try await nodes.run(
      """
      INSERT INTO devices (account, id, app, environment, registered_at, changed_at)
      VALUES ('shop', 'phone', 'app', 'production', 0, 0)
      """)
    // The body of a push is too long for APNs, which is found out in the transaction.
    let tooLong = NewPush(
      device: "phone", kind: .alert, priority: 10, expiresAt: Date().addingTimeInterval(3_600),
      body: NewPush.Body(beforeSequence: Data(count: 5_000), afterSequence: Data()))
    let results = await withTaskGroup(of: (Int, Result<Ledger.AnswerAcceptance, LedgerError>).self) { group in
      for place in 0..<100 {
        group.addTask {
          do throws(LedgerError) {
            let acceptance = try await nodes.both[place % 2].accept(
              answer: answer("A-\(place)", decision: decided), playing: payment("A-\(place)"),
              pushing: place == 50 ? [tooLong] : [], publishing: [])
            return (place, .success(acceptance))
          } catch {
            return (place, .failure(error))
          }
        }
      }
      return await group.reduce(into: [Int: Result<Ledger.AnswerAcceptance, LedgerError>]()) { $0[$1.0] = $1.1 }
    }
    for (place, result) in results {
      switch result {
      case .success(let acceptance): #expect(acceptance.answer.id == "A-\(place)" && !acceptance.isDuplicate)
      case .failure(let error): #expect(place == 50 && error.code == .invalidValue)
      }
    }
    #expect(try await nodes.second.unfinishedAloneCount(lane: "counter") == 99)
    #expect(try await nodes.second.entry(account: "shop", id: "A-7")?.decision?.loudnessLUFS == -16.25)
  }

  @Test("the numbers of a lane become visible in their order, so a player that reads on misses no announcement")
  func numbers() async throws {
    let nodes = try await TwoNodes()
    let reader = Task {
      var seen: [Int64] = []
      while seen.count < 200 {
        let page = try await nodes.second.unfinished(lane: "counter", after: seen.last ?? 0, limit: 200)
        seen += page.map(\.number)
        try Task.checkCancellation()
      }
      return seen
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<200 {
        group.addTask { _ = try await nodes.both[place % 2].accept(payment("A-\(place)")) }
      }
      try await group.waitForAll()
    }
    let accepted = try await nodes.first.unfinished(lane: "counter", limit: 1_000).map(\.number)
    #expect(try await reader.value == accepted)
  }

  @Test("the numbers of the pushes to a device have no gap and rise with the outbox, also when an acceptance fails")
  func sequences() async throws {
    let nodes = try await TwoNodes()
    try await nodes.run(
      """
      INSERT INTO devices (account, id, app, environment, registered_at, changed_at)
      SELECT 'shop', name, 'app', 'production', 0, 0 FROM unnest(ARRAY['till', 'phone']) AS name
      """)
    let expires = Date().addingTimeInterval(3_600)
    await withTaskGroup(of: Void.self) { group in
      for place in 0..<60 {
        group.addTask {
          // Both orders of the devices, so that transactions would wait for each other in a circle if they locked them
          // in the order of the call.
          let devices = place % 2 == 0 ? ["phone", "till"] : ["till", "phone"]
          let pushes = devices.map { device in
            NewPush(
              device: device, kind: .alert, priority: 10, expiresAt: expires,
              body: NewPush.Body(
                beforeSequence: Data(count: place % 10 == 9 ? 5_000 : 1), afterSequence: Data()))
          }
          _ = try? await nodes.both[place / 2 % 2].accept(answer: answer("A-\(place)"), pushing: pushes)
        }
      }
    }
    for device in ["phone", "till"] {
      let sequences = try await nodes.texts(
        "SELECT sequence::text AS value FROM pushes WHERE device = '\(device)' ORDER BY number")
      #expect(sequences == (1...54).map(String.init))
    }
  }

  @Test("a limit of replays holds when both nodes accept them at the same moment")
  func replays() async throws {
    let nodes = try await TwoNodes()
    let original = try await nodes.first.accept(payment("A-1")).number
    let results = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for place in 0..<20 {
        group.addTask {
          do throws(LedgerError) {
            var replay = payment("R-\(place)", account: "")
            replay.isReplay = true
            _ = try await nodes.both[place % 2].accept(replay, again: original, for: nil)
            return nil
          } catch {
            return error.code
          }
        }
      }
      return await group.reduce(into: [LedgerError.Code?]()) { $0.append($1) }
    }
    #expect(results.count { $0 == nil } == Ledger.maximumReplays)
    #expect(results.allSatisfy { $0 == nil || $0 == .tooManyReplays })
  }

  @Test("a command is given to one of two players that take commands at the same moment")
  func commands() async throws {
    let nodes = try await TwoNodes()
    for volume in 0..<50 { try await nodes.both[volume % 2].send(.volume(volume), lane: "counter") }
    async let second = nodes.second.takeCommands(lane: "counter")
    let taken = try await nodes.first.takeCommands(lane: "counter") + second
    #expect(taken.map(\.number).sorted() == (1...50).map { $0 })
  }
}
