// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import AnnouncementServer

@Suite("The handler for clips in memory")
struct HotClipsHandlerTests {
  /// A connection on which `/hot` is in memory, and nothing else.
  private struct Connection {
    let channel = EmbeddedChannel()
    let heard = Heard()
    let holding = Holding()

    init(_ content: ClipContent = .buffer(ByteBuffer(string: "sound"))) throws {
      let state = SharedConnectionState(limit: .hours(1))
      let handler = HotClipsHandler(
        answer: { [content] head in
          guard head.uri == "/hot" else { return nil }
          return HotResponse(head: HTTPResponseHead(version: .http1_1, status: .ok), body: content)
        }, connection: state, waiting: { [holding] _ in holding.unread })
      try channel.pipeline.syncOperations.addHandlers([holding, RequestDeadline(connection: state), handler, heard])
    }

    /// Holds what is flushed until it is let go, as a reader does who is slow.
    final class Holding: ChannelOutboundHandler {
      typealias OutboundIn = HTTPServerResponsePart
      var isHolding = false
      /// What was written and not let go, in bytes; heads and ends count as one.
      var unread = 0

      func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        unread += 1
        context.write(data, promise: promise)
      }

      func flush(context: ChannelHandlerContext) {
        if isHolding { return }
        unread = 0
        context.flush()
      }

