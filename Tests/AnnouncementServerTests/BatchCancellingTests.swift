// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Cancelling batches", .timeLimit(.minutes(10)))
struct BatchCancellingTests {
  private let service: TestService

  init() throws { service = try TestService() }

  private func place(_ client: TestClient, _ list: String = "text\none\ntwo\nthree\nfour\nfive\n") async throws
    -> String
  {
    try await client.postBatch(list).header("Location").orThrow("a place")
  }

  /// Waits until no further row of a batch begins.
  private func isStopping(_ place: String) async throws {
    let id = try place.split(separator: "/").last.map(String.init).orThrow("an id")
    let batches = try (service.server.batches.place as? FileBatches).orThrow("batches in files")
    try await eventually { batches.isStopping(id) }
  }

  @Test("a waiting batch that is cancelled never starts, and frees its slot")
  func waiting() async throws {
    let client = try await service.client()
    var places: [String] = []
    for _ in 0..<4 { places.append(try await place(client)) }
    #expect(try await client.postBatch("text\none\n").status == 429)
    let taken = try await client.send(.delete, places[1])
    #expect(taken.status == 200)
    #expect(try taken.string("state") == "cancelled" && taken.number("rows") == 0 && taken.string("finished_at") != nil)
    #expect(try taken.value("error") == nil)
    let late = await client.stream(places[1], ["Accept": "text/event-stream"])
    #expect(try await late.event("done").string("state") == "cancelled")
    #expect(try await client.postBatch("text\nsix\n").status == 202)
    service.startBatches()
    for place in [places[0], places[2], places[3]] {
      #expect(try await client.end(of: place).string("state") == "done")
    }
    #expect(try await client.get(places[1]).string("state") == "cancelled")
    #expect(try await client.result(places[1]).isEmpty)
  }

  @Test("a cancelled running batch finishes its current rows, starts no other rows, and keeps and reports its clips")
  func running() async throws {
    let client = try await service.client()
    let place = try await place(client)
    let next = try await self.place(client, "text\nsix\n")
    service.voice.hold()
    service.startBatches()
    await service.voice.isAsked()
    let stream = await client.stream(place, ["Accept": "text/event-stream"])
    #expect(try await stream.event().name == "progress")
    async let answer = client.send(.delete, place)
    try await isStopping(place)
    #expect(try await client.send(.delete, place).code == "already_ended", "its cancellation is in progress")
    service.voice.release()
    let taken = try await answer
    #expect(taken.status == 200)
    let rows = try taken.number("rows").orThrow("rows")
    #expect(try taken.string("state") == "cancelled" && (1..<5).contains(rows) && taken.number("done") == rows)
    #expect(try await stream.event("done").string("state") == "cancelled")
    #expect(try await client.result(place).count == rows)
    #expect(service.clips().count >= rows)
    #expect(try await client.end(of: next).string("state") == "done", "the next batch still runs")
  }

  @Test("a batch that has ended, or that belongs to another account, cannot be cancelled")
  func refused() async throws {
    let client = try await service.client()
    let waiting = try await place(client)
    let other = try await service.client(account: "other")
    for place in [waiting, "/v1/batches/nobody"] {
      let answer = try await other.send(.delete, place)
      #expect(answer.status == 404 && answer.code == "not_found")
    }
    #expect(try await client.get(waiting).string("state") == "running")
    service.startBatches()
    _ = try await client.end(of: waiting)
    for _ in 0..<2 {
      let answer = try await client.send(.delete, waiting)
      #expect(answer.status == 409 && answer.code == "already_ended")
    }
    #expect(try await client.get(waiting).string("state") == "done")
  }

  @Test("a restart does not resume a cancelled batch, even if the service stopped before the batch's last row ended")
  func restart() async throws {
    let client = try await service.client()
    let (running, waiting) = (try await place(client), try await place(client))
    service.voice.hold()
    let work = service.startBatches()
    await service.voice.isAsked()
    #expect(try await client.send(.delete, waiting).status == 200)
    let cancelling = Task { try await client.send(.delete, running) }
    try await isStopping(running)
    work.cancel()
    service.voice.release()
    await work.value

    let next = try TestService(in: service.folder)
    let again = TestClient(server: next.server, key: client.key)
    next.startBatches()
    for place in [running, waiting] {
      try await eventually { try await again.get(place).status != 404 }
      #expect(try await again.get(place).string("state") == "cancelled")
    }
    #expect(next.voice.calls == 0)
    cancelling.cancel()
  }

  @Test("the log of administration records a batch that is cancelled with an admin key")
  func administered() async throws {
    let admin = try await service.client([.admin])
    let place = try await place(admin)
    #expect(try await admin.send(.delete, place).status == 200)
    let act = try #require(try await service.ledger.administrativeActs().last)
    #expect(act.action == .batchCancelled && place.hasSuffix(act.subject ?? "-"))
  }
}
