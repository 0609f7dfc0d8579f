// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Answers requests for clips in memory on the thread that read the request, before a task is involved. Other requests
/// are passed on to the server library.
///
/// To the library, a connection with only such requests looks idle. When a task answered each GET, passing the parts of
/// the GET to the task and back took half of its cost (`docs/benchmarks.md`).
final class HotClipsHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let answer: (HTTPRequestHead) -> HotResponse?
  private let connection: SharedConnectionState
  /// The response to the request that is being received.
  private var next: HotResponse?
  /// The events to pass on to the library when all responses are written.
  private var held: [Any] = []
  private var isAwaited = false
  private let waiting: (any Channel) -> Int

  /// - Parameters:
  ///   - answer: Returns the response to a request, or nil to pass the request on.
  ///   - connection: The state of the connection. ``RequestDeadline`` reports to it what is read and written.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(
    answer: @escaping (HTTPRequestHead) -> HotResponse?, connection: SharedConnectionState,
    waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.answer = answer
    self.connection = connection
    self.waiting = waiting
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      if connection.state.mayAnswerFromMemory { next = answer(head) }
      if next != nil { return }
    case .body: break
    case .end:
      guard let answer = next else { break }
      next = nil
      context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
      switch answer.body {
      case .buffer(let bytes): context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
      case .memoryFile(let file):
        let (region, written) = file.region(on: context.eventLoop)
        context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: written)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      return
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed, is ChannelShouldQuiesceEvent:
      held.append(event)
      pass(context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var isEnd = false
    if case .end = unwrapOutboundIn(data) { isEnd = true }
    context.write(data, promise: promise)
    if isEnd { pass(context) }
  }

  /// Passes the held events on to the library as soon as they may be.
  private func pass(_ context: ChannelHandlerContext) {
    guard !held.isEmpty, !isAwaited else { return }
    switch connection.state.passingOn(unread: waiting(context.channel)) {
    case .withNextResponse: break
    case .whenWritten:
      isAwaited = true
      let written = context.eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenComplete { _ in
        self.isAwaited = false
        self.pass(context)
      }
      // An empty part is queued behind the waiting bytes, to learn when they are written.
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
    case .now:
      let events = held
      held = []
      for event in events { context.fireUserInboundEventTriggered(event) }
    }
  }
}
