// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2
import NIOTLS

/// Waits for the end of the TLS handshake, and removes itself then.
final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  enum Failure: Error {
    /// The server has not chosen HTTP/2 in the handshake (RFC 9113, section 3.2).
    case notHTTP2
    case closed
  }

  private let opened: EventLoopPromise<any Channel>

  /// - Parameter opened: Succeeds when the server has chosen HTTP/2; fails when the handshake fails.
  init(opened: EventLoopPromise<any Channel>) { self.opened = opened }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .handshakeCompleted(let name)? = event as? TLSUserEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    guard name == "h2" else { return opened.fail(Failure.notHTTP2) }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
    opened.succeed(context.channel)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { opened.fail(error) }

  func channelInactive(context: ChannelHandlerContext) {
    opened.fail(Failure.closed)
    context.fireChannelInactive()
  }
}
