// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Ends connections whose other side is too slow, so that a thousand of them cost no more than a thousand sockets: a request
/// must come whole within a time, its head and its body, and whoever is answered must read.
///
/// The library's idle timeout is reset by each byte; one a second keeps such a connection open for ever.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// For a request that is still coming when the service stops.
  static let stopLimit: TimeAmount = .seconds(2)

  /// For an answer that is still being read then: less than the time in which the service stops.
  static let lastReading: TimeAmount = .seconds(8)

  /// In bytes: whoever has read as many within the limit is reading. It is seen in steps: Linux takes more of an answer
  /// when a third of its buffer is free again (`sk_stream_is_writeable`), 170 kB of 512 KiB. With 30 s, readers of 6 kB/s
  /// and more get all of a long answer.
  static let leastRead = 60_000

  private let limit: TimeAmount
  private let waiting: (any Channel) -> Int
  /// Set while a request is awaited or comes.
  private var requestDeadline: NIODeadline?
  /// Set while what is written is not read.
  private var readingDeadline: NIODeadline?
  /// Answers that are not written yet.
  private var owed = 0
  /// What waited to be read when that was looked at last, in bytes; nil when it was not since the last request came.
  private var unread: Int?
  /// Set when the service stops: until then what was written may be read.
  private var end: NIODeadline?
  /// Set when the service has said all that it says here, and closes its side: whatever comes still is not answered.
  private var isOver = false
  /// One timer a connection, which looks at the deadlines as they are then: they change with every request.
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - limit: for a request, and for a reader that stands still.
  ///   - waiting: what was written to a connection and the system has not taken, in bytes.
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
      owed += 1
      if context.channel.isWritable { unread = nil }
      requestDeadline = context.eventLoop.now + patience
    case .body: break
    // Answered before its end, it leaves a connection that waits for the next one.
    case .end: requestDeadline = owed > 0 ? nil : context.eventLoop.now + patience
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      owed -= 1
      if owed <= 0, requestDeadline == nil { requestDeadline = context.eventLoop.now + patience }
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
      // The service stops: whoever has sent half a request is not waited for as long as otherwise.
      end = context.eventLoop.now + Self.lastReading
      requestDeadline = requestDeadline.map { min($0, context.eventLoop.now + Self.stopLimit) }
      schedule(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input {
      // The other side is to read what there is and to close it too, and may have sent requests that nobody will answer.
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

  /// Looks again when the first of the deadlines that there are passes, and before one that is set later can pass.
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
      // Nothing more is to come from who has not got the last answer yet.
      requestDeadline = requestDeadline.map { max($0, now + patience) }
      readingDeadline = readingDeadline.map { max($0, now + patience) }
    }
    schedule(context)
  }

  /// As long is waited for whatever is awaited.
  private var patience: TimeAmount { end == nil ? limit : min(limit, Self.stopLimit) }

  /// Whether something was written that is not read yet, and is being read.
  private func isReading(_ context: ChannelHandlerContext) -> Bool {
    let waiting = waiting(context.channel)
    defer { unread = waiting }
    // How fast somebody reads is not to be seen within two seconds.
    if let end { return waiting > 0 && context.eventLoop.now < end }
    return waiting > 0 && (unread.map { $0 - waiting >= Self.leastRead } ?? true)
  }
}

extension Channel {
  /// What was written and the system has not taken, in bytes. On the channel's event loop.
  var waitingBytes: Int { (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}
