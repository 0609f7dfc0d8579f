// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Answers requests from memory on the thread that read the request, before a task is involved. Other requests are passed
/// on to the server library.
///
/// A request whose response depends on its body is held until its body is complete. At the end of the read that brought
/// the head, an incomplete request is passed on, so no request is held from one read to the next.
///
/// To the library, a connection with only such requests looks idle. When a task answered each GET, passing the parts of
/// the GET to the task and back took half of its cost (`docs/benchmarks.md`).
final class HotRequestsHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The request that is being received, if it may be answered from memory.
  private enum Request {
    case answered(HotResponse)
    case held(head: HTTPRequestHead, body: ByteBuffer, answer: (ByteBuffer) -> HotResponse?)
  }

  private let decide: (HTTPRequestHead) -> HotDecision?
  private let connection: SharedConnectionState
  private var request: Request?
  /// The events to pass on to the library when all responses are written.
  private var held: [Any] = []
  private var isAwaited = false
  private let waiting: (any Channel) -> Int

  /// - Parameters:
  ///   - decide: Returns how to answer a request, or nil to pass the request on.
  ///   - connection: The state of the connection. ``RequestDeadline`` reports to it what is read and written.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(
    decide: @escaping (HTTPRequestHead) -> HotDecision?, connection: SharedConnectionState,
    waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.decide = decide
    self.connection = connection
    self.waiting = waiting
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), request) {
    case (.head(let head), _):
      guard connection.state.mayAnswerFromMemory else { break }
      switch decide(head) {
      case .answer(let response): request = .answered(response)
      case .answerWithBody(let answer): request = .held(head: head, body: ByteBuffer(), answer: answer)
      case nil: break
      }
      if request != nil { return }
    case (.body, .answered): return
    case (.body(let part), .held(let head, var body, let answer)):
      if body.readableBytes == 0 { body = part } else { body.writeImmutableBuffer(part) }
      request = .held(head: head, body: body, answer: answer)
      return
    case (.end, .answered(let response)):
      request = nil
      return respond(response, context)
    case (.end(let trailers), .held(_, let body, let answer)):
      guard trailers == nil, let response = answer(body) else {
        passRequest(context)
        break
      }
      request = nil
      return respond(response, context)
    case (.body, nil), (.end, nil): break
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    passRequest(context)
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    passRequest(context)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    passRequest(context)
    context.fireErrorCaught(error)
  }

  /// Passes a held request on to the library, as far as it has been received.
  private func passRequest(_ context: ChannelHandlerContext) {
    guard case .held(let head, let body, _) = request else { return }
    request = nil
    context.fireChannelRead(wrapInboundOut(.head(head)))
    if body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(body))) }
  }

  private func respond(_ response: HotResponse, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(response.head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    passRequest(context)
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
