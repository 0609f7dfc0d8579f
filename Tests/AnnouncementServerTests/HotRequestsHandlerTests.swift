// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import AnnouncementServer

@Suite("The handler for requests that are answered from memory")
struct HotRequestsHandlerTests {
  /// A connection on which `/hot` is in memory, and for `/echo` the bodies "again" and "twice".
  private struct Connection {
    let channel = EmbeddedChannel()
    let heard = Heard()
    let holding = Holding()

    init() throws {
      let state = SharedConnectionState(limit: .hours(1))
      func response(_ text: String) -> HotResponse {
        HotResponse(head: HTTPResponseHead(version: .http1_1, status: .ok), body: ByteBuffer(string: text))
      }
      let handler = HotRequestsHandler(
        decide: { head in
          switch head.uri {
          case "/hot": .answer(response("sound"))
          case "/echo":
            .answerWithBody { body in
              let text = String(buffer: body)
              return ["again", "twice"].contains(text) ? response("report of \(text)") : nil
            }
          default: nil
          }
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

    /// Receives the parts of a request that sends a body, as far as they arrive at once.
    func receive(_ uri: String? = nil, _ body: String..., trailers: HTTPHeaders? = nil, isComplete: Bool = true) {
      let pipeline = channel.pipeline
      if let uri {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: uri)
        pipeline.fireChannelRead(HTTPServerRequestPart.head(head))
      }
      for part in body { pipeline.fireChannelRead(HTTPServerRequestPart.body(ByteBuffer(string: part))) }
      if isComplete { pipeline.fireChannelRead(HTTPServerRequestPart.end(trailers)) }
      pipeline.fireChannelReadComplete()
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
        case .body(let bytes): parts.append(String(buffer: bytes))
        case .end(let trailers): parts.append(trailers == nil ? "end" : "end with trailers")
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
        case .body(.fileRegion): parts.append("file")
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

  @Test(
    "a request with a body is answered from memory when its body is complete", arguments: [["again"], ["ag", "ain"]])
  func body(parts: [String]) throws {
    let connection = try Connection()
    for _ in 0..<2 {
      let pipeline = connection.channel.pipeline
      pipeline.fireChannelRead(
        HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/echo")))
      for part in parts { pipeline.fireChannelRead(HTTPServerRequestPart.body(ByteBuffer(string: part))) }
      #expect(try connection.answered() == [])
      pipeline.fireChannelRead(HTTPServerRequestPart.end(nil))
      #expect(try connection.answered() == ["200", "report of again", "end"])
      pipeline.fireChannelReadComplete()
    }
    #expect(try connection.passedOn() == [])
  }

  @Test("a request whose body is not in memory is passed on completely, and in its order")
  func otherBody() throws {
    let connection = try Connection()
    connection.receive("/echo", "other")
    #expect(try connection.passedOn() == ["/echo", "other", "end"])
    // The response to the first request is missing, so the next one is passed on, too.
    connection.receive("/echo", "again")
    #expect(try connection.passedOn() == ["/echo", "again", "end"])
    for _ in 0..<2 { connection.answerPassedOn() }
    connection.receive("/echo", "twice")
    #expect(try connection.answered() == ["202", "end", "202", "end", "200", "report of twice", "end"])
  }

  @Test("a body that does not arrive with its head is passed on as it arrives")
  func slowBody() throws {
    let connection = try Connection()
    connection.receive("/echo", isComplete: false)
    #expect(try connection.passedOn() == ["/echo"])
    connection.receive(nil, "again")
    #expect(try connection.passedOn() == ["again", "end"])
    connection.answerPassedOn()
    connection.receive("/echo", "ag", isComplete: false)
    #expect(try connection.passedOn() == ["/echo", "ag"])
    connection.receive(nil, "ain")
    #expect(try connection.passedOn() == ["ain", "end"])
    connection.answerPassedOn()
    connection.receive("/echo")
    #expect(try connection.passedOn() == ["/echo", "end"])
    #expect(try connection.answered() == ["202", "end", "202", "end"])
  }

  @Test("a request with trailers is passed on")
  func trailers() throws {
    let connection = try Connection()
    connection.receive("/echo", "again", trailers: HTTPHeaders([("X", "y")]))
    #expect(try connection.passedOn() == ["/echo", "again", "end with trailers"])
  }

  @Test("a held request is passed on before the end of its connection", arguments: [true, false])
  func heldAtTheEnd(isHalfClosed: Bool) throws {
    let connection = try Connection()
    connection.channel.pipeline.fireChannelRead(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/echo")))
    if isHalfClosed {
      connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      #expect(connection.heard.events.count == 1)
    } else {
      connection.channel.pipeline.fireChannelInactive()
    }
    #expect(try connection.passedOn() == ["/echo"])
  }

  @Test("every other request is passed on completely")
  func passesOn() throws {
    let connection = try Connection()
    try connection.channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/cold")))
    try connection.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
    try connection.channel.writeInbound(HTTPServerRequestPart.end(nil))
    #expect(try connection.passedOn() == ["/cold", "x", "end"])
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
