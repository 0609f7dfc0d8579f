// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import PushDelivery

@Suite("The coalescing of writes") struct WriteCoalescingTests {
  /// Counts the flushes that arrive at the network's end.
  private final class FlushCount: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var count = 0

    func flush(context: ChannelHandlerContext) {
      count += 1
      context.flush()
    }
  }

  private let flushes = FlushCount()
  private let channel = EmbeddedChannel()

  init() throws {
    try channel.pipeline.syncOperations.addHandlers(flushes, WriteCoalescingHandler())
  }

  /// Returns the parts that have left the channel.
  private func written() throws -> [String] {
    var parts: [String] = []
    while let part = try channel.readOutbound(as: ByteBuffer.self) { parts.append(String(buffer: part)) }
    return parts
  }

  private func write(_ text: String) { channel.write(ByteBuffer(string: text), promise: nil) }

  @Test("bytes that are written and flushed in one turn of the event loop are sent together, with one flush")
  func gathers() throws {
    for text in ["a", "b", "c"] {
      write(text)
      channel.flush()
    }
    #expect(try written().isEmpty)
    channel.embeddedEventLoop.run()
    #expect(try written() == ["abc"])
    #expect(flushes.count == 1)
    write("d")
    channel.embeddedEventLoop.run()
    #expect(try written().isEmpty)
    channel.flush()
    channel.embeddedEventLoop.run()
    #expect(try written() == ["d"])
    #expect(flushes.count == 2)
  }

  @Test("written parts are joined up to the length of a record, a longer part stays whole, and the order stays")
  func records() throws {
    let texts = (0..<5).map { String(repeating: "\($0)", count: 6_000) } + [String(repeating: "x", count: 20_000), "y"]
    for text in texts { write(text) }
    channel.flush()
    channel.embeddedEventLoop.run()
    let parts = try written()
    #expect(parts.joined() == texts.joined())
    #expect(parts.map(\.count) == [12_000, 12_000, 6_000, 20_000, 1])
  }

  @Test("the promise of a write succeeds after its bytes and all earlier bytes were sent")
  func promises() throws {
    write("a")
    let promise = channel.eventLoop.makePromise(of: Void.self)
    channel.write(ByteBuffer(string: "b"), promise: promise)
    write("c")
    channel.flush()
    channel.embeddedEventLoop.run()
    #expect(try written() == ["a", "b", "c"])
    try promise.futureResult.wait()
  }

  @Test("bytes that are written and flushed before the end of the connection are not lost")
  func closes() throws {
    write("a")
    channel.flush()
    write("b")
    channel.close(promise: nil)
    #expect(try written() == ["ab"])
    #expect(flushes.count == 1)
    channel.embeddedEventLoop.run()
  }
}
