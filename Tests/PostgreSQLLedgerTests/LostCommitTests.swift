// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

/// Each test has a server of its own, because the test stops the server.
@Suite(
  "Servers that stop", .serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct LostCommitTests {
  /// Lets each commit wait for a standby that does not exist, after it is on the server's disk.
  private func holdCommits(_ nodes: TwoNodes) async throws {
    try await nodes.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try await nodes.run("SELECT pg_reload_conf()")
  }

  /// Stops the server while a commit waits, and starts it again without the standby.
  private func stopAndStart(_ nodes: TwoNodes) async throws {
    let database = try await nodes.texts("SELECT current_database()::text AS value")[0]
    try await nodes.server.sessions(of: database, waitFor: "SyncRep")
    try await nodes.run("ALTER SYSTEM RESET synchronous_standby_names")
    try await nodes.server.stopAtOnce()
    try await nodes.server.start()
  }

  @Test("if a commit was lost, the same call returns the announcement with its first number")
  func announcement() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer())
    try await holdCommits(nodes)
    // The server reads its settings a moment later, so the first commits may still be confirmed.
    async let lost = {
      var place = 0
      while true {
        place += 1
        do throws(LedgerError) {
          _ = try await nodes.first.accept(payment("A-\(place)"))
        } catch {
          return (id: "A-\(place)", error: error)
        }
      }
    }()
    try await stopAndStart(nodes)
    let (id, error) = await lost
    #expect(error.code == .outcomeUnknown)
    #expect(error.description.contains("same call again"))
    let stored = try #require(try await nodes.second.entry(account: "shop", id: id))
    let again = try await nodes.first.accept(payment(id))
    #expect(again.isDuplicate && again.number == stored.number && again.isSamePayload)
  }

  @Test("if the commit of a request was lost, the same call returns the stored answer, and the request is played once")
  func request() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer())
    try await holdCommits(nodes)
    async let lost = {
      var place = 0
      while true {
        place += 1
        do throws(LedgerError) {
          _ = try await nodes.first.accept(
            answer: answer("A-\(place)", decision: decided), playing: payment("A-\(place)"))
        } catch {
          return (id: "A-\(place)", error: error)
        }
      }
    }()
    try await stopAndStart(nodes)
    let (id, error) = await lost
    #expect(error.code == .outcomeUnknown)
    let again = try await nodes.second.accept(answer: answer(id, decision: decided), playing: payment(id))
    #expect(again.isDuplicate && again.isSameBody && again.acceptance?.isDuplicate == true)
    let ids = try await nodes.second.unfinished(lane: "counter").map(\.id)
    #expect(ids.count { $0 == id } == 1)
  }

  @Test("a call that comes while the server is down is done when the server is back")
  func down() async throws {
    let nodes = try await TwoNodes(on: try await PostgreSQLServer())
    try await nodes.server.stopAtOnce()
    async let accepted = nodes.first.accept(payment("A-1"))
    try await nodes.server.start()
    #expect(try await !accepted.isDuplicate)
    #expect(try await nodes.second.entry(account: "shop", id: "A-1") != nil)
  }
}
