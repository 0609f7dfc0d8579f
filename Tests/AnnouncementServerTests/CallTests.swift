// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing
import TestSupport

@testable import AnnouncementServer

@Suite("Reading a request", .timeLimit(.minutes(10)))
struct CallTests {
  private func call(
    _ target: String = "/", _ headers: HTTPFields = [:], authority: String? = nil,
    body: RequestBody = RequestBody(buffer: ByteBuffer())
  ) -> Call {
    let head = HTTPRequest(method: .post, scheme: nil, authority: authority, path: target, headerFields: headers)
    return Call(request: Request(head: head, body: body), logger: TestLog().logger)
  }

  @Test(
    "the call takes its authority from a valid Host header",
    arguments: ["a", "pay.example:8080", "[::1]:80", "127.0.0.1", "my_host", "A-b.c"])
  func authority(text: String) {
    #expect(call(authority: text).authority == text)
  }

  @Test(
    "an invalid Host header is not used in any URL",
    arguments: [
      "", "a b", "a/b", "a?b", "a#b", "u@h", "a\"b", "é", "a%2F", "<x>", "a\\b", String(repeating: "a", count: 256),
    ])
  func noAuthority(text: String) {
    #expect(call(authority: text).authority == nil)
    #expect(call().authority == nil)
  }

  @Test("the value of a query item is decoded, and the first of several items with the same name counts")
  func query() {
    let call = call("/?a=1&b=%E5%BC%A0&a=2&c=&d")
    #expect(call.query("a") == "1" && call.query("b") == "张" && call.query("c")?.isEmpty == true)
    #expect(call.query("e") == nil)
  }

  @Test("a body in several pieces is read up to the limit, and a larger body is refused")
  func body() async throws {
    let pieces = ["ab", "", "cd"].map { ByteBuffer(string: $0) }
    func stream() -> RequestBody {
      RequestBody(
        asyncSequence: AsyncStream { continuation in
          for piece in pieces { continuation.yield(piece) }
          continuation.finish()
        })
    }
    #expect(try await call(body: stream()).body(upTo: 4) == Data("abcd".utf8))
    let problem = await #expect(throws: Problem.self) { try await call(body: stream()).body(upTo: 3) }
    #expect(problem?.status == .contentTooLarge && problem?.detail.contains("3 bytes") == true)
    let told = await #expect(throws: Problem.self) {
      try await call("/", [.contentLength: "5"], body: stream()).body(upTo: 4)
    }
    #expect(told?.code == "payload_too_large")
  }

  @Test("a limited number of lists is read at once, a further list gets 429, and a finished list frees its slot")
  func largeBodies() async throws {
    let bodies = LargeBodies()
    func isTaken(_ account: String = "late") async throws -> Bool {
      do {
        let call = call(body: RequestBody(buffer: ByteBuffer(string: "x")))
        return try await bodies.read(call, of: account, upTo: 10).count == 1
      } catch let problem as Problem {
        let code = account == "late" ? "busy" : "account_busy"
        #expect(problem.status == .tooManyRequests && problem.code == code && problem.retryAfter != nil)
        return false
      }
    }
    try await withThrowingTaskGroup(of: Data.self) { group in
      var senders: [AsyncStream<ByteBuffer>.Continuation] = []
      for number in 0..<LargeBodies.most {
        let (body, sender) = AsyncStream.makeStream(of: ByteBuffer.self)
        senders.append(sender)
        let call = call(body: RequestBody(asyncSequence: body))
        group.addTask { try await bodies.read(call, of: "account \(number / LargeBodies.mostOfOne)", upTo: 10) }
      }
      try await eventually { bodies.count >= LargeBodies.most }
      #expect(try await !isTaken())
      #expect(try await !isTaken("account 0"))
      senders[0].yield(ByteBuffer(string: "whole"))
      senders[0].finish()
      #expect(try await group.next() == Data("whole".utf8))
      #expect(try await isTaken())
      for sender in senders { sender.finish() }
      for try await body in group { #expect(body.isEmpty) }
    }
  }

  @Test("a body that ends early is refused as incomplete")
  func incomplete() async throws {
    struct Gone: Error {}
    let body = RequestBody(
      asyncSequence: AsyncThrowingStream<ByteBuffer, any Error> { continuation in
        continuation.yield(ByteBuffer(string: "ab"))
        continuation.finish(throwing: Gone())
      })
    let problem = await #expect(throws: Problem.self) { try await call(body: body).body(upTo: 10) }
    #expect(problem?.status == .badRequest && problem?.code == "body_incomplete")
  }

  @Test("a body that was read to check a signature is not read again")
  func readBody() async throws {
    var call = call()
    call.readBody = Data("abc".utf8)
    #expect(try await call.body(upTo: 3) == Data("abc".utf8))
    let read = call
    await #expect(throws: Problem.self) { try await read.body(upTo: 2) }
  }

  @Test("the media type of a request is compared in lower case and without its parameters")
  func mediaType() throws {
    let call = call("/", [.contentType: " Text/CSV ; charset=utf-8"])
    #expect(call.mediaType == "text/csv")
    try call.requireMediaType("application/jsonl", "text/csv")
    #expect(throws: Problem.self) { try call.requireMediaType("application/json") }
    #expect(throws: Problem.self) { try self.call().requireMediaType("text/csv") }
  }
}
