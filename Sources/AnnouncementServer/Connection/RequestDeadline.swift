// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Closes the connections of clients that are too slow. A request, with its head and body, must arrive completely
/// within a time limit, and a client must read its response. A thousand slow clients therefore cost no more than a
/// thousand sockets.
///
/// The library's idle timeout does not suffice: each byte resets it, so a client that sends one byte a second would
/// keep its connection open forever.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The time limit of a request that is still being received when the service stops.
  static let stopLimit: TimeAmount = .seconds(2)

  /// The time limit for reading a response when the service stops. It is shorter than the time within which the service
  /// must stop.
  static let lastReading: TimeAmount = .seconds(8)

  /// The number of bytes that a client must read within the limit to count as reading. Progress is visible only in
  /// steps: Linux accepts more of a response when a third of its buffer is free again (`sk_stream_is_writeable`), which
  /// is 170 kB of 512 KiB. With a limit of 30 s, clients that read 6 kB/s or more receive all of a long response.
  static let leastRead = 60_000

  private let limit: TimeAmount
  private let waiting: (any Channel) -> Int
  /// The deadline of the next request; set while a request is awaited or being received.
  private var requestDeadline: NIODeadline?
  /// The deadline of the reading client; set while the client does not read what was written.
  private var readingDeadline: NIODeadline?
  /// The number of responses that are not written completely yet.
  private var unanswered = 0
  /// The number of bytes that the client had not read at the last check; nil if there was no check since the last
  /// request arrived.
  private var unread: Int?
  /// The time until which clients may read their responses; set when the service stops.
  private var end: NIODeadline?
  /// Whether the service has closed its side after its last response. Requests that still arrive are not answered.
  private var isOver = false
  /// The timer of the connection. The deadlines change with every request, so the timer reads them when it fires
  /// instead of being rescheduled.
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - limit: The time limit of a request, and of a client that reads nothing.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(
    limit: TimeAmount,
    waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.limit = limit
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
    case _ where isOver: break
    case .head:
      unanswered += 1
      if context.channel.isWritable { unread = nil }
      requestDeadline = context.eventLoop.now + patience
    case .body: break
    // If the response was written before the request ended, the connection now waits for the next request.
    case .end: requestDeadline = unanswered > 0 ? nil : context.eventLoop.now + patience
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered -= 1
      if unanswered <= 0, requestDeadline == nil { requestDeadline = context.eventLoop.now + patience }
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    readingDeadline = context.channel.isWritable ? nil : context.eventLoop.now + limit
    unread = context.channel.isWritable ? nil : waiting(context.channel)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      // The service stops, so an incomplete request has less time than usual.
      end = context.eventLoop.now + Self.lastReading
      requestDeadline = requestDeadline.map { min($0, context.eventLoop.now + Self.stopLimit) }
      schedule(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input {
      // The client is expected to read the remaining bytes and then close its side. It may have sent requests that are
      // no longer answered.
      isOver = true
      requestDeadline = context.eventLoop.now + patience
      schedule(context)
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
    requestDeadline = context.eventLoop.now + limit
    schedule(context)
  }

  private func stop() {
    timer?.cancel()
    timer = nil
  }

  /// Schedules the next check at the earliest deadline, and early enough for deadlines that are set later.
  private func schedule(_ context: ChannelHandlerContext) {
    timer?.cancel()
    let loop = context.eventLoop
    let next = [requestDeadline, readingDeadline, loop.now + patience].compactMap(\.self).min() ?? loop.now
    timer = loop.assumeIsolated().scheduleTask(deadline: next) { self.look(context) }
  }

  private func look(_ context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    if [requestDeadline, readingDeadline].contains(where: { $0.map { $0 <= now } ?? false }) {
      guard isReading(context) else { return context.close(promise: nil) }
      // A client that is still reading the last response is not expected to send a request yet.
      requestDeadline = requestDeadline.map { max($0, now + patience) }
      readingDeadline = readingDeadline.map { max($0, now + patience) }
    }
    schedule(context)
  }

  /// The time limit for a request or for reading a response. It is shorter while the service stops.
  private var patience: TimeAmount { end == nil ? limit : min(limit, Self.stopLimit) }

  /// Returns whether the client has bytes left to read and is reading them.
  private func isReading(_ context: ChannelHandlerContext) -> Bool {
    let waiting = waiting(context.channel)
    defer { unread = waiting }
    // The reading speed cannot be measured within two seconds, so every client with bytes left to read counts as
    // reading.
    if let end { return waiting > 0 && context.eventLoop.now < end }
    return waiting > 0 && (unread.map { $0 - waiting >= Self.leastRead } ?? true)
  }
}

extension Channel {
  /// The number of bytes that were written and that the operating system has not accepted yet. Must be read on the
  /// channel's event loop.
  var waitingBytes: Int { (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}
