// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Testing

@testable import AnnouncementServer

@Suite("A byte range")
struct ByteRangeTests {
  @Test(
    "a valid Range header selects its bytes of a file of 100 bytes",
    arguments: [
      ("bytes=0-0", 0..<1), ("bytes=0-99", 0..<100), ("bytes=10-19", 10..<20), ("bytes=90-", 90..<100),
      ("bytes=-10", 90..<100), ("bytes=-1000", 0..<100), ("bytes=50-1000", 50..<100), ("bytes=99-99", 99..<100),
      ("bytes=0-99999999999999999999999", 0..<100), ("bytes=0-9223372036854775807", 0..<100),
    ])
  func bounds(field: String, expected: Range<Int>) {
    #expect(ByteRange(field)?.bounds(in: 100) == expected)
  }

  @Test(
    "a range that begins after the end of the file selects nothing",
    arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=9223372036854775807-"])
  func unsatisfiable(field: String) throws {
    #expect(try #require(ByteRange(field)).bounds(in: 100) == nil)
  }

  @Test("no Range header fits an empty file", arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
  func empty(field: String) throws {
    #expect(try #require(ByteRange(field)).bounds(in: 0) == nil)
  }

  @Test(
    "a Range header with anything other than a single valid range is ignored",
    arguments: [
      "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=5-4", "bytes=0-1,3-4", "items=0-1",
      "bytes=1-2-3",
      "bytes= 0-1", "bytes=+1-2", "bytes=--1", "bytes=0x1-2", "Bytes=0-1", "bytes=١-٢",
    ])
  func none(field: String) {
    #expect(ByteRange(field) == nil)
  }
}

@Suite("A response with a file")
struct FileAnswerTests {
  private let file = FileAnswer(
    file: Clips.File(bytes: ByteBuffer(string: "0123456789"), digest: "abc", mediaType: "audio/wav"))

  private func answer(
    _ headers: HTTPFields = [:], method: HTTPRequest.Method = .get
  ) async throws -> (status: Int, headers: HTTPFields, text: String) {
    let head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/", headerFields: headers)
    let response = try file.response(to: Request(head: head, body: RequestBody(buffer: ByteBuffer())))
    let text = try await TestAnswer(response).text
    return (response.status.code, response.headers, text)
  }

  @Test("a response with a complete file may be cached forever")
  func whole() async throws {
    let answer = try await answer()
    #expect(answer.status == 200 && answer.text == "0123456789")
    #expect(answer.headers[.eTag] == "\"abc\"" && answer.headers[.acceptRanges] == "bytes")
    #expect(answer.headers[.contentType] == "audio/wav" && answer.headers[.contentLength] == "10")
    #expect(answer.headers[.cacheControl] == "private, max-age=31536000, immutable")
  }

  @Test("a response with a part of a file names its range")
  func part() async throws {
    let answer = try await answer([.range: "bytes=2-4"])
    #expect(answer.status == 206 && answer.text == "234")
    #expect(answer.headers[.contentRange] == "bytes 2-4/10" && answer.headers[.contentLength] == "3")
    let suffix = try await self.answer([.range: "bytes=-3"])
    #expect(suffix.text == "789" && suffix.headers[.contentRange] == "bytes 7-9/10")
  }

  @Test("a range outside the file is refused, and the response has the file's size")
  func unsatisfiable() async throws {
    let problem = await #expect(throws: Problem.self) { try await answer([.range: "bytes=10-"]) }
    #expect(problem?.status == .rangeNotSatisfiable && problem?.headers[.contentRange] == "bytes */10")
  }

  @Test(
    "a request for several ranges, or for an invalid one, gets the complete file",
    arguments: ["bytes=0-1,4-5", "lines=1-2", "bytes=x"])
  func several(field: String) async throws {
    let answer = try await answer([.range: field])
    #expect(answer.status == 200 && answer.text == "0123456789" && answer.headers[.contentRange] == nil)
  }

  @Test(
    "a request for a range of another version gets the complete file",
    arguments: ["\"other\"", "W/\"abc\"", "Sat, 21 Nov 2026 10:00:00 GMT"])
  func otherVersion(condition: String) async throws {
    #expect(try await answer([.range: "bytes=0-1", .ifRange: condition]).status == 200)
    #expect(try await answer([.range: "bytes=0-1", .ifRange: "\"abc\""]).status == 206)
  }

  @Test(
    "a client that has the current version of a file gets 304",
    arguments: ["\"abc\"", "W/\"abc\"", "*", "\"x\", \"abc\"", "\"x\",W/\"abc\" ,\"y\""])
  func notModified(field: String) async throws {
    for method in [HTTPRequest.Method.get, .head] {
      let answer = try await answer([.ifNoneMatch: field, .range: "bytes=0-1"], method: method)
      #expect(answer.status == 304 && answer.text.isEmpty && answer.headers[.eTag] == "\"abc\"")
    }
  }

  @Test(
    "a client that has another version of a file gets the file", arguments: ["\"abcd\"", "abc", "\"\"", "W/abc", ""])
  func modified(field: String) async throws {
    #expect(try await answer([.ifNoneMatch: field]).status == 200)
  }

  @Test("a Range header applies only to GET")
  func head() async throws {
    let answer = try await answer([.range: "bytes=2-4"], method: .head)
    #expect(answer.status == 200 && answer.headers[.contentLength] == "10")
  }
}
