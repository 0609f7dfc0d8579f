// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "The register of nodes", .serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct NodeTests {
  @Test("each node sees all nodes, and what each of them holds")
  func all() async throws {
    let nodes = try await TwoNodes()
    #expect(try await nodes.first.nodes().isEmpty)
    for node in nodes.both { try await node.noteNode() }
    let pushes = try #require(try await nodes.first.takeSeat(of: .pushes))
    let webhooks = try #require(try await nodes.first.takeSeat(of: .webhooks))
    let lane = try await nodes.second.takeSeat(lane: "counter")
    let seen = try await nodes.second.nodes()
    #expect(seen.map(\.id) == nodes.both.map(\.node.id))
    #expect(seen.map(\.description.host) == ["shop-1", "shop-2"])
    #expect(seen.map(\.deliveries) == [[.pushes, .webhooks], []])
    #expect(seen.map(\.lanes) == [[], ["counter"]])
    #expect(seen.allSatisfy { $0.silence >= 0 && abs($0.startedAt.timeIntervalSinceNow) < 600 })
    for seat in [pushes, webhooks] { await seat.giveBack() }
    await lane.giveBack()
    #expect(try await nodes.first.nodes().allSatisfy { $0.deliveries.isEmpty && $0.lanes.isEmpty })
  }

  @Test("the silence of a node grows by the clock of the database, and ends when the node reports again")
  func silence() async throws {
    let nodes = try await TwoNodes()
    try await nodes.first.noteNode()
    try await nodes.run("UPDATE nodes SET seen_at = seen_at - interval '90 seconds'")
    let silence = try #require(try await nodes.second.nodes().first?.silence)
    #expect(silence >= 90)
    try await nodes.first.noteNode()
    #expect(try #require(try await nodes.second.nodes().first?.silence) < silence)
  }

  @Test("fingerprints stay until the node gives others, also when it takes a lease")
  func fingerprints() async throws {
    let nodes = try await TwoNodes()
    try await nodes.first.noteNode([.lexicon: "a", .setting("locale"): "b"])
    try await nodes.first.noteNode()
    await (try #require(try await nodes.first.takeSeat(of: .pushes))).giveBack()
    // An earlier version does not write the column.
    try await nodes.second.noteNode()
    let seen = try await nodes.second.nodes().map(\.fingerprints)
    #expect(seen == [[.lexicon: "a", .setting("locale"): "b"], [:]])
    try await nodes.first.noteNode([.lexicon: "c"])
    #expect(try await nodes.second.nodes().first?.fingerprints == [.lexicon: "c"])
  }

  @Test("the examination of a database finds what differs between its nodes")
  func examined() async throws {
    let nodes = try await TwoNodes()
    try await nodes.first.noteNode([.lexicon: "a", .packs: "p"])
    try await nodes.second.noteNode([.lexicon: "b", .packs: "p"])
    let found = try await PostgreSQLLedger.examine(nodes.address, at: Date(), within: .seconds(120))
    let difference = try #require(found.contents?.differences.first)
    #expect(found.contents?.differences.count == 1 && difference.thing == .lexicon)
    #expect(difference.groups.map { $0.map(\.description.host) } == [["shop-1"], ["shop-2"]])
  }

  @Test("a node that was silent for a day is forgotten, unless it owns a lane")
  func forgotten() async throws {
    let nodes = try await TwoNodes()
    let other = try await nodes.open()
    try await other.noteNode()
    await (try await nodes.first.takeSeat(lane: "counter")).giveBack()
    try await nodes.run("UPDATE nodes SET seen_at = seen_at - interval '2 days'")
    #expect(try await nodes.second.nodes().isEmpty)
    try await nodes.second.noteNode()
    let ids = try await nodes.texts("SELECT id AS value FROM nodes")
    #expect(Set(ids) == Set(nodes.both.map(\.node.id)))
    let error = await #expect(throws: LedgerError.self) { try await nodes.second.takeSeat(lane: "counter") }
    #expect(error?.machine == "shop-1")
    await other.close()
  }

  @Test("the id of a home folder stays, and a file that holds something else is not used")
  func home() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try NodeIdentity(folder: folder)
    #expect(first.home.count == 32 && first.id.hasPrefix("\(first.home).") && first.id.count == 49)
    let second = try NodeIdentity(folder: folder)
    #expect(second.home == first.home && second.id != first.id)
    for text in ["", "zz", String(repeating: "a", count: 31), String(repeating: "g", count: 32)] {
      try Data(text.utf8).write(to: folder.appending(path: "node"))
      let other = try NodeIdentity(folder: folder)
      #expect(other.home != first.home && other.home.count == 32)
      #expect(try NodeIdentity(folder: folder).home == other.home)
    }
  }

  @Test("two processes that start at the same time in a new home folder get the same id of the folder")
  func atOnce() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "node-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let ids = try await withThrowingTaskGroup(of: NodeIdentity.self) { group in
      for _ in 0..<4 { group.addTask { try NodeIdentity(folder: folder) } }
      return try await group.reduce(into: [NodeIdentity]()) { $0.append($1) }
    }
    #expect(Set(ids.map(\.home)).count == 1 && Set(ids.map(\.id)).count == 4)
  }

  @Test(
    "the name of a machine has only characters that a lane and a metric can have",
    arguments: [
      ("shop-12.example_a", "shop-12.example_a"), ("a b\"c\n", "a-b-c-"), ("柜台", "--"), ("", "unknown"),
      (String(repeating: "a", count: 100), String(repeating: "a", count: 64)),
    ])
  func names(given: String, name: String) {
    #expect(Ledger.Node.Description(host: given).host == name)
    #expect(!Ledger.Node.Description().host.isEmpty)
  }
}
