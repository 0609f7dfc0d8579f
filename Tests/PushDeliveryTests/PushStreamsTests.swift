// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import PushMessages
import Testing

@testable import PushDelivery

@Suite("The streams of a connection") struct PushStreamsTests {
  private typealias Streams = PushStreams<String>

  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private func streams(limit: Int = 100, first: Int32 = 1) -> Streams {
    var streams = Streams(first: first)
    streams.limit = limit
    return streams
  }

  private func fields(_ status: Int, _ more: [(String, String)] = []) -> HPACKHeaders {
    HPACKHeaders([(":status", "\(status)")] + more)
  }

  /// Returns the push of an ending and its outcome, in words.
  private func text(_ ending: Streams.Ending?) -> String? {
    ending.map { ending in
      switch ending.outcome {
      case .answered(let response): "\(ending.push): \(response.status) \(response.reason ?? "-")"
      case .failed(let code): "\(ending.push): \(code.rawValue)"
      }
    }
  }

  // MARK: Room

  @Test("the streams of a connection have rising odd numbers, and there are at most as many as the server allows")
  func room() {
    var streams = Streams()
    #expect(!streams.hasRoom)
    streams.limit = 2
    #expect(streams.start("a", at: start) == 1)
    #expect(streams.start("b", at: start) == 3)
    #expect(!streams.hasRoom)
    #expect(text(streams.end(1, reason: .cancel)) == "a: connection_lost")
    #expect(streams.hasRoom)
    #expect(streams.start("c", at: start) == 5)
    // The server may allow fewer streams than there are.
    streams.limit = 1
    #expect(!streams.hasRoom)
    _ = streams.end(3, reason: nil)
    #expect(!streams.hasRoom)
  }

  @Test("a connection ends before its stream numbers overflow")
  func usedUp() {
    var streams = streams(first: .max - 4)
    #expect(streams.start("a", at: start) == HTTP2StreamID(Int32.max - 4))
    #expect(!streams.isUsedUp && streams.hasRoom)
    #expect(streams.start("b", at: start) == HTTP2StreamID(Int32.max - 2))
    #expect(streams.isUsedUp && !streams.hasRoom)
  }

  // MARK: Answers

