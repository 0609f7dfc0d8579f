// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundDownloads

@Suite("Steps of a transfer")
struct TransferTests {
  static let url = Sample.url("https://a.example/s.wav")

  private func transfer(storedTag: String? = nil, _ rules: DownloadRules = DownloadRules()) -> Transfer {
    Transfer(Self.url, storedTag: storedTag, rules: rules)
  }

  /// A transfer of 10 bytes that broke after 4.
  private func broken(tag: String? = "\"v1\"") throws -> Transfer {
    var transfer = transfer()
    var fields = ["content-length": "10"]
    fields["etag"] = tag
    #expect(try transfer.receiveHead(status: 200, fields: fields) == .readBody)
    try transfer.receive([1, 2, 3, 4])
    #expect(try !transfer.endBody(.connectionLost))
    return transfer
  }

  @Test("the first request of a download asks for the whole sound, uncompressed")
  func first() {
    let fields = transfer().fields
    #expect(fields["Accept-Encoding"] == "identity")
    #expect(fields["Range"] == nil && fields["If-Range"] == nil && fields["If-None-Match"] == nil)
    #expect(transfer(storedTag: "\"v1\"").fields["If-None-Match"] == "\"v1\"")
  }

  @Test("after a broken download, the missing bytes are requested if the entity tag is strong")
  func resumption() throws {
    let strong = try broken()
    #expect(strong.fields["Range"] == "bytes=4-")
    #expect(strong.fields["If-Range"] == "\"v1\"")
    for tag in [nil, "W/\"v1\"", "v1", "\""] {
      let other = try broken(tag: tag)
      #expect(other.fields["Range"] == nil && other.fields["If-Range"] == nil)
      #expect(other.bytes.isEmpty)
    }
  }

  @Test("a partial answer continues the transfer of a sound")
  func continued() throws {
    var transfer = try broken()
    let next = try transfer.receiveHead(
      status: 206, fields: ["etag": "\"v1\"", "content-range": "bytes 4-9/10", "content-length": "6"])
    #expect(next == .readBody)
    try transfer.receive([5, 6, 7, 8, 9, 10])
    #expect(try transfer.endBody(nil))
    #expect(transfer.bytes == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  }

  @Test("a whole answer to a request for the missing bytes starts the download again")
  func startsAnew() throws {
    var transfer = try broken()
    _ = try transfer.receiveHead(status: 200, fields: ["etag": "\"v2\"", "content-length": "3"])
    try transfer.receive([7, 8, 9])
    #expect(try transfer.endBody(nil))
    #expect(transfer.bytes == [7, 8, 9])
    #expect(transfer.entityTag == "\"v2\"")
  }

  @Test("after an answer with 416, the whole sound is requested")
  func notSatisfiable() throws {
    var transfer = try broken()
    #expect(try transfer.receiveHead(status: 416, fields: [:]) == .request)
    #expect(transfer.fields["Range"] == nil)
  }

  @Test(
    "a partial answer is refused if it has other bytes, another size or another entity tag",
    arguments: [
      ("\"v1\"", nil), ("\"v1\"", "bytes 3-9/10"), ("\"v1\"", "bytes 5-9/10"), ("\"v1\"", "bytes 4-8/10"),
      ("\"v1\"", "bytes 4-10/11"), ("\"v1\"", "bytes 4-9/*"), ("\"v1\"", "bytes */10"), ("\"v1\"", "4-9/10"),
      ("\"v1\"", "bytes 4-99999999999999999999/10"), ("\"v2\"", "bytes 4-9/10"), ("W/\"v1\"", "bytes 4-9/10"),
      (nil, "bytes 4-9/10"),
    ] as [(String?, String?)])
  func wrongRange(_ tag: String?, _ range: String?) throws {
    var transfer = try broken()
    var fields: [String: String] = [:]
    fields["etag"] = tag
    fields["content-range"] = range
    let answered = fields
    #expect(throws: DownloadError(.wrongRange, host: "a.example")) {
      try transfer.receiveHead(status: 206, fields: answered)
    }
  }

