// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import NIOCore
import NIOPosix
import ServiceAccess
import ServiceLifecycleTestKit
import SoundOutputTestSupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("The service on a socket", .timeLimit(.minutes(10)))
struct ListeningTests {
  /// Sends text over a connection and reads what comes until the service closes it.
  static func talk(_ port: Int, _ text: String) async throws -> String {
    let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await connection.executeThenClose { inbound, outbound in
      var answer = ByteBuffer()
      do {
        try await outbound.write(ByteBuffer(string: text))
        for try await piece in inbound { answer.writeImmutableBuffer(piece) }
      } catch {
        // The service has closed the connection before. The bytes that have arrived are the answer.
      }
      return String(buffer: answer)
    }
  }

  static func get(_ path: String, _ more: String = "Connection: close\r\n") -> String {
    "GET \(path) HTTP/1.1\r\nHost: crier.test\r\n\(more)\r\n"
  }

  /// Runs a service, does something with it, and stops it. Returns when it has stopped.
  @discardableResult
  func serve(
    _ change: (inout TestService.Options) -> Void = { _ in },
    _ work: @Sendable (TestService, Int) async throws -> Void
  ) async throws -> TestService {
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    let service = try TestService {
      $0.settings.port = 0
      $0.onStart = { started.yield($0) }
      change(&$0)
    }
    try await testGracefulShutdown { trigger in
      let running = Task { try await service.server.run() }
      for await port in ports {
        try await work(service, port)
        break
      }
      trigger.triggerGracefulShutdown()
      try await running.value
    }
    return service
  }

