// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import ServiceAccess
import TestSupport

@testable import AnnouncementServer

/// An answer of the service, read to its end.
struct TestAnswer: Sendable {
  var status: Int
  var headers: HTTPFields
  var body: Data

  init(status: Int, headers: HTTPFields, body: Data) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Reads a response.
  init(_ response: Response) async throws {
    let collected = CollectedBody()
    try await response.body.write(CollectingWriter { collected.append($0) })
    self.init(status: response.status.code, headers: response.headers, body: collected.data)
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The body, which is one JSON object.
  var object: [String: Any] {
    get throws {
      guard let object = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
        throw Missing(what: "an object")
      }
      return object
    }
  }

  /// A value of the object by its path, as `clip.name`; nil where there is none, and for null.
  func value(_ path: String) throws -> Any? {
    var value: Any? = try object
    for key in path.split(separator: ".") {
      if let list = value as? [Any], let index = Int(key) {
        value = list.indices.contains(index) ? list[index] : nil
      } else {
        value = (value as? [String: Any])?[String(key)]
      }
    }
    return value is NSNull ? nil : value
  }

  func string(_ path: String) throws -> String? { try value(path) as? String }
  func number(_ path: String) throws -> Int? { try value(path) as? Int }

  /// The code of a problem.
  var code: String? { (try? string("code")).flatMap(\.self) }

  func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

/// Calls the service in its own process, without a socket.
struct TestClient: Sendable {
  var server: AnnouncementServer
  var key: TestKey?
  var log = TestLog()
  var authority: String? = "crier.test"

  /// A request must have a channel. This one is never used.
  private static let channel = NIOAsyncTestingChannel()

  /// Requests are answered on an event loop, as in the service. A test fails if a call of a file or a lock blocks it.
  fileprivate static let executor = LoopExecutor(MultiThreadedEventLoopGroup.singleton.any())

  /// - Parameter body: in one piece.
  func send(
    _ method: HTTPRequest.Method, _ target: String, headers: [String: String] = [:], body: Data = Data()
  ) async throws -> TestAnswer {
    try await withTaskExecutorPreference(Self.executor) {
      try await TestAnswer(await respond(method, target, headers, RequestBody(buffer: ByteBuffer(bytes: body))))
    }
  }

  func get(_ target: String, _ headers: [String: String] = [:]) async throws -> TestAnswer {
    try await send(.get, target, headers: headers)
  }

  /// Sends an announcement.
  func post(_ body: String, _ headers: [String: String] = [:]) async throws -> TestAnswer {
    try await send(
      .post, "/v1/announcements", headers: headers.merging(["Content-Type": "application/json"]) { own, _ in own },
      body: Data(body.utf8))
  }

  /// A stream that is open until it is ended.
  func stream(_ target: String, _ headers: [String: String] = [:]) async -> TestStream {
    let response = await respond(.get, target, headers, RequestBody(buffer: ByteBuffer()))
    return TestStream(response)
  }

  func respond(
    _ method: HTTPRequest.Method, _ target: String, _ headers: [String: String], _ body: RequestBody
  ) async -> Response {
    var fields = HTTPFields()
    if let key { fields[.authorization] = key.bearer }
    for (name, value) in headers {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    let head = HTTPRequest(method: method, scheme: "http", authority: authority, path: target, headerFields: fields)
    var logger = log.logger
    logger[metadataKey: "hb.request.id"] = "\(UUID().uuidString)"
    let context = ServiceContext(source: ApplicationRequestContextSource(channel: Self.channel, logger: logger))
    return await withTaskExecutorPreference(Self.executor) {
      await server.responder.respond(to: Request(head: head, body: body), context: context)
    }
  }
}

/// Bytes as they come.
private final class CollectedBody: Sendable {
  private let bytes = Locked(Data())
  var data: Data { bytes.withLock { $0 } }
  func append(_ buffer: ByteBuffer) { bytes.withLock { $0 += Data(buffer.readableBytesView) } }
}

private struct CollectingWriter: ResponseBodyWriter {
  var take: @Sendable (ByteBuffer) -> Void

  mutating func write(_ buffer: ByteBuffer) async throws { take(buffer) }
  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// A server-sent event as a client reads it.
struct TestEvent: Sendable {
  var id: String?
  var name: String
  var data: Data

  init?(_ text: String) {
    var fields: [Substring: String] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix(":") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { fields[parts[0]] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    guard let name = fields["event"], let data = fields["data"] else { return nil }
    (id, self.name, self.data) = (fields["id"], name, Data(data.utf8))
  }

  private var answer: TestAnswer { TestAnswer(status: 200, headers: [:], body: data) }
  func string(_ path: String) throws -> String? { try answer.string(path) }
  func number(_ path: String) throws -> Int? { try answer.number(path) }
}

/// An answer that comes piece by piece.
actor TestStream {
  nonisolated let status: Int
  nonisolated let headers: HTTPFields
  private nonisolated let task: Task<Void, Never>
  private var pieces: AsyncStream<String>.AsyncIterator

  init(_ response: Response) {
    status = response.status.code
    headers = response.headers
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    pieces = stream.makeAsyncIterator()
    task = Task {
      _ = await withTaskExecutorPreference(TestClient.executor) {
        try? await response.body.write(CollectingWriter { continuation.yield(String(buffer: $0)) })
      }
      continuation.finish()
    }
  }

  /// Disconnects the client.
  nonisolated func end() { task.cancel() }

  /// The next piece; nil when the service has ended the stream.
  func next() async -> String? {
    var iterator = pieces
    let piece = await iterator.next(isolation: self)
    pieces = iterator
    return piece
  }

  /// The next event.
  func event() async throws -> TestEvent {
    while let piece = await next() {
      if let event = TestEvent(piece) { return event }
    }
    throw Missing(what: "another event")
  }

  /// The next event of a kind.
  func event(_ name: String) async throws -> TestEvent {
    while true {
      let event = try await event()
      if event.name == name { return event }
    }
  }

  /// All pieces until the service ends the stream.
  func rest() async -> [String] {
    var all: [String] = []
    while let piece = await next() { all.append(piece) }
    return all
  }
}