  @Test("an answer is complete at its end, and its stream counts as open until both sides have ended it")
  func answer() {
    var streams = streams(limit: 1)
    let id = streams.start("a", at: start)
    #expect(text(streams.receive(fields(410), endsStream: false, on: id).ending) == nil)
    #expect(text(streams.receive(ByteBuffer(string: #"{"reason":"#), endsStream: false, on: id).ending) == nil)
    let step = streams.receive(ByteBuffer(string: #""Unregistered"}"#), endsStream: true, on: id)
    #expect(text(step.ending) == "a: 410 Unregistered" && !step.mustReset)
    #expect(!streams.hasRoom)
    #expect(streams.end(id, reason: nil) == nil)
    #expect(streams.hasRoom && streams.isEmpty)
  }

  @Test("header fields alone do not count as an answer until the stream has ended")
  func headersWithoutEnd() {
    var streams = streams()
    let id = streams.start("a", at: start)
    #expect(streams.receive(fields(200), endsStream: false, on: id).ending == nil)
    #expect(text(streams.end(id, reason: .internalError)) == "a: connection_lost")
  }

  @Test("informational answers to a push are ignored, and trailers do not change the answer")
  func blocks() {
    var streams = streams()
    let id = streams.start("a", at: start)
    for status in [100, 103, 103] { #expect(streams.receive(fields(status), endsStream: false, on: id).ending == nil) }
    #expect(
      streams.receive(fields(429, [("retry-after", "7"), ("apns-id", "x")]), endsStream: false, on: id).ending == nil)
    let trailers = HPACKHeaders([("retry-after", "9"), (":status", "200")])
    let step = streams.receive(trailers, endsStream: true, on: id)
    #expect(step.ending?.outcome == .answered(PushResponse(status: 429, id: "x", retryAfter: 7)))
  }

  @Test(
    "an answer to a push without a final status counts as a lost connection",
    arguments: [
      [], [(":status", "103")], [(":status", "099")], [(":status", "600")], [(":status", "OK")], [("x", "y")],
    ] as [[(String, String)]])
  func noStatus(fields: [(String, String)]) {
    var streams = streams()
    let id = streams.start("a", at: start)
    #expect(text(streams.receive(HPACKHeaders(fields), endsStream: true, on: id).ending) == "a: connection_lost")
  }

  @Test("if the body of an answer is too long, the push ends with the status, and the stream is reset")
  func longBody() {
    var streams = streams()
    let (a, b) = (streams.start("a", at: start), streams.start("b", at: start))
    for id in [a, b] { #expect(streams.receive(fields(500), endsStream: false, on: id).ending == nil) }
    let part = ByteBuffer(repeating: UInt8(ascii: " "), count: 2_048)
    for _ in 0..<2 { #expect(streams.receive(part, endsStream: false, on: a).ending == nil) }
    let step = streams.receive(ByteBuffer(string: " "), endsStream: false, on: a)
    #expect(text(step.ending) == "a: 500 -" && step.mustReset)
    // The bytes that still arrive, and the end of the stream, belong to no push.
    #expect(streams.receive(part, endsStream: true, on: a).ending == nil)
    #expect(streams.end(a, reason: .cancel) == nil)
    // A body that is too long and has ended needs no reset.
    let last = streams.receive(ByteBuffer(repeating: 0, count: 5_000), endsStream: true, on: b)
    #expect(text(last.ending) == "b: 500 -" && !last.mustReset)
  }

  @Test("frames of an unknown stream have no effect")
  func strangers() {
    var streams = streams()
    let id = streams.start("a", at: start)
    for stranger in [HTTP2StreamID(2), 3, 1_001] {
      #expect(streams.receive(fields(200), endsStream: true, on: stranger).ending == nil)
      #expect(streams.receive(ByteBuffer(string: "x"), endsStream: true, on: stranger).ending == nil)
      #expect(streams.end(stranger, reason: nil) == nil)
    }
    #expect(text(streams.receive(fields(200), endsStream: true, on: id).ending) == "a: 200 -")
    // A second answer, and the end of a stream that has its answer, belong to no push either.
    #expect(streams.receive(fields(500), endsStream: true, on: id).ending == nil)
    #expect(streams.end(id, reason: .internalError) == nil)
  }

  // MARK: Ends

  @Test(
    "a push is not processed if the server refuses its stream, or if its stream comes after the last one in GOAWAY")
  func refused() {
    var streams = streams()
    let ids = ["a", "b", "c", "d", "e"].map { streams.start($0, at: start) }
    #expect(text(streams.end(ids[0], reason: .refusedStream)) == "a: not_processed")
    #expect(text(streams.end(ids[1], reason: nil)) == "b: connection_lost")
    // A later GOAWAY may only lower the last stream.
    for last in [HTTP2StreamID.maxID, ids[2], ids[3]] { streams.refuse(after: last) }
    #expect(text(streams.end(ids[2], reason: .cancel)) == "c: connection_lost")
    #expect(text(streams.end(ids[3], reason: .cancel)) == "d: not_processed")
    #expect(streams.endAll().map { text($0) } == ["e: not_processed"])
    #expect(streams.isEmpty)
  }

  @Test("when the connection ends, each push without an answer ends once")
  func connectionEnds() {
    var streams = streams()
    let ids = ["a", "b", "c"].map { streams.start($0, at: start) }
    _ = streams.receive(fields(200), endsStream: true, on: ids[1])
    #expect(streams.endAll().compactMap { text($0) }.sorted() == ["a: connection_lost", "c: connection_lost"])
    #expect(streams.endAll().isEmpty && streams.isEmpty)
  }

  @Test("streams that take too long are ended, and the earliest start of the remaining streams is known")
  func time() {
    var streams = streams()
    #expect(streams.oldest == nil)
    let ids = ["a", "b", "c"].enumerated().map { streams.start($1, at: start + .seconds(Int64($0))) }
    _ = streams.receive(fields(200), endsStream: true, on: ids[0])
    #expect(streams.oldest == start)
    let late = streams.giveUp(startedBy: start + .seconds(1)).sorted { $0.id < $1.id }
    #expect(late.map(\.id) == [ids[0], ids[1]])
    #expect(late.map(\.sentAt) == [start, start + .seconds(1)])
    #expect(late.map { text($0.ending) } == [nil, "b: timed_out"])
    #expect(streams.oldest == start + .seconds(2))
    #expect(streams.giveUp(startedBy: start + .seconds(1)).isEmpty)
    #expect(streams.receive(fields(200), endsStream: true, on: ids[1]).ending == nil)
  }
}
