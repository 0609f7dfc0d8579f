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

/// Watches what belongs to no stream of a connection: the server's settings, the announcement that it ends the
/// connection, and whether anything arrives.
final class ConnectionWatch: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let hasSettings: (Int?) -> Void
  private let hasRead: () -> Void
  private let isEnding: (HTTP2StreamID?) -> Void

  /// - Parameters:
  ///   - hasSettings: Called with the maximum number of streams in new settings; nil if they do not name it.
  ///   - hasRead: Called when something has arrived.
  ///   - isEnding: Called when the server accepts no more streams, with the last stream that it processes; and with nil
  ///     when the connection is closed. It is called before the streams learn of it.
  init(
    hasSettings: @escaping (Int?) -> Void, hasRead: @escaping () -> Void, isEnding: @escaping (HTTP2StreamID?) -> Void
  ) {
    self.hasSettings = hasSettings
    self.hasRead = hasRead
    self.isEnding = isEnding
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data).payload {
    case .settings(.settings(let settings)):
      // The last of several values counts (RFC 9113, section 6.5.3).
      hasSettings(settings.last { $0.parameter == .maxConcurrentStreams }?.value)
    case .goAway(let last, _, _): isEnding(last)
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    hasRead()
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An error of a single stream goes to the stream's own channel. Any other ends the connection.
    if error is NIOHTTP2Errors.StreamError { return }
    isEnding(nil)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    isEnding(nil)
    context.fireChannelInactive()
  }
}
