// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Removing an announcement", .timeLimit(.minutes(10)))
struct RemovalTests {
  private let service: TestService

  init() throws { service = try TestService { $0.hasPlayer = true } }

  private func remove(_ client: TestClient, _ id: String = "p1") async throws -> TestAnswer {
    try await client.send(.delete, "/v1/announcements/\(id)")
  }

  @Test("removing an announcement deletes its clip and stored response, and the same request renders the clip again")
  func whole() async throws {
    let client = try await service.client()
    let posted = try await client.post(payment())
    let clip = try posted.string("clip.name").orThrow("a clip")
    #expect(try await client.get("/v1/clips/\(clip)").status == 200)
    let removed = try await remove(client)
    #expect(try removed.status == 200 && removed.string("id") == "p1")
    #expect(try removed.value("clips") as? [String] == [clip])
    #expect(service.clips().isEmpty)
    #expect(try await client.get("/v1/clips/\(clip)").status == 404)
    #expect(try await client.get("/v1/announcements/p1").status == 404)
    #expect(try await remove(client).status == 404)
    let calls = service.voice.calls
    let again = try await client.post(payment())
    #expect(again.status == 201)
    #expect(try again.string("clip.name") == clip && again.value("cached") as? Bool == false)
    #expect(service.voice.calls > calls, "the clip is rendered again")
    #expect(service.clips() == [clip])
  }

  @Test("an unknown announcement, or one of another account, is not found, and nothing is removed")
  func others() async throws {
    _ = try await service.client().post(payment())
    let other = try await service.client(account: "other")
    for id in ["p1", "none", "%00"] {
      let answer = try await remove(other, id)
      #expect(answer.status == 404 && answer.code == "not_found")
    }
    #expect(service.clips().count == 1)
    let reader = try await service.client([.read, .play])
    #expect(try await remove(reader).status == 403)
    #expect(service.clips().count == 1)
  }

  @Test("the log of administration has the clip's name if an announcement is removed with an admin key")
  func written() async throws {
    for (account, scopes) in [("shop", [Scope.announce, .read]), ("boss", [.admin])] {
      let client = try await service.client(scopes, account: account)
      let amount = account == "shop" ? "12.50" : "7.00"
      let clip = try await client.post(payment("p1", amount)).string("clip.name")
      #expect(try await remove(client).status == 200)
      let acts = try await service.ledger.administrativeActs().filter { $0.action == .clipRemoved }
      #expect(acts.map(\.subject) == (account == "shop" ? [] : [clip]))
    }
  }

  @Test("a waiting announcement cannot be removed until it is cancelled")
  func waiting() async throws {
    let client = try await service.client()
    _ = try await client.post(payment("p1", "12.50", #""deliver":["clip","play"]"#))
    let refused = try await remove(client)
    #expect(refused.status == 409 && refused.code == "not_ended")
    #expect(service.clips().count == 1)
    try await service.startPlayer()
    #expect(try await client.send(.delete, "/v1/playback/p1").status == 200)
    #expect(try await remove(client).status == 200)
    #expect(try await service.ledger.entry(account: "shop", id: "p1") == nil)
  }

  @Test("a clip that another account announced too stays for that account, but an admin removes the clip")
  func shared() async throws {
    let client = try await service.client()
    let other = try await service.client(account: "other")
    let clip = try await client.post(payment()).string("clip.name").orThrow("a clip")
    #expect(try await other.post(payment()).string("clip.name") == clip)
    let removed = try await remove(client)
    #expect(try removed.status == 200 && removed.value("clips") as? [String] == [])
    #expect(try await other.get("/v1/clips/\(clip)").status == 200)
    let admin = try await service.client([.admin], account: "boss")
    _ = try await admin.post(payment("p9"))
    #expect(try await remove(admin, "p9").value("clips") as? [String] == [clip])
    #expect(service.clips().isEmpty)
  }

  @Test("a clip in another account's batch stays when an announcement with the clip is removed")
  func listed() async throws {
    let other = try await service.client(account: "other")
    let list = try await other.postBatch("amount,currency\n12.50,USD\n")
    service.startBatches()
    let place = try #require(list.header("Location"))
    _ = try await other.end(of: place)
    let clip = try #require(try await other.result(place).first).string("clip.name").orThrow("a clip")
    let client = try await service.client()
    #expect(try await client.post(payment("p1", "12.50", #""locale":"en-US""#)).string("clip.name") == clip)
    #expect(try await remove(client).value("clips") as? [String] == [])
    #expect(try await other.get("/v1/clips/\(clip)").status == 200)
  }
}