  @Test("a partial answer is refused if no part was requested")
  func unexpectedRange() {
    var transfer = transfer()
    #expect(throws: DownloadError(.wrongRange, host: "a.example")) {
      try transfer.receiveHead(status: 206, fields: ["etag": "\"v1\"", "content-range": "bytes 0-9/10"])
    }
  }

  @Test("a download with more bytes than declared is refused at once, and one with fewer bytes is requested again")
  func declaredLength() throws {
    var long = transfer()
    _ = try long.receiveHead(status: 200, fields: ["content-length": "3"])
    #expect(throws: DownloadError(.lengthMismatch, host: "a.example")) { try long.receive([1, 2, 3, 4]) }
    var short = transfer()
    for attempt in 1...3 {
      _ = try short.receiveHead(status: 200, fields: ["content-length": "3"])
      try short.receive([1, 2])
      guard attempt == 3 else {
        #expect(try !short.endBody(nil))
        continue
      }
      #expect(throws: DownloadError(.truncated, host: "a.example")) { try short.endBody(nil) }
    }
  }

  @Test(
    "a download whose declared length is not a number is refused",
    arguments: ["-1", "", "1x", "1, 1", "99999999999999999999"])
  func noNumber(_ length: String) {
    var transfer = transfer()
    #expect(throws: DownloadError(.lengthMismatch, host: "a.example")) {
      try transfer.receiveHead(status: 200, fields: ["content-length": length])
    }
  }

  @Test("a sound of exactly the size limit is allowed, and a sound of one more byte is refused")
  func sizeLimit() throws {
    let rules = DownloadRules(mostBytes: 4)
    var declared = transfer(rules)
    #expect(throws: DownloadError(.tooLarge, host: "a.example")) {
      try declared.receiveHead(status: 200, fields: ["content-length": "5"])
    }
    _ = try declared.receiveHead(status: 200, fields: ["content-length": "4"])
    var streamed = transfer(rules)
    _ = try streamed.receiveHead(status: 200, fields: [:])
    try streamed.receive([1, 2])
    try streamed.receive([3, 4])
    #expect(throws: DownloadError(.tooLarge, host: "a.example")) { try streamed.receive([5]) }
    #expect(try streamed.endBody(nil))
  }

  @Test("a download whose connection breaks after the last declared byte is complete")
  func lateBreak() throws {
    var transfer = transfer()
    _ = try transfer.receiveHead(status: 200, fields: ["content-length": "2"])
    try transfer.receive([1, 2])
    #expect(try transfer.endBody(.connectionLost))
  }

  @Test("an answer with 304 keeps the stored sound only if the request asked for it")
  func notModified() throws {
    var asked = transfer(storedTag: "\"v1\"")
    #expect(try asked.receiveHead(status: 304, fields: [:]) == .keepStored)
    asked.forgetStored()
    #expect(asked.fields["If-None-Match"] == nil)
    #expect(throws: DownloadError(.unexpectedStatus, host: "a.example", status: 304)) {
      try asked.receiveHead(status: 304, fields: [:])
    }
  }

  @Test("if the download from a redirect's target fails, the original URL is requested again")
  func originalAgain() throws {
    var transfer = transfer()
    #expect(try transfer.receiveHead(status: 307, fields: ["location": "https://b.example/t.wav"]) == .request)
    #expect(transfer.url.absoluteString == "https://b.example/t.wav")
    try transfer.fail(.connectionLost)
    #expect(transfer.url == Self.url)
  }

  @Test("a compressed answer to a download is refused", arguments: ["gzip", "br", "identity, gzip"])
  func compressed(_ encoding: String) {
    var transfer = transfer()
    #expect(throws: DownloadError(.compressedAnswer, host: "a.example")) {
      try transfer.receiveHead(status: 200, fields: ["content-encoding": encoding])
    }
  }

  @Test(
    "each HTTP status of a refused download has the expected error code",
    arguments: [
      (204, .unexpectedStatus), (300, .unexpectedStatus), (400, .unexpectedStatus), (401, .accessRefused),
      (403, .accessRefused), (404, .notFound), (407, .accessRefused), (410, .notFound), (416, .unexpectedStatus),
      (429, .serverBusy), (500, .serverFailed), (502, .serverFailed), (503, .serverBusy), (700, .unexpectedStatus),
    ] as [(Int, DownloadError.Code)])
  func statuses(_ status: Int, _ code: DownloadError.Code) {
    var transfer = transfer()
    #expect(throws: DownloadError(code, host: "a.example", status: status)) {
      try transfer.receiveHead(status: status, fields: [:])
    }
  }
}