  @Test("one connection serves several requests, and is closed when the client asks for it")
  func answers() async throws {
    try await serve { service, port in
      let answer = try await Self.talk(port, Self.get("/healthz", "") + Self.get("/nothing", "") + Self.get("/healthz"))
      let states = answer.matches(of: #/HTTP/1\.1 ([0-9]{3}) /#).map { String($0.1) }
      #expect(states == ["200", "404", "200"])
      #expect(answer.lowercased().contains("server: crier"))
    }
  }

  @Test("the log has the service's address exactly once, with brackets around an IPv6 address")
  func address() async throws {
    for (host, written) in [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")] {
      let ports = Locked(0)
      let service = try await serve(
        { $0.settings.host = host },
        { _, port in ports.withLock { $0 = port } })
      let lines = service.log.lines.filter { $0.contains("listening") }
      #expect(lines.count == 1 && lines.first?.contains("on \(written):\(ports.withLock { $0 }).") == true, "\(lines)")
    }
  }

  @Test("the responses on one connection arrive in the order of their requests, also those with clips from memory")
  func clipsAmongOthers() async throws {
    try await serve { service, port in
      let client = try await service.client()
      let name = try await client.post(payment()).string("clip.name").orThrow("a name")
      let clip = try await client.get("/v1/clips/\(name)").body
      let key = try client.key.orThrow("a key").bearer
      func get(_ path: String, _ more: String = "") -> String {
        Self.get(path, "Authorization: \(key)\r\n\(more)")
      }
      let order = ["clips/\(name)", "clips/\(name)", "locales", "clips/\(name)", "announcements/p1", "clips/\(name)"]
      let answer = try await Self.talk(
        port, order.map { get("/v1/\($0)") }.joined() + get("/v1/clips/\(name)", "Connection: close\r\n"))
      let types = answer.matches(of: #/[Cc]ontent-[Tt]ype: ([a-z\/]+)/#).map { String($0.1) }
      #expect(
        types == [
          "audio/wav", "audio/wav", "application/json", "audio/wav", "application/json", "audio/wav", "audio/wav",
        ])
      let sound = String(decoding: clip, as: UTF8.self)
      #expect(answer.components(separatedBy: sound).count == 6)
    }
  }

  @Test("a 304 response has no body length, and the connection stays open")
  func notModified() async throws {
    try await serve { service, port in
      let tag = try await service.stranger.get("/console.js").header("ETag").orThrow("a tag")
      let answer = try await Self.talk(
        port, Self.get("/console.js", "If-None-Match: \(tag)\r\n") + Self.get("/healthz"))
      #expect(answer.hasPrefix("HTTP/1.1 304") && answer.contains("HTTP/1.1 200"))
      let head = answer.components(separatedBy: "\r\n\r\n")[0].lowercased()
      #expect(!head.contains("content-length") && !head.contains("transfer-encoding"))
    }
  }

  @Test("a request head that is malformed or too large is refused", arguments: [0, 20_000])
  func badHead(bytes: Int) async throws {
    try await serve { service, port in
      let text =
        bytes == 0 ? "nonsense\r\n\r\n" : Self.get("/healthz", "X-Large: \(String(repeating: "x", count: bytes))\r\n")
      let answer = try await Self.talk(port, text)
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
      #expect(try await Self.talk(port, Self.get("/healthz")).hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test("the connection of an incomplete request is closed at the deadline")
  func slow() async throws {
    try await serve {
      $0.settings.requestDeadline = 0.05
    } _: { service, port in
      let answer = try await Self.talk(port, "POST /v1/announcements HTTP/1.1\r\nHost: a\r\nContent-Le")
      #expect(answer.isEmpty)
    }
  }

  @Test(
    "the place of a stream is free again as soon as its client disconnects, even without further events",
    arguments: [true, false])
  func streamsGone(isHalf: Bool) async throws {
    try await serve {
      // There is no heartbeat, because the library would notice the disconnection when it writes one.
      $0.settings.heartbeat = 3_600
      $0.settings.work.eventStreams = 3
      $0.settings.work.batchStreams = 3
    } _: { service, port in
      let client = try await service.client()
      let key = try client.key.orThrow("a key").bearer
      // A list that does not end.
      service.voice.hold()
      defer { service.voice.release() }
      let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
      for (path, slots) in [("/v1/events", service.server.eventSlots), (place, service.server.batchSlots)] {
        let request = Self.get(path, "Authorization: \(key)\r\nAccept: text/event-stream\r\n")
        // All slots are used three times, so each must become free again.
        for _ in 0..<3 {
          var streams: [any Channel] = []
          for number in 1...3 {
            let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
              .channelOption(.allowRemoteHalfClosure, value: true).connect(host: "127.0.0.1", port: port).get()
            try await stream.writeAndFlush(ByteBuffer(string: request))
            streams.append(stream)
            try await eventually { slots.count >= number }
          }
          let refused = try await client.get(path, ["Accept": "text/event-stream"])
          #expect(refused.status == 429 && refused.code == "account_busy")
          for stream in streams { try await stream.close(mode: isHalf ? .output : .all) }
          try await eventually { slots.count == 0 }
          // The service may have closed its side by now.
          for stream in streams where isHalf { try? await stream.close() }
        }
      }
    }
  }

  @Test("the service stops with an open stream, a playing payment and a running batch, and loses none of them")
  func stops() async throws {
    let (keys, told) = AsyncStream.makeStream(of: (client: TestKey, batch: String).self)
    let service = try await serve {
      $0.hasPlayer = true
    } _: { service, port in
      let client = try await service.client()
      #expect(try await client.post(payment("p1", "12.50", #""deliver":["play"]"#)).status == 201)
      await service.output.begins(1)
      service.voice.hold()
      let place = try await client.postBatch("text\none\n").header("Location").orThrow("a place")
      await service.voice.isAsked(2)
      let key = try client.key.orThrow("a key")
      told.yield((key, place))
      service.run { _ = try await Self.talk(port, Self.get("/v1/events", "Authorization: \(key.bearer)\r\n")) }
      try await eventually { service.server.hub.count >= 1 }
      service.run {
        try await eventually { service.server.stopping.isStopping }
        service.voice.release()
      }
    }
    #expect(try await service.ledger.entry(account: "shop", id: "p1")?.state != .played)
    told.finish()
    let next = try TestService(in: service.folder) { $0.hasPlayer = true }
    next.startBatches()
    next.output.hearAll()
    let player = try await next.startPlayer()
    try await next.event(.played, of: player)
    for await (key, place) in keys {
      let again = TestClient(server: next.server, key: key)
      try await eventually { try await again.get(place).status != 404 }
      #expect(try await again.end(of: place).string("state") == "done")
    }
  }
}
