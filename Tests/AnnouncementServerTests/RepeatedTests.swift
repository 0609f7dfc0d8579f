// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Repeated requests", .timeLimit(.minutes(10)))
struct RepeatedTests {
  private let service: TestService

  init() throws { service = try TestService() }

  @Test("a repeated request gets the same response, even after a restart")
  func again() async throws {
    let client = try await service.client()
    let first = try await client.post(payment())
    let second = try await client.post(payment())
    #expect(first.status == 201 && second.status == 200)
    #expect(first.body == second.body && second.header("Location") == first.header("Location"))
    let restarted = try TestService(in: service.folder)
    let third = try await TestClient(server: restarted.server, key: client.key).post(payment())
    #expect(third.status == 200 && third.body == first.body)
    #expect(service.voice.calls == 1 && restarted.voice.calls == 0)
  }

  @Test(
    "an Idempotency-Key identifies a request, with or without quotation marks",
    arguments: ["k", "\"k\"", "a-b_c.d:e/f", "\"", "~!@#$%^&*()"])
  func key(key: String) async throws {
    let client = try await service.client()
    let first = try await client.post(payment(), ["Idempotency-Key": key])
    let second = try await client.post(payment(), ["Idempotency-Key": key])
    #expect(first.status == 201 && second.status == 200 && first.body == second.body)
    let restarted = try TestService(in: service.folder)
    let again = TestClient(server: restarted.server, key: client.key)
    #expect(try await again.post(payment(), ["Idempotency-Key": key]).body == first.body)
    let other = try await again.post(payment("p2"), ["Idempotency-Key": key])
    #expect(other.status == 422 && other.code == "idempotency_key_reused")
    #expect(try await client.get("/v1/announcements/p2").status == 404)
  }

  @Test("quotation marks around an Idempotency-Key are ignored")
  func quoted() async throws {
    let client = try await service.client()
    let first = try await client.post(payment(), ["Idempotency-Key": "\"abc\""])
    #expect(try await client.post(payment(), ["Idempotency-Key": "abc"]).body == first.body)
    #expect(try await client.post(payment("p2"), ["Idempotency-Key": " abc "]).code == "idempotency_key_reused")
  }

  @Test(
    "an invalid Idempotency-Key is refused",
    arguments: ["", "\"\"", "a b", "ключ", "a\tb", String(repeating: "x", count: 256)])
  func invalidKey(key: String) async throws {
    let answer = try await service.client().post(payment(), ["Idempotency-Key": key])
    #expect(answer.status == 400 && answer.code == "idempotency_key_invalid")
    #expect(service.voice.calls == 0)
  }

  @Test("an Idempotency-Key of maximum length is accepted")
  func longestKey() async throws {
    let answer = try await service.client().post(payment(), ["Idempotency-Key": String(repeating: "x", count: 255)])
    #expect(answer.status == 201)
  }

  @Test(
    "a different body with the same id is refused", arguments: [[:], ["Idempotency-Key": "other"]])
  func conflict(headers: [String: String]) async throws {
    let client = try await service.client()
    let first = try await client.post(payment())
    let other = try await client.post(payment("p1", "13.00"), headers)
    #expect(other.status == 409 && other.code == "id_conflict")
    let detail = try other.string("detail").orThrow("a detail")
    #expect(!detail.contains("13") && !detail.contains("12.50") && !detail.contains("p1"))
    #expect(try await client.post(payment() + " ", headers).status == 409, "byte for byte")
    #expect(try await client.post(payment()).body == first.body)
    #expect(service.voice.calls == 1)
  }

  @Test("the same id and body with another Idempotency-Key, or without a key, are the same announcement")
  func otherKey() async throws {
    let client = try await service.client()
    let first = try await client.post(payment(), ["Idempotency-Key": "a"])
    for headers in [["Idempotency-Key": "b"], [:]] {
      let again = try await client.post(payment(), headers)
      #expect(again.status == 200 && again.body == first.body)
    }
    let list = try await client.get("/v1/announcements").value("announcements") as? [Any]
    #expect(list?.count == 1)
  }

  @Test("two accounts may use the same id and the same Idempotency-Key")
  func accounts() async throws {
    let (one, two) = (try await service.client(account: "one"), try await service.client(account: "two"))
    let headers = ["Idempotency-Key": "k"]
    #expect(try await one.post(payment("p1", "1.00"), headers).status == 201)
    let other = try await two.post(payment("p1", "2.00"), headers)
    #expect(other.status == 201)
    #expect(try other.string("amount.value") == "2.00")
    #expect(try await one.get("/v1/announcements/p1").string("amount.value") == "1.00")
  }

  @Test("a repeated request may use another API key of the account")
  func sameAccount() async throws {
    let first = try await service.client().post(payment())
    let second = try await service.client().post(payment())
    #expect(second.status == 200 && second.body == first.body)
  }

