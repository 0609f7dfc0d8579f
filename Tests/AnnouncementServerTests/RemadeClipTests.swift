// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Clips that are made again", .timeLimit(.minutes(5)))
struct RemadeClipTests {
  /// A clip that another node made, whose file this node does not have.
  private struct Lost {
    var name: String
    var digest: String
    var bytes: Data
    /// The node without the file.
    var node: TestService
    var client: TestClient

    var path: String { "/v1/clips/\(name)" }
  }

  private func lost(
    _ body: String = payment(), _ change: @escaping (inout TestService.Options) -> Void = { _ in }
  ) async throws -> Lost {
    func options(_ options: inout TestService.Options) {
      options.remakesClips = true
      change(&options)
    }
    let first = try TestService(options)
    let client = try await first.client()
    let posted = try await client.post(body)
    #expect(posted.status == 201, "\(posted.text)")
    let name = try posted.string("clip.name").orThrow("a name")
    let bytes = try await client.get("/v1/clips/\(name)").body
    try FileManager.default.removeItem(at: first.folder.url.appending(path: "containers"))
    let node = try TestService(in: first.folder, options)
    return Lost(
      name: name, digest: try posted.string("clip.sha256").orThrow("a digest"), bytes: bytes, node: node,
      client: try await node.client())
  }

