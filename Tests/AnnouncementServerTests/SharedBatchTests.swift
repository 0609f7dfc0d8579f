// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite(
  "Batches of two nodes",
  .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."),
  .timeLimit(.minutes(10)))
struct SharedBatchTests {
  private static let list = "id,text\na,one\nb,two\nc,three\nd,four\ne,five\n"

  /// Two services on one database, as two nodes have them, and a client of each with the same key.
  private struct Nodes {
    let place: LedgerPlace
    let services: [TestService]
    let clients: [TestClient]

    /// - Parameter change: Changes the options of both services.
    init(_ change: @escaping @Sendable (inout TestService.Options) -> Void = { _ in }) async throws {
      place = try await LedgerUnderTest.postgresql.makePlace()
      var options = LedgerUnderTest.Options()
      // A lease ends only when the test says so, and its holder does not notice that before it stores something.
      (options.lease.length, options.lease.renewal) = (.seconds(3_600), .seconds(3_600))
      var services: [TestService] = []
      for host in ["shop-1", "shop-2"] {
        let ledger = try await place.open(options, on: host)
        services.append(
          try TestService {
            $0.sharedLedger = ledger
            change(&$0)
          })
      }
      self.services = services
      let first = try await services[0].client()
      clients = [first, TestClient(server: services[1].server, key: first.key)]
    }

    /// A client of each node with a key of another account.
    func others() async throws -> [TestClient] {
      let first = try await services[0].client(account: "other")
      return [first, TestClient(server: services[1].server, key: first.key)]
    }

    /// Returns the batch as the ledger has it.
    func stored(_ place: String) async throws -> Ledger.StoredBatch {
      let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
      let ledger = try services[1].ledger.sharedBatches.orThrow("batches of several nodes")
      return try await ledger.batch(id, account: "shop").orThrow("a batch")
    }

    /// Lets the first node work on a batch until it stops in the middle of a row.
    ///
    /// - Returns: The place of the batch.
    func begun(_ list: String = SharedBatchTests.list) async throws -> String {
      let place = try await clients[0].postBatch(list).header("Location").orThrow("a place")
      services[0].voice.hold()
      services[0].startBatches()
      await services[0].voice.isAsked()
      return place
    }
  }

  /// Checks that the result has each row once, on both nodes.
  private func expectWhole(_ place: String, of nodes: Nodes, _ ids: [String] = ["a", "b", "c", "d", "e"]) async throws {
    let results = [try await nodes.clients[0].result(place), try await nodes.clients[1].result(place)]
    #expect(try results[1].map { try $0.string("id") ?? "" }.sorted() == ids)
    #expect(results[0].map(\.text) == results[1].map(\.text))
    let answers = [try await nodes.clients[0].get(place), try await nodes.clients[1].get(place)]
    #expect(answers[0].text == answers[1].text)
    #expect(try answers[0].number("done") == ids.count && answers[0].number("rows") == ids.count)
  }