  @Test("after a day, an Idempotency-Key may be used for another request")
  func day() async throws {
    let now = Locked(Date(timeIntervalSinceNow: -Ledger.answerLifetime - 60))
    let old = try TestService { $0.now = { now.withLock { $0 } } }
    let client = try await old.client()
    #expect(try await client.post(payment(), ["Idempotency-Key": "k"]).status == 201)
    now.withLock { $0 = Date() }
    let other = try await client.post(payment("p2"), ["Idempotency-Key": "k"])
    #expect(other.status == 201)
    #expect(try await client.post(payment()).status == 201, "the stored response has expired")
  }

  @Test(
    "only one of a hundred identical simultaneous requests does the work",
    arguments: [[:], ["Idempotency-Key": "k"]])
  func concurrentRepeats(headers: [String: String]) async throws {
    let client = try await service.client()
    service.voice.hold()
    let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { [service] group in
      for _ in 0..<100 { group.addTask { try await client.post(payment(), headers) } }
      await service.voice.isAsked()
      service.voice.release()
      return try await group.reduce(into: [TestAnswer]()) { $0.append($1) }
    }
    #expect(answers.count { $0.status == 201 } == 1 && answers.count { $0.status == 200 } == 99)
    #expect(Set(answers.map(\.body)).count == 1)
    #expect(service.voice.calls == 1)
  }

  @Test("of simultaneous requests with one id and two bodies, only one body is announced")
  func concurrentConflict() async throws {
    let client = try await service.client()
    let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
      for number in 0..<20 { group.addTask { try await client.post(payment("p1", number % 2 == 0 ? "1.00" : "2.00")) } }
      return try await group.reduce(into: [TestAnswer]()) { $0.append($1) }
    }
    #expect(answers.count { $0.status == 201 } == 1)
    #expect(answers.count { $0.status == 200 } == 9 && answers.count { $0.status == 409 } == 10)
    #expect(service.voice.calls == 1)
  }

  @Test("a failed request is not stored, and the next attempt does the work")
  func failure() async throws {
    let client = try await service.client()
    service.voice.fail(.speakerDied)
    let failed = try await client.post(payment())
    #expect(failed.status == 503 && failed.code == "speaker_died" && failed.header("Retry-After") == "5")
    #expect(try await client.get("/v1/announcements/p1").status == 404)
    service.voice.fail(nil)
    #expect(try await client.post(payment()).status == 201)
  }

  @Test("an Idempotency-Key that a repeated request uses for the first time belongs to that request")
  func keyOfRepeated() async throws {
    let client = try await service.client()
    #expect(try await client.post(payment("p1", "1.00")).status == 201)
    let headers = ["Idempotency-Key": "k1"]
    #expect(try await client.post(payment("p1", "1.00"), headers).status == 200)
    let other = try await client.post(payment("p2", "2.00"), headers)
    #expect(other.status == 422 && other.code == "idempotency_key_reused")
  }

  @Test(
    "a repeated request to play gets the same response even if the service has no output any more",
    arguments: [[:], ["Idempotency-Key": "k"]])
  func outputRemoved(headers: [String: String]) async throws {
    let service = try TestService { $0.hasPlayer = true }
    let client = try await service.client()
    let body = payment("p1", "12.50", #""deliver":["play"]"#)
    let first = try await client.post(body, headers)
    #expect(first.status == 201)
    let restarted = try TestService(in: service.folder)
    let again = TestClient(server: restarted.server, key: client.key)
    for headers in [headers, ["Idempotency-Key": "another"]] {
      let repeated = try await again.post(body, headers)
      #expect(repeated.status == 200 && repeated.body == first.body)
    }
    let other = try await again.post(payment("p1", "13.00", #""deliver":["play"]"#))
    #expect(other.status == 409 && other.code == "id_conflict")
    let new = try await again.post(payment("p2", "12.50", #""deliver":["play"]"#))
    #expect(new.status == 422 && new.code == "player_unavailable")
    #expect(restarted.voice.calls == 0)
    #expect(try await restarted.ledger.entry(account: "shop", id: "p2") == nil)
  }

  @Test("a request whose stored response has expired can be repeated without an output, and keeps its first output")
  func expiredResponseWithoutOutput() async throws {
    let now = Locked(Date(timeIntervalSinceNow: -Ledger.answerLifetime - 60))
    let service = try TestService {
      $0.hasPlayer = true
      $0.now = { now.withLock { $0 } }
    }
    let client = try await service.client()
    let body = payment("p1", "12.50", #""deliver":["play"]"#)
    #expect(try await client.post(body).status == 201)
    let restarted = try TestService(in: service.folder)
    let again = TestClient(server: restarted.server, key: client.key)
    #expect(try await again.post(body).status == 201)
    #expect(try await restarted.ledger.waitingLanes().map(\.lane) == [TestService.lane])
    #expect(try await restarted.ledger.waitingLanes().map(\.count) == [1])
  }
}