  private func remade(_ outcome: ServiceMetrics.Remaking, by node: TestService) async throws -> Double? {
    MetricLines(try await node.stranger.get("/metrics").text)
      .values[#"crier_clips_remade_total{outcome="\#(outcome.rawValue)"}"#]
  }

  @Test(
    "a clip without a file is made again once, with the same bytes, and is not written to the disk",
    arguments: ["", #""deliver":["clip","play"]"#, #""format":"caf","method":"speech","rate":200"#])
  func made(more: String) async throws {
    let lost = try await lost(payment("p1", "12.50", more)) { $0.hasPlayer = true }
    let head = try await lost.client.send(.head, lost.path)
    let calls = lost.node.voice.calls
    let answer = try await lost.client.get(lost.path)
    #expect(head.status == 200 && answer.status == 200, "\(answer.text)")
    #expect(answer.body == lost.bytes && head.body.isEmpty)
    #expect(answer.header("ETag") == "\"\(lost.digest)\"" && head.header("ETag") == answer.header("ETag"))
    #expect(head.header("Content-Type") == answer.header("Content-Type"))
    #expect(calls > 0 && lost.node.voice.calls == calls)
    #expect(lost.node.clips().isEmpty)
    #expect(try await remade(.made, by: lost.node) == 1)
    let part = try await lost.client.get(lost.path, ["Range": "bytes=0-3"])
    #expect(part.status == 206 && part.body == lost.bytes.prefix(4))
  }

  @Test("the file of a clip in the library of phones is made again too")
  func library() async throws {
    let lost = try await lost()
    let path = "/v1/library/files/\(lost.digest)"
    #expect(try await lost.client.get(path, ["Cache-Control": "only-if-cached"]).status == 404)
    #expect(try await lost.client.get(path).body == lost.bytes)
    #expect(try await lost.client.get("/v1/library/files/\(String(repeating: "0", count: 64))").status == 404)
  }

  @Test("a request for a stored file only makes no clip")
  func stored() async throws {
    let lost = try await lost()
    for method in [HTTPRequest.Method.get, .head] {
      let answer = try await lost.client.send(method, lost.path, headers: ["Cache-Control": "No-Store, Only-If-Cached"])
      #expect(answer.status == 404)
    }
    #expect(lost.node.voice.calls == 0)
  }

  @Test("a service with a ledger in a file makes no clip again")
  func alone() async throws {
    let lost = try await lost()
    let alone = try TestService(in: lost.node.folder)
    #expect(try await alone.client().get(lost.path).status == 404 && alone.voice.calls == 0)
  }

  @Test("the clip of a removed announcement is never made again, and not served if it was made before")
  func removed() async throws {
    let lost = try await lost()
    #expect(try await lost.client.get(lost.path).status == 200)
    #expect(try await lost.client.send(.delete, "/v1/announcements/p1").status == 200)
    let calls = lost.node.voice.calls
    for method in [HTTPRequest.Method.get, .head] {
      #expect(try await lost.client.send(method, lost.path).status == 404)
    }
    #expect(lost.node.voice.calls == calls)
  }

  @Test("a clip whose announcement is removed while it is made is not served")
  func removedMeanwhile() async throws {
    let lost = try await lost()
    lost.node.voice.hold()
    let request = Task { try await lost.client.get(lost.path).status }
    await lost.node.voice.isAsked()
    // Another node removes it: this one knows nothing of that.
    _ = try await lost.node.ledger.remove(account: "shop", id: "p1")
    lost.node.voice.release()
    #expect(try await request.value == 404)
  }

  @Test("a clip that would get another name here is not made, and is counted")
  func different() async throws {
    let lost = try await lost()
    let name = String(repeating: "a", count: 64) + ".wav"
    let decision = Decision(
      kind: "received", text: "twelve", locale: "en-US", method: "speech", voice: "en-us",
      clip: PublishedClip(name: name, group: "group.crier"), durationMilliseconds: 1, loudnessLUFS: -16)
    _ = try await lost.node.ledger.accept(
      answer: NewAnswer(
        account: "shop", key: "id:p2", bodyDigest: Data(count: 32), id: "p2", status: 201, report: Data("{}".utf8),
        clip: decision.clip, decision: decision, source: NewAnswer.Source(payload: Data(payment("p2").utf8))))
    #expect(try await lost.client.get("/v1/clips/\(name)").status == 404)
    #expect(lost.node.voice.calls == 0)
    #expect(try await remade(.differs, by: lost.node) == 1)
  }

  @Test(
    "a name that no announcement has, or that is no name of a clip, makes no clip",
    arguments: ["\(String(repeating: "b", count: 64)).wav", "nothing.wav", "\(String(repeating: "b", count: 64)).exe"])
  func unknown(name: String) async throws {
    let lost = try await lost()
    #expect(try await lost.client.get("/v1/clips/\(name)").status == 404)
    #expect(try await remade(.differs, by: lost.node) == 0 && lost.node.voice.calls == 0)
  }

  @Test("requests that come at the same time share one rendering")
  func shared() async throws {
    let lost = try await lost()
    #expect(try await lost.client.get(lost.path).status == 200)
    let alone = lost.node.voice.calls
    let node = try TestService(in: lost.node.folder) { $0.remakesClips = true }
    let client = try await node.client()
    node.voice.hold()
    try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<20 { group.addTask { try await client.get(lost.path).body } }
      await node.voice.isAsked()
      try await eventually("all requests are being answered") {
        try await node.stranger.get("/metrics").text.contains("crier_requests_in_flight 21\n")
      }
      node.voice.release()
      for try await body in group { #expect(body == lost.bytes) }
    }
    #expect(node.voice.calls == alone)
    #expect(try await remade(.made, by: node) == 1)
  }

  @Test("making a clip again counts as work of the account that announced it")
  func work() async throws {
    let lost = try await lost { $0.settings.work.clipsAtOnce = 1 }
    lost.node.voice.hold()
    let other = Task { try await lost.client.post(payment("p2", "13.75")).status }
    await lost.node.voice.isAsked()
    // The reader belongs to another account.
    let reader = try await lost.node.client([.read], account: "reader")
    let refused = try await reader.get(lost.path)
    #expect(try refused.status == 429 && refused.string("code") == "account_busy", "\(refused.text)")
    #expect(try await remade(.refused, by: lost.node) == 1)
    lost.node.voice.release()
    #expect(try await other.value == 201)
    #expect(try await reader.get(lost.path).body == lost.bytes)
  }

  @Test("a clip that the engine cannot make now is not found, and is made when the engine works again")
  func failed() async throws {
    let lost = try await lost()
    lost.node.voice.fail(.engineUnavailable)
    #expect(try await lost.client.get(lost.path).status == 404)
    #expect(try await remade(.failed, by: lost.node) == 1)
    lost.node.voice.fail(nil)
    #expect(try await lost.client.get(lost.path).body == lost.bytes)
  }
}
