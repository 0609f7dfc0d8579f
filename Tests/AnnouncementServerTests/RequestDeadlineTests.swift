// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import AnnouncementServer

@Suite("Deadlines of connections")
struct RequestDeadlineTests {
  /// A connection with a limit of 30 s, whose clock runs only when the test says so.
  private final class TimedConnection {
    let channel = EmbeddedChannel()
    /// The number of bytes that were written and not read.
    var unread = 0

    init() throws {
      let handler = ConnectionHandler(
        Connection(peer: nil), authority: "127.0.0.1", limit: .seconds(30)
      ) { [unowned self] _ in unread }
      try channel.pipeline.syncOperations.addHandlers([HalfOpen(), handler])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    }

    /// Keeps the service's side open while something is unread. An embedded channel would close both sides at once.
    private final class HalfOpen: ChannelOutboundHandler {
      typealias OutboundIn = HTTPServerResponsePart

      func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .output { context.close(mode: mode, promise: promise) }
      }
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    var isOpen: Bool { channel.isActive }
    func wait(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    func head() throws {
      let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["Host": "127.0.0.1"])
      try channel.writeInbound(HTTPServerRequestPart.head(head))
    }
    func body() throws { try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x"))) }
    func end() throws { try channel.writeInbound(HTTPServerRequestPart.end(nil)) }

    func answer() throws {
      try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
      try piece()
      try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }
    func piece() throws { try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "y")))) }

    func setWritable(_ isWritable: Bool) {
      channel.isWritable = isWritable
      channel.pipeline.fireChannelWritabilityChanged()
    }
  }

  @Test("a connection without a request head is closed at the deadline")
  func noHead() throws {
    let connection = try TimedConnection()
    connection.wait(29)
    #expect(connection.isOpen)
    connection.wait(1)
    #expect(!connection.isOpen)
  }

  @Test("a connection whose body arrives too slowly is closed at the deadline")
  func slowBody() throws {
    let connection = try TimedConnection()
    connection.wait(20)
    try connection.head()
    for _ in 0..<29 {
      connection.wait(1)
      try connection.body()
    }
    #expect(connection.isOpen)
    connection.wait(1)
    #expect(!connection.isOpen)
  }

  @Test("the deadline does not apply while a response is prepared, or while the client reads it")
  func longAnswer() throws {
    let connection = try TimedConnection()
    try connection.head()
    try connection.end()
    connection.wait(1000)
    #expect(connection.isOpen)
    for _ in 0..<20 {
      try connection.piece()
      connection.wait(29)
      connection.setWritable(false)
      connection.wait(29)
      connection.setWritable(true)
    }
    #expect(connection.isOpen)
  }

  @Test("a client that stops reading is disconnected at the deadline")
  func reader() throws {
    let connection = try TimedConnection()
    try connection.head()
    try connection.end()
    connection.setWritable(false)
    connection.wait(29)
    #expect(connection.isOpen)
    connection.wait(1)
    #expect(!connection.isOpen)
  }

  @Test("a long response may take any time while the client reads enough of it", arguments: [true, false])
  func slowReader(isWritable: Bool) throws {
    let connection = try TimedConnection()
    try connection.head()
    try connection.end()
    connection.unread = 1_000_000
    if !isWritable { connection.setWritable(false) }
    try connection.answer()
    for _ in 0..<8 {
      connection.wait(29)
      connection.unread -= ConnectionState.leastRead
      connection.wait(1)
      #expect(connection.isOpen)
    }
    connection.wait(29)
    connection.unread -= ConnectionState.leastRead - 1
    connection.wait(1)
    #expect(!connection.isOpen, "reading a few bytes does not count")
  }

  @Test("a client that reads nothing of a buffered response gets one extension of the deadline")
  func standingStill() throws {
    let connection = try TimedConnection()
    try connection.head()
    try connection.end()
    try connection.answer()
    connection.unread = 100_000
    connection.wait(59)
    #expect(connection.isOpen)
    connection.wait(1)
    #expect(!connection.isOpen)
  }

  @Test("after the client has read everything, the usual deadline applies to the next request")
  func readAtLast() throws {
    let connection = try TimedConnection()
    for _ in 0..<3 {
      try connection.head()
      try connection.end()
      try connection.answer()
      connection.unread = 100_000
      connection.wait(31)
      connection.unread = 0
      #expect(connection.isOpen)
    }
    connection.wait(30)
    #expect(!connection.isOpen)
  }

  @Test(
    "after the service has closed its side, nothing that the client sends extends the connection's deadline")
  func over() throws {
    for unread in [0, 100_000] {
      let connection = try TimedConnection()
      for _ in 0..<2 {
        try connection.head()
        try connection.end()
      }
      try connection.answer()
      connection.unread = unread
      connection.channel.close(mode: .output, promise: nil)
      for _ in 0..<(unread == 0 ? 29 : 59) {
        connection.wait(1)
        try connection.head()
        try connection.end()
        #expect(connection.isOpen)
      }
      connection.wait(1)
      #expect(!connection.isOpen)
    }
  }

  @Test("when the service stops, a response may be read for 8 s more, and every other connection ends after 2 s")
  func stopping() throws {
    let reading = try TimedConnection()
    try reading.head()
    try reading.end()
    try reading.answer()
    reading.unread = 100_000
    reading.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    reading.wait(7)
    #expect(reading.isOpen)
    reading.wait(1)
    #expect(!reading.isOpen)

    let idle = try TimedConnection()
    idle.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    idle.wait(1)
    try idle.head()
    idle.wait(1)
    #expect(idle.isOpen)
    idle.wait(1)
    #expect(!idle.isOpen)
  }

  @Test("an idle connection is closed at the deadline")
  func idle() throws {
    let connection = try TimedConnection()
    for _ in 0..<3 {
      connection.wait(29)
      try connection.head()
      try connection.end()
      try connection.answer()
    }
    connection.wait(29)
    #expect(connection.isOpen)
    connection.wait(1)
    #expect(!connection.isOpen)
  }

  @Test("after an early response, the deadline applies to the rest of the request and then to the next request")
  func answeredEarly() throws {
    let slow = try TimedConnection()
    try slow.head()
    try slow.answer()
    slow.wait(30)
    #expect(!slow.isOpen)

    let idle = try TimedConnection()
    try idle.head()
    try idle.answer()
    idle.wait(10)
    try idle.end()
    idle.wait(29)
    #expect(idle.isOpen)
    idle.wait(1)
    #expect(!idle.isOpen)
  }

  @Test("the deadline is suspended until the last of several pipelined requests is answered")
  func pipelined() throws {
    let connection = try TimedConnection()
    for _ in 0..<2 {
      try connection.head()
      try connection.end()
    }
    try connection.answer()
    connection.wait(100)
    #expect(connection.isOpen, "one response is still missing")
    try connection.answer()
    connection.wait(30)
    #expect(!connection.isOpen)
  }

  @Test("after a connection has closed, its deadline has no effect")
  func closed() throws {
    let connection = try TimedConnection()
    try connection.channel.close().wait()
    connection.wait(100)
    #expect(!connection.isOpen)
  }

  @Test("a deadline handler that was removed from its connection does not close the connection")
  func removed() throws {
    let connection = try TimedConnection()
    try connection.channel.pipeline.syncOperations.removeHandler(
      try connection.channel.pipeline.syncOperations.handler(type: ConnectionHandler.self)
    ).wait()
    connection.wait(100)
    #expect(connection.isOpen)
  }
}
