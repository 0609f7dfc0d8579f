// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTP1

/// Applies the rules of HTTP/1.1 that neither the parser nor the server library applies, to every request and response
/// of a connection.
///
/// - Faulty requests are marked with their ``MessageFault``. After a request that ends the connection, no further
///   request is read.
/// - `100 Continue` is sent on a ``ContinueRequest``.
/// - An HTTP/1.0 request is answered without chunks. A response with `Connection: close` is the last one.
/// - Every response tells browsers not to guess its media type and not to expose it to pages of other sites.
final class MessageRules: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// An outbound event that requests `100 Continue`. It keeps its place behind the responses that were written before.
  struct ContinueRequest: Sendable {}

  private struct AwaitedResponse {
    var isOld: Bool
    var isLast: Bool
  }

  /// The fields that tell browsers not to guess the media type of a response, and not to expose it to pages of other
  /// sites.
  static let browserFields = [
    HTTPField(name: HTTPField.Name(token: "X-Content-Type-Options"), value: "nosniff"),
    HTTPField(name: HTTPField.Name(token: "Cross-Origin-Resource-Policy"), value: "same-origin"),
  ]

  private let authority: String
  private let connection: SharedConnectionState
  /// The properties of the responses that have not begun.
  private var awaited = CircularBuffer<AwaitedResponse>(initialCapacity: 2)
  /// Whether the connection is closed after the response that is being written.
  private var endsWithResponse = false

  /// - Parameters:
  ///   - authority: The host and port on which the service listens.
  ///   - connection: The state of the connection. ``RequestDeadline`` reports to it what is read and written.
  init(authority: String, connection: SharedConnectionState) {
    self.authority = authority
    self.connection = connection
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !connection.state.ignoresRequest else { return }
    guard case .head(let received) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let message = MessageHead(received, authority: authority)
    if message.isLast { connection.state.lastRequestRead() }
    awaited.append(AwaitedResponse(isOld: message.isOld, isLast: message.isLast))
    context.fireChannelRead(wrapInboundOut(.head(message.head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status.code >= 200:
      // A malformed request is answered too, although it was never added to `awaited`.
      let response = awaited.popFirst()
      if response?.isOld == true { head.version = .http1_0 }
      if response?.isLast == true { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      endsWithResponse =
        head.headers.contains(name: "connection")
        && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
      if endsWithResponse { connection.state.lastRequestRead() }
      // The service's responses have these fields already, because each change here copies all of them. The responses of
      // the parser and of the server library do not.
      if !head.headers.contains(name: Self.browserFields[0].name.rawName) {
        head.headers.add(contentsOf: Self.browserFields.map { ($0.name.rawName, $0.value) })
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end where endsWithResponse:
      context.writeAndFlush(data, promise: promise)
      // Only the sending direction is closed. The client may still be sending, and must be able to read the response
      // first.
      context.close(mode: .output, promise: nil)
    default: context.write(data, promise: promise)
    }
  }

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard event is ContinueRequest else { return context.triggerUserOutboundEvent(event, promise: promise) }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: promise)
  }
}
