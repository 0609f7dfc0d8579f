// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Bodies of callers that are not verified yet", .timeLimit(.minutes(10)))
struct UnprovenBodiesTests {
  private let service: TestService

  init() throws { service = try TestService() }

  /// A request whose body comes when the test sends it.
  private struct Upload {
    let sender: AsyncStream<ByteBuffer>.Continuation
    let answer: Task<TestAnswer, any Error>

    init(_ client: TestClient, _ path: String, _ headers: [String: String], from connection: Connection? = nil) {
      let (body, sender) = AsyncStream.makeStream(of: ByteBuffer.self)
      self.sender = sender
      answer = Task {
        try await Connection.$current.withValue(connection) {
          try await TestAnswer(await client.respond(.post, path, headers, RequestBody(asyncSequence: body)))
        }
      }
    }

    func send(_ text: String) { sender.yield(ByteBuffer(string: text)) }

    func end() async throws -> TestAnswer {
      sender.finish()
      return try await answer.value
    }
  }

  /// The header fields of a signed list; its signature is right for this body alone.
  private func signed(_ key: APIKey, _ body: String, _ keyID: String? = nil) -> [String: String] {
    let request = SignedRequest(
      signing: .init(method: "POST", target: "/v1/batches", contentType: "text/csv", body: Data(body.utf8)),
      with: key.digest, at: Int64(Date().timeIntervalSince1970) + 1)
    let fields = Dictionary(uniqueKeysWithValues: request.headerFields.map { ($0.name, $0.value) })
    return fields.merging(["Authorization": "Crier \(keyID ?? key.id)", "Content-Type": "text/csv"]) { $1 }
  }

  @Test("unfinished lists with a forged signature and a known key's id do not block other lists")
  func bogus() async throws {
    let (victim, other) = (try await service.client(), try await service.client(account: "other"))
    let key = try victim.key.orThrow("a key").key
    let forged = signed(APIKey.make(), "text\none\n", key.id)
    let half = (0..<20).map { _ in Upload(service.stranger, "/v1/batches", forged) }
    for upload in half { upload.send("text\n") }
    try await eventually { service.server.keys.unproven.count >= 20 }
    #expect(try await victim.postBatch("text\none\n").status == 202)
    #expect(try await other.postBatch("text\none\n").status == 202)
    let list = "text\ntwo\n"
    let signedAnswer = try await service.stranger.send(
      .post, "/v1/batches", headers: signed(key, list), body: Data(list.utf8))
    #expect(signedAnswer.status == 202, "a signed list is accepted too")
    for upload in half {
      let answer = try await upload.end()
      #expect(answer.status == 401 && answer.code == "signature_invalid")
    }
    #expect(service.server.keys.unproven.count == 0)
  }

  @Test("no body is read if the request's head is not valid")
  func heads() async throws {
    let key = try await service.client().key.orThrow("a key").key
    let good = signed(key, "text\none\n")
    for (change, code) in [
      (["Crier-Signature": "v1=00"], "signature_malformed"), (["Crier-Timestamp": "1"], "timestamp_outside_window"),
      (["Authorization": "Crier 00000000"], "key_unknown"), (["Authorization": "Crier \(key.id)x"], "key_unknown"),
      (["Authorization": "Bearer \(APIKey.make().text)"], "key_unknown"),
    ] {
      // The body never comes, so a service that waited for it would wait for ever.
      let upload = Upload(service.stranger, "/v1/batches", good.merging(change) { $1 })
      let answer = try await upload.answer.value
      #expect(answer.status == 401 && answer.code == code)
    }
    let large = Upload(service.stranger, "/v1/batches", good.merging(["Content-Length": "20000000"]) { $1 })
    #expect(try await large.answer.value.status == 413)
    #expect(service.server.keys.unproven.count == 0)
  }

  @Test("a key that is revoked while the service runs is refused before its body is read")
  func revoked() async throws {
    let client = try await service.client()
    let key = try client.key.orThrow("a key").key
    try await service.revoke(client)
    let upload = Upload(service.stranger, "/v1/batches", signed(key, "text\none\n"))
    #expect(try await upload.answer.value.code == "key_unknown")
  }