      // A channel that is embedded closes both sides at once.
      func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .output { context.close(mode: mode, promise: promise) }
      }
    }

    /// What the library hears.
    final class Heard: ChannelInboundHandler {
      typealias InboundIn = HTTPServerRequestPart
      var events: [String] = []

      func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        events.append(event is ChannelShouldQuiesceEvent ? "stop" : "\(event)")
      }
    }

    func hold(_ isHolding: Bool) {
      holding.isHolding = isHolding
      if !isHolding { channel.flush() }
    }

    func ask(_ uri: String) throws {
      try channel.writeInbound(HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)))
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    /// Waits for nobody who reads it.
    func answerPassedOn() {
      let head = HTTPResponseHead(version: .http1_1, status: .accepted)
      channel.write(HTTPServerResponsePart.head(head), promise: nil)
      channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }

    /// The requests that were passed on since it was asked last; their heads and their ends.
    func passedOn() throws -> [String] {
      var parts: [String] = []
      while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
        switch part {
        case .head(let head): parts.append(head.uri)
        case .body: parts.append("body")
        case .end: parts.append("end")
        }
      }
      return parts
    }

    /// What was answered since it was asked last.
    func answered() throws -> [String] {
      var parts: [String] = []
      while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
        switch part {
        case .head(let head): parts.append("\(head.status.code)")
        case .body(.byteBuffer(let bytes)): parts.append(String(buffer: bytes))
        case .body(.fileRegion(let region)):
          parts.append("bytes \(region.readerIndex) to \(region.endIndex) of a file")
        case .end: parts.append("end")
        }
      }
      return parts
    }
  }

  @Test("a request for a clip in memory is answered when it is complete, and is not passed on")
  func answers() throws {
    let connection = try Connection()
    try connection.channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/hot")))
    #expect(try connection.answered() == [])
    try connection.channel.writeInbound(HTTPServerRequestPart.end(nil))
    #expect(try connection.answered() == ["200", "sound", "end"])
    try connection.ask("/hot")
    #expect(try connection.answered() == ["200", "sound", "end"])
    #expect(try connection.passedOn() == [])
  }

  #if os(Linux)
    @Test("a clip in a file in memory is handed to the channel as a file, which is not copied")
    func file() throws {
      let content = ClipContent.buffer(ByteBuffer(string: "sound")).inMemoryFile(ClipFile.Places(1))
      let connection = try Connection(content)
      for _ in 0..<2 {
        try connection.ask("/hot")
        #expect(try connection.answered() == ["200", "bytes 0 to 5 of a file", "end"])
      }
      #expect(String(buffer: content.bytes) == "sound" && content.memoryBytes == 4_096)
    }

    @Test("a file in memory stays open until the channel has written it or given up", arguments: [true, false])
    func openWhileWritten(isWritten: Bool) throws {
      let places = ClipFile.Places(1)
      var file = ClipFile(ByteBuffer(string: "sound"), in: places)
      weak let released = file
      let (region, written) = try #require(file).region(on: EmbeddedEventLoop())
      file = nil
      #expect(released != nil && region.fileHandle.isOpen)
      if isWritten { written.succeed() } else { written.fail(ChannelError.eof) }
      #expect(released == nil && !region.fileHandle.isOpen)
      // Its place is free again.
      #expect(ClipFile(ByteBuffer(string: "other"), in: places) != nil)
    }

    @Test("a clip for which no place is free stays in its buffer")
    func noPlace() {
      let places = ClipFile.Places(1)
      let sound = ClipContent.buffer(ByteBuffer(string: "sound"))
      let first = sound.inMemoryFile(places)
      let second = sound.inMemoryFile(places)
      guard case .memoryFile = first, case .buffer = second else {
        Issue.record("One clip has a file, and the other has none.")
        return
      }
      #expect(first.bytes == second.bytes)
    }
  #endif

  @Test("every other request is passed on completely")
  func passesOn() throws {
    let connection = try Connection()
    try connection.channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/cold")))
    try connection.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
    try connection.channel.writeInbound(HTTPServerRequestPart.end(nil))
    #expect(try connection.passedOn() == ["/cold", "body", "end"])
    #expect(try connection.answered() == [])
  }

  @Test("responses keep the order of their requests: after an unanswered request, all are passed on")
  func order() throws {
    let connection = try Connection()
    for uri in ["/cold", "/cold", "/hot"] { try connection.ask(uri) }
    #expect(try connection.passedOn() == ["/cold", "end", "/cold", "end", "/hot", "end"])
    for _ in 0..<2 { connection.answerPassedOn() }
    try connection.ask("/hot")
    #expect(try connection.passedOn() == ["/hot", "end"])
    for _ in 0..<2 { connection.answerPassedOn() }
    #expect(try connection.answered() == ["202", "end", "202", "end", "202", "end", "202", "end"])
    try connection.ask("/hot")
    #expect(try connection.answered() == ["200", "sound", "end"])
  }

  @Test("a client that does not read receives nothing more from the fast path")
  func unread() throws {
    let connection = try Connection()
    connection.channel.isWritable = false
    try connection.ask("/hot")
    #expect(try connection.passedOn() == ["/hot", "end"])
    connection.answerPassedOn()
    connection.channel.isWritable = true
    try connection.ask("/hot")
    #expect(try connection.answered() == ["202", "end", "200", "sound", "end"])
  }

  @Test(
    "a half-closed connection or a stop of the service is reported only after the responses have been read",
    arguments: [true, false])
  func unreadAtTheEnd(isStop: Bool) throws {
    let event: any Sendable = isStop ? ChannelShouldQuiesceEvent() : ChannelEvent.inputClosed
    let connection = try Connection()
    connection.hold(true)
    try connection.ask("/hot")
    connection.channel.pipeline.fireUserInboundEventTriggered(event)
    #expect(connection.heard.events == [])
    // One that comes meanwhile is answered, and its answer read, too.
    try connection.ask("/cold")
    connection.hold(false)
    #expect(connection.heard.events == [])
    connection.hold(true)
    connection.answerPassedOn()
    #expect(connection.heard.events == [])
    connection.hold(false)
    #expect(connection.heard.events.count == 1)
    #expect(try connection.answered().filter { !$0.isEmpty } == ["200", "sound", "end", "202", "end"])

    let read = try Connection()
    read.channel.pipeline.fireUserInboundEventTriggered(event)
    #expect(read.heard.events.count == 1)
  }

  @Test("a half-closed connection is reported at once if a request is incomplete")
  func half() throws {
    let connection = try Connection()
    connection.hold(true)
    try connection.ask("/hot")
    try connection.channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/cold")))
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(connection.heard.events.count == 1)
  }

  @Test("no request is answered after the service has closed its side")
  func over() throws {
    let connection = try Connection()
    connection.channel.close(mode: .output, promise: nil)
    try connection.ask("/hot")
    #expect(try connection.answered() == [])
    #expect(try connection.passedOn() == ["/hot", "end"])
  }

  @Test("a response to a malformed request does not change the number of unanswered requests")
  func nothingOwed() throws {
    let connection = try Connection()
    connection.answerPassedOn()
    try connection.ask("/cold")
    try connection.ask("/hot")
    #expect(try connection.passedOn() == ["/cold", "end", "/hot", "end"])
  }
}