  @Test("a batch that one node accepted is listed, made and read by another one, with the same answers")
  func anyNode() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let accepted = try await nodes.clients[0].postBatch(Self.list, query: "?name=prices.csv")
      #expect(accepted.status == 202)
      let place = try accepted.header("Location").orThrow("a place")
      #expect(try await nodes.clients[1].get(place).text == accepted.text)
      #expect(try await nodes.clients[1].get("/v1/batches").text == #"{"batches":[\#(accepted.text)]}"#)
      #expect(try await nodes.clients[0].get(place, ["Accept": "application/jsonl"]).code == "batch_running")
      nodes.services[1].startBatches()
      let end = try await nodes.clients[0].end(of: place)
      #expect(try end.string("state") == "done" && end.number("done") == 5 && end.string("name") == "prices.csv")
      try await expectWhole(place, of: nodes)
      #expect(nodes.services[0].voice.calls == 0 && nodes.services[1].voice.calls == 5)
      let folder = nodes.services[0].folder.url.appending(path: "batches").path(percentEncoded: false)
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test("a list that one node accepts while it works on another list is made by another node")
  func whileAnotherWorks() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let first = try await nodes.begun()
      nodes.services[1].startBatches()
      let second = try await nodes.clients[0].postBatch("id,text\nf,six\n").header("Location").orThrow("a place")
      #expect(try await nodes.clients[0].end(of: second).string("state") == "done")
      #expect(try await nodes.clients[1].get(first).string("state") == "running")
      #expect(nodes.services[1].voice.calls == 1, "one node at a time works on a batch")
      try await eventually { await nodes.services[0].server.nodeService?.nodes()?.map(\.batches).max() == 1 }
      nodes.services[0].voice.release()
      #expect(try await nodes.clients[1].end(of: first).string("state") == "done")
      try await expectWhole(first, of: nodes)
    }
  }

  @Test("a node goes on with the batch of one that died, and does not make rows again whose results are stored")
  func died() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      // The fault of the first row is stored while the second row waits for the voice.
      let place = try await nodes.begun("id,text\na\nb,two\nc,three\n")
      try await eventually { try await nodes.clients[1].get(place).number("failed") == 1 }
      nodes.services[1].startBatches()
      #expect(try await nodes.clients[1].get(place).string("state") == "running")
      try await nodes.place.endLeases()
      let end = try await nodes.clients[1].end(of: place)
      #expect(try end.string("state") == "done" && end.number("done") == 2 && end.number("failed") == 1)
      #expect(try end.number("rows") == 3)
      let lines = try await nodes.clients[1].result(place)
      #expect(try lines.map { try $0.string("id") ?? "" }.sorted() == ["", "b", "c"])
      #expect(try await nodes.clients[1].get(place).number("faults.0.line") == 2)
      #expect(nodes.services[1].voice.calls == 2)
      nodes.services[0].voice.release()
    }
  }

  @Test("a node that lost its lease stores no result, and the batch has each row once")
  func lostLease() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.begun()
      nodes.services[1].startBatches()
      try await nodes.place.endLeases()
      _ = try await nodes.clients[1].end(of: place)
      let result = try await nodes.clients[1].result(place).map(\.text)
      nodes.services[0].voice.release()
      try await eventually { nodes.services[0].log.lines.contains { $0.contains("Another node takes over a batch") } }
      #expect(try await nodes.clients[1].result(place).map(\.text) == result)
      try await expectWhole(place, of: nodes)
      #expect(try await nodes.stored(place).state == .done)
    }
  }

  @Test("a service that stops in order gives its batch to another node at once, and its start does not count")
  func stopped() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.clients[0].postBatch(Self.list).header("Location").orThrow("a place")
      nodes.services[0].voice.hold()
      let work = nodes.services[0].startBatches()
      await nodes.services[0].voice.isAsked()
      #expect(try await nodes.stored(place).isHeld)
      #expect(try await nodes.stored(place).starts == 1)
      work.cancel()
      nodes.services[0].voice.release()
      await work.value
      let stored = try await nodes.stored(place)
      #expect(!stored.isHeld && stored.starts == 0 && stored.state == .running)
      nodes.services[1].startBatches()
      #expect(try await nodes.clients[0].end(of: place).string("state") == "done")
      try await expectWhole(place, of: nodes)
    }
  }

  @Test("a waiting batch is cancelled through any node, and no node begins it")
  func cancelledWaiting() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.clients[0].postBatch(Self.list).header("Location").orThrow("a place")
      let answer = try await nodes.clients[1].send(.delete, place)
      #expect(try answer.status == 200 && answer.string("state") == "cancelled" && answer.number("rows") == 0)
      #expect(try answer.string("finished_at") != nil && answer.value("error") == nil)
      for client in nodes.clients {
        #expect(try await client.get(place).text == answer.text)
        #expect(try await client.send(.delete, place).code == "already_ended")
        #expect(try await client.result(place).isEmpty)
      }
      for service in nodes.services { service.startBatches() }
      let next = try await nodes.clients[0].postBatch("text\nsix\n").header("Location").orThrow("a place")
      _ = try await nodes.clients[0].end(of: next)
      #expect(nodes.services.map(\.voice.calls).reduce(0, +) == 1)
    }
  }

  @Test("a running batch is cancelled through another node, and its finished rows stay in the result")
  func cancelledRunning() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.begun()
      let cancelling = Task { try await nodes.clients[1].send(.delete, place) }
      try await eventually { try await nodes.stored(place).isCancelled }
      #expect(try await nodes.clients[0].send(.delete, place).code == "already_ended", "it is in progress")
      #expect(try await nodes.clients[1].get(place).string("state") == "running")
      nodes.services[0].voice.release()
      let answer = try await cancelling.value
      #expect(try answer.status == 200 && answer.string("state") == "cancelled")
      let result = try await nodes.clients[1].result(place)
      #expect(try answer.number("done") == result.count)
      #expect(try await nodes.clients[0].get(place).string("state") == "cancelled")
    }
  }

  @Test("if the node of a batch dies while the batch is being cancelled, another node ends the batch as cancelled")
  func cancelledAndDied() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.begun()
      let cancelling = Task { try await nodes.clients[1].send(.delete, place) }
      try await eventually { try await nodes.stored(place).isCancelled }
      nodes.services[1].startBatches()
      try await nodes.place.endLeases()
      let answer = try await cancelling.value
      #expect(try answer.status == 200 && answer.string("state") == "cancelled" && answer.number("done") == 0)
      #expect(nodes.services[1].voice.calls == 0)
      nodes.services[0].voice.release()
    }
  }

  @Test("the limit of an account's unfinished batches holds over all nodes")
  func limits() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      for number in 0..<4 {
        #expect(try await nodes.clients[number % 2].postBatch("text\none\n").status == 202)
      }
      for client in nodes.clients {
        let refused = try await client.postBatch("text\none\n")
        #expect(refused.status == 429 && refused.code == "account_busy" && refused.header("Retry-After") == "30")
      }
      #expect(try await nodes.others()[1].postBatch("text\none\n").status == 202)
    }
  }

  @Test("a batch is not found by another account, and an id that no batch has is not found, on each node")
  func badIDs() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.clients[0].postBatch("text\none\n").header("Location").orThrow("a place")
      for client in try await nodes.others() {
        #expect(try await client.get("/v1/batches").text == #"{"batches":[]}"#)
        let long = String(repeating: "a", count: 1_000)
        for place in [place, "/v1/batches/nobody", "/v1/batches/a%00b", "/v1/batches/%C3%A9", "/v1/batches/\(long)"] {
          for accept in ["application/json", "text/event-stream", "application/jsonl"] {
            #expect(try await client.get(place, ["Accept": accept]).status == 404, "\(place)")
          }
          #expect(try await client.send(.delete, place).status == 404, "\(place)")
        }
      }
      #expect(try await nodes.stored(place).state == .running)
    }
  }

  @Test("a batch during which two nodes ended is set aside, and can be cancelled")
  func setAside() async throws {
    try await LedgerPlaces.removed {
      let nodes = try await Nodes()
      let place = try await nodes.clients[0].postBatch("text\none\n").header("Location").orThrow("a place")
      let id = try await nodes.stored(place).id
      for service in nodes.services {
        let ledger = try service.ledger.sharedBatches.orThrow("batches of several nodes")
        // A node that is killed gives nothing back.
        let seat = try await ledger.takeSeat(ofBatch: id).orThrow("a seat")
        try await nodes.place.endLeases()
        withExtendedLifetime(seat) {}
      }
      let batches = nodes.services[1].server.batches
      nodes.services[1].startBatches()
      try await eventually { await batches.setAside.count == 1 }
      let other = try await nodes.clients[0].postBatch("text\ntwo\n").header("Location").orThrow("a place")
      #expect(try await nodes.clients[1].end(of: other).string("state") == "done")
      #expect(try await nodes.clients[1].get(place).string("state") == "running")
      #expect(try await nodes.clients[0].send(.delete, place).string("state") == "cancelled")
      try await eventually { await batches.setAside.count == 0 }
    }
  }

  @Test("old batches are removed from the ledger with their lists and results, and running ones stay")
  func pruned() async throws {
    try await LedgerPlaces.removed {
      // The ledger's clock is ahead of the service's.
      let nodes = try await Nodes { $0.settings.retention = -10 * 365 * 86_400 }
      let old = try await nodes.clients[0].postBatch("text\none\n").header("Location").orThrow("a place")
      let id = try await nodes.stored(old).id
      let work = nodes.services[1].startBatches()
      #expect(try await nodes.clients[0].end(of: old).string("state") == "done")
      work.cancel()
      await work.value
      let running = try await nodes.begun("text\ntwo\n")
      for service in nodes.services { await service.server.batches.prune() }
      #expect(try await nodes.clients[1].get(old).status == 404)
      let ledger = try nodes.services[1].ledger.sharedBatches.orThrow("batches of several nodes")
      #expect(try await ledger.pieceCount(ofBatch: id) == 0)
      #expect(try await ledger.listPiece(0, ofBatch: id) == nil)
      nodes.services[0].voice.release()
      #expect(try await nodes.clients[1].end(of: running).string("state") == "done")
    }
  }

  @Test("the unfinished batches of a service with a ledger in a file move into the ledger of several nodes")
  func moved() async throws {
    try await LedgerPlaces.removed {
      let former = try TestService()
      let client = try await former.client()
      let place = try await client.postBatch(Self.list).header("Location").orThrow("a place")
      let folder = former.folder.url.appending(path: "batches").path(percentEncoded: false)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)

      let nodes = try await Nodes()
      let ledger = nodes.services[0].ledger
      let next = try TestService(in: former.folder) { $0.sharedLedger = ledger }
      await next.server.batches.load()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      nodes.services[1].startBatches()
      #expect(try await nodes.clients[1].end(of: place).string("state") == "done")
      try await expectWhole(place, of: nodes)
    }
  }
}