  @Test(
    "unverified bodies above the limit of a key's id are refused or replace older ones, and do not affect other ids"
  )
  func budget() async throws {
    let time = TestTime()
    var limits = BodyBudget.Limits()
    (limits.bytes, limits.bytesOfOne, limits.bodiesOfOne) = (100, 20, 2)
    let ring = KeyRing(
      ledger: service.ledger, defaultLimit: try RateLimit(rate: 1), unproven: limits, time: { time.now })
    let (one, other) = (
      try await service.client().key.orThrow("a key").key, try await service.client().key.orThrow("a key").key
    )
    func call(_ key: APIKey, _ body: RequestBody) -> Call {
      var head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/v1/batches")
      for (name, value) in signed(key, "text\none\n") {
        if let name = HTTPField.Name(name) { head.headerFields[name] = value }
      }
      return Call(request: Request(head: head, body: body), logger: service.log.logger)
    }
    func code(_ key: APIKey, _ text: String) async -> String? {
      var call = call(key, RequestBody(buffer: ByteBuffer(string: text)))
      do {
        _ = try await ring.caller(of: &call)
        return nil
      } catch {
        return Problem(error).code
      }
    }
    let (body, sender) = AsyncStream.makeStream(of: ByteBuffer.self)
    let closed = AsyncStream.makeStream(of: Void.self)
    let connection = Connection(peer: nil) {
      closed.continuation.yield()
      sender.finish()
    }
    let half = Task {
      try await Connection.$current.withValue(connection) {
        var call = call(one, RequestBody(asyncSequence: body))
        return try await ring.caller(of: &call)
      }
    }
    sender.yield(ByteBuffer(string: "0123456789ab"))
    try await eventually { ring.unproven.bytes >= 12 }
    #expect(await code(one, "text\none\n") == "busy")
    #expect(await code(other, "text\none\n") == nil)
    time.wait(limits.patience)
    #expect(await code(one, "text\none\n") == nil)
    for await _ in closed.stream { break }
    await #expect(throws: (any Error).self) { try await half.value }
    #expect(ring.unproven.count == 0 && ring.unproven.bytes == 0)
  }

  @Test("unfinished lists of one account do not block another account's lists")
  func proven() async throws {
    let (one, other) = (try await service.client(), try await service.client(account: "other"))
    let half = (0..<LargeBodies.mostOfOne).map { _ in Upload(one, "/v1/batches", ["Content-Type": "text/csv"]) }
    try await eventually { service.server.largeBodies.count >= half.count }
    let refused = try await one.postBatch("text\none\n")
    #expect(refused.status == 429 && refused.code == "account_busy" && refused.header("Retry-After") != nil)
    #expect(try await other.postBatch("text\none\n").status == 202)
    for upload in half { upload.send("text\none\n") }
    for upload in half { #expect(try await upload.end().status == 202) }
    #expect(service.server.largeBodies.count == 0)
  }

  @Test(
    "a request is refused if its key is revoked while the body arrives", arguments: ["announcements", "batches"])
  func revokedMeanwhile(call: String) async throws {
    let client = try await service.client()
    let key = try client.key.orThrow("a key").key
    let (text, type) =
      call == "batches" ? ("text\none\n", "text/csv") : (#"{"id":"p1","text":"one"}"#, "application/json")
    let pieces = Locked([ByteBuffer(string: text)])
    // When the service asks for the body, it has accepted the head.
    let body = AsyncStream<ByteBuffer> { [service] in
      guard let piece = pieces.withLock({ $0.popLast() }) else { return nil }
      try? await service.revoke(client)
      return piece
    }
    let answer = try await TestAnswer(
      await client.respond(
        .post, "/v1/\(call)", ["Authorization": "Bearer \(key.text)", "Content-Type": type],
        RequestBody(asyncSequence: body)))
    #expect(answer.status == 401 && answer.code == "key_unknown")
    #expect(service.clips().isEmpty && service.voice.calls == 0)
  }
}
