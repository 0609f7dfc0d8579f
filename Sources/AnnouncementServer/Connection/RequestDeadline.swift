// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Closes the connections of clients that are too slow. A request, with its head and body, must arrive completely
/// within a time limit, and a client must read its response. A thousand slow clients therefore cost no more than a
/// thousand sockets.
///
/// The library's idle timeout does not suffice: each byte resets it, so a client that sends one byte a second would
/// keep its connection open forever.
///
/// This handler is the first one of a connection, so it sees everything that is read and written. It reports all of
/// this to the ``ConnectionState``, which decides what to do. The handler also has the timer.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let connection: SharedConnectionState
  private let waiting: (any Channel) -> Int
  /// The timer of the connection. The deadlines change with every request, so the timer reads them when it fires
  /// instead of being rescheduled.
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - connection: The state of the connection, which the other handlers use too.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(connection: SharedConnectionState, waiting: @escaping (any Channel) -> Int = \.waitingBytes) {
    self.connection = connection
    self.waiting = waiting
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    start(context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head: connection.state.headRead(at: context.eventLoop.now, isWritable: context.channel.isWritable)
    case .body: break
    case .end: connection.state.endRead(at: context.eventLoop.now)
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { connection.state.responseWritten(at: context.eventLoop.now) }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    connection.state.writabilityChanged(
      isWritable: context.channel.isWritable, unread: waiting(context.channel), at: context.eventLoop.now)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      connection.state.stops(at: context.eventLoop.now)
      schedule(context, at: connection.state.nextCheck(after: context.eventLoop.now))
    }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input {
      connection.state.closed(at: context.eventLoop.now)
      schedule(context, at: connection.state.nextCheck(after: context.eventLoop.now))
    }
    context.close(mode: mode, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  private func start(_ context: ChannelHandlerContext) {
    guard timer == nil else { return }
    connection.state.opened(at: context.eventLoop.now)
    schedule(context, at: connection.state.nextCheck(after: context.eventLoop.now))
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
    switch connection.state.timePassed(at: context.eventLoop.now, unread: waiting(context.channel)) {
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
