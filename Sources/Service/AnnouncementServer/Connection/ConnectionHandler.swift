// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTP1

/// The first handler of a connection. It closes the connections of clients that are too slow, applies the rules of
/// HTTP/1.1 that neither the parser nor the server library applies, and notifies the ``Connection`` when its client
/// disconnects.
///
/// - A request, with its head and body, must arrive completely within a time limit, and a client must read its
///   response. A thousand slow clients therefore cost no more than a thousand sockets. The library's idle timeout does
///   not suffice: each byte resets it, so a client that sends one byte a second would keep its connection open forever.
/// - Faulty requests are marked with their ``MessageFault``. After a request that ends the connection, no further
///   request is read.
/// - `100 Continue` is sent on a ``ContinueRequest``.
/// - An HTTP/1.0 request is answered without chunks. A response with `Connection: close` is the last one.
/// - Every response tells browsers not to guess its media type and not to expose it to pages of other sites.
///
/// One handler does all of this, because each handler that a message passes takes time. The ``ConnectionState`` decides
/// what to do with a slow client.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
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

  private let connection: Connection
  private let authority: String
  private let waiting: (any Channel) -> Int
  private var state: ConnectionState
  /// The timer of the connection. The deadlines change with every request, so the timer reads them when it fires
  /// instead of being rescheduled.
  private var timer: Scheduled<Void>?
  /// The properties of the responses that the service has not begun to write.
  private var awaited = CircularBuffer<AwaitedResponse>(initialCapacity: 2)
  /// Whether the connection is closed after the response that is being written.
  private var endsWithResponse = false

  /// - Parameters:
  ///   - authority: The host and port on which the service listens.
  ///   - limit: The time limit of a request, and of a client that reads nothing.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(
    _ connection: Connection, authority: String, limit: TimeAmount,
    waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.connection = connection
    self.authority = authority
    self.waiting = waiting
    state = ConnectionState(limit: limit)
  }

  // MARK: Requests and responses

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let received):
      state.headRead(at: context.eventLoop.now, isWritable: context.channel.isWritable)
      guard !state.ignoresRequest else { return }
      let message = MessageHead(received, authority: authority)
      if message.isLast { state.lastRequestRead() }
      awaited.append(AwaitedResponse(isOld: message.isOld, isLast: message.isLast))
      return context.fireChannelRead(wrapInboundOut(.head(message.head)))
    case .body: break
    case .end: state.endRead(at: context.eventLoop.now)
    }
    if !state.ignoresRequest { context.fireChannelRead(data) }
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
      if endsWithResponse { state.lastRequestRead() }
      // The service itself gives its responses these fields, because adding a field here copies all fields. The
      // responses of the parser and of the server library do not have them.
      if !head.headers.contains(name: Self.browserFields[0].name.rawName) {
        head.headers.add(contentsOf: Self.browserFields.map { ($0.name.rawName, $0.value) })
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end:
      state.responseWritten(at: context.eventLoop.now)
      guard endsWithResponse else { return context.write(data, promise: promise) }
      context.writeAndFlush(data, promise: promise)
      // Only the sending direction is closed. The client may still be sending, and must be able to read the response
      // first.
      close(context: context, mode: .output, promise: nil)
    default: context.write(data, promise: promise)
    }
  }

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard event is ContinueRequest else { return context.triggerUserOutboundEvent(event, promise: promise) }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: promise)
  }

  // MARK: Begin, stop and end of the connection

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    start(context)
    context.fireChannelActive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    state.writabilityChanged(
      isWritable: context.channel.isWritable, unread: waiting(context.channel), at: context.eventLoop.now)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      state.stops(at: context.eventLoop.now)
      schedule(context, at: state.nextCheck(after: context.eventLoop.now))
    }
    // A client that disconnects closes both directions. On this side, that looks the same as a client that closes only
    // its sending direction. Without this event, the server library notices the disconnection at its next write, and an
    // idle stream writes only every 15 s.
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { connection.end() }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input {
      state.closed(at: context.eventLoop.now)
      schedule(context, at: state.nextCheck(after: context.eventLoop.now))
    }
    context.close(mode: mode, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    connection.end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  // MARK: The timer

  private func start(_ context: ChannelHandlerContext) {
    guard timer == nil else { return }
    state.opened(at: context.eventLoop.now)
    schedule(context, at: state.nextCheck(after: context.eventLoop.now))
  }

  private func stop() {
    timer?.cancel()
    timer = nil
  }

  private func schedule(_ context: ChannelHandlerContext, at time: NIODeadline) {
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { self.check(context) }
  }

  private func check(_ context: ChannelHandlerContext) {
    switch state.timePassed(at: context.eventLoop.now, unread: waiting(context.channel)) {
    case .close: context.close(promise: nil)
    case .wait(let time): schedule(context, at: time)
    }
  }
}

extension Channel {
  /// The number of bytes that were written and that the operating system has not accepted yet. Must be read on the
  /// channel's event loop.
  var waitingBytes: Int { (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}
