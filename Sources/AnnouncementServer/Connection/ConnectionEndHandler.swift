// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Notifies a ``Connection`` when its client disconnects.
///
/// Without this handler, the server library notices the disconnection at its next write. An idle stream writes only
/// every 15 s.
final class ConnectionEndHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A client that disconnects closes both directions. On this side, that looks the same as a client that closes only
    // its sending direction.
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { connection.end() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.end()
    context.fireChannelInactive()
  }
}
