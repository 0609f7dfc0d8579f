// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// A handler between the decoder of answers and async-http-client. It passes on only messages that can be an answer to
/// one request: informational heads, one final head with a status from 200 to 599, the body, and the end.
///
/// On any other messages, the client's state machine ends the process with a trap. In async-http-client 1.37.0, an
/// answer with the status 099 does so, because the client skips its head, and then gets an end without a head.
/// `HTTPDecoder` of swift-nio does not filter such answers.
///
/// After the first fault, the connection is closed and everything else that arrives is dropped.
final class AnswerOrder: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private enum State {
    /// No request was sent, or its answer is complete.
    case idle
    case expectingHead
    case expectingBody
    case broken
  }

  private var state = State.idle

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head = unwrapOutboundIn(data), case .idle = state { state = .expectingHead }
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (state, unwrapInboundIn(data)) {
    case (.broken, _): return
    // The client never asks for an upgrade, so 101 is not a valid answer.
    case (.expectingHead, .head(let head)) where (200...599).contains(head.status.code): state = .expectingBody
    case (.expectingHead, .head(let head)) where (100...199).contains(head.status.code) && head.status.code != 101:
      break
    case (.expectingBody, .body): break
    case (.expectingBody, .end): state = .idle
    default:
      state = .broken
      context.fireErrorCaught(HTTPParserError.invalidStatus)
      return context.close(promise: nil)
    }
    context.fireChannelRead(data)
  }

  /// Adds the handler to a connection that async-http-client has set up.
  static func add(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandler(AnswerOrder(), position: .after(decoder.handler))
    }
  }
}
