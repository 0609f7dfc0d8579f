// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

/// The last handler in the pipeline of an open connection. It writes requests and reads answers as HTTP/2 frames.
///
/// swift-nio-http2 offers a channel for each stream. Such a channel is not used, because it would take longer than
/// everything else that the client does for a push. `NIOHTTP2Handler` keeps the rules of HTTP/2: the states of the
/// streams, the windows of both sides, and the answers to settings and pings.
///
/// All properties and functions belong to the event loop.
final class PushChannelHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The number of streams that may be open at a time if the server's settings do not limit it. `NIOHTTP2Handler`
  /// assumes the same number.
  private static let defaultLimit = 100
  /// The number of bytes that the server may send before it has to wait (RFC 9113, section 6.9.2).
  private static let window = 65_535

  private let connection: PushConnection
  private let server: PushServer
  private let timeout: TimeAmount
  private var context: ChannelHandlerContext?
  private var streams = PushStreams<PushConnection.Job>()
  /// Whether the connection takes no more requests. It closes when the requests in progress have ended.
  private(set) var isEnding = false
  /// The last time at which something arrived.
  private var lastRead = NIODeadline.now()
  private var isReading = false
  /// Whether the server has sent its settings.
  private var hasSettings = false
  /// Whether the connection accepts more bytes now.
  private var isWritable = true
  /// The timer for the time limit of the oldest stream.
  private var timer: Scheduled<Void>?
  /// The timer for a connection that accepts no bytes.
  private var stall: Scheduled<Void>?
  /// The timer for a server that allows no requests.
  private var refusal: Scheduled<Void>?

  /// - Parameter timeout: The longest time that an answer may take, and the longest time for which the server may allow
  ///   no requests.
  init(connection: PushConnection, server: PushServer, timeout: TimeAmount) {
    self.connection = connection
    self.server = server
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isWritable = context.channel.isWritable
    limitRefusal()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    cancelTimers()
  }

  // MARK: Requests

  /// Whether a request can be sent now: the server allows another one, and the connection takes bytes.
  var hasRoom: Bool {
    guard !isEnding, streams.hasRoom, let context else { return false }
    return context.channel.isActive && isWritable
  }

  /// Whether the server allows requests. False until the server has sent its settings.
  var allowsRequests: Bool { streams.limit > 0 }

  /// Whether no request can be sent any more, because the connection has no numbers left for streams.
  var isUsedUp: Bool { streams.isUsedUp }

  /// Writes a request. There must be room.
  func write(_ job: PushConnection.Job) {
    guard let context else { return job.finish(.failure(PushTransportError(.notProcessed, server: server))) }
    let now = NIODeadline.now()
    let id = streams.start(job, at: now)
    if timer == nil { setTimer(at: now + timeout) }
    write(.headers(.init(headers: job.headers)), on: id, context)
    write(.data(.init(data: .byteBuffer(job.body), endStream: true)), on: id, context)
  }

  /// Flushes the written requests. At the end of a read, `NIOHTTP2Handler` flushes them itself.
  func flush() { if !isReading { context?.flush() } }

  /// Accepts no more requests, and closes the connection when the requests in progress have ended.
  func end() {
    isEnding = true
    closeIfDone()
  }

  func close() { context?.close(promise: nil) }

  private func closeIfDone() { if isEnding, streams.isEmpty { close() } }

  private func write(_ payload: HTTP2Frame.FramePayload, on id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }

  private func reset(_ id: HTTP2StreamID) {
    guard let context else { return }
    write(.rstStream(.cancel), on: id, context)
  }

  // MARK: Answers

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !isReading {
      isReading = true
      // This is the time at which the read begins, because requests that are written during the read have no answer
      // yet.
      lastRead = .now()
    }
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .headers(let headers):
      take(streams.receive(headers.headers, endsStream: headers.endStream, on: frame.streamID), frame.streamID)
    case .data(let data):
      guard case .byteBuffer(let part) = data.data else { return }
      take(streams.receive(part, endsStream: data.endStream, on: frame.streamID), frame.streamID)
    case .settings(.settings(let settings)): take(settings)
    case .goAway(let last, _, _):
      streams.refuse(after: last)
      connection.end(self)
    default: break
    }
  }

  private func take(_ step: PushStreams<PushConnection.Job>.Step, _ id: HTTP2StreamID) {
    if let ending = step.ending { finish(ending) }
    guard step.mustReset else { return }
    reset(id)
    streamEnded()
  }

  private func take(_ settings: HTTP2Settings) {
    // The last of several values counts (RFC 9113, section 6.5.3).
    let limit = settings.last { $0.parameter == .maxConcurrentStreams }?.value
    streams.limit = limit ?? (hasSettings ? streams.limit : Self.defaultLimit)
    hasSettings = true
    limitRefusal()
    connection.sendWaiting()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    context.fireChannelReadComplete()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as StreamClosedEvent:
      if let ending = streams.end(event.streamID, reason: event.reason) { finish(ending) }
      streamEnded()
    case let event as NIOHTTP2WindowUpdatedEvent where event.streamID == .rootStream:
      openWindow(event.inboundWindowSize ?? Self.window, context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Enlarges the connection's window when the server has used half of it. The window of a stream needs no update,
  /// because it is larger than the longest body that is read.
  private func openWindow(_ size: Int, _ context: ChannelHandlerContext) {
    // While the connection takes no bytes, an update would stay unsent, and each further frame would add another
    // update.
    guard size < Self.window / 2, context.channel.isActive, isWritable else { return }
    write(.windowUpdate(windowSizeIncrement: Self.window - size), on: .rootStream, context)
    flush()
  }

  private func streamEnded() {
    closeIfDone()
    if !isEnding { connection.sendWaiting() }
  }

  private func finish(_ ending: PushStreams<PushConnection.Job>.Ending) {
    switch ending.outcome {
    case .answered(let response): ending.push.finish(.success(response))
    case .failed(let code): ending.push.finish(.failure(PushTransportError(code, server: server)))
    }
  }

  // MARK: Ends

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? NIOHTTP2Errors.StreamError else {
      // The server has broken the rules of HTTP/2, or TLS or the network has failed.
      connection.end(self)
      return context.close(promise: nil)
    }
    if let ending = streams.end(error.streamID, reason: nil) { finish(ending) }
    streamEnded()
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancelTimers()
    let endings = streams.endAll()
    connection.end(self)
    connection.closed(self)
    for ending in endings { finish(ending) }
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    stall?.cancel()
    stall = isWritable ? nil : after(timeout) { $0.connection.end($0) }
    if isWritable { connection.sendWaiting() }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Time

  private func cancelTimers() {
    for timer in [timer, stall, refusal] { timer?.cancel() }
  }

  private func after(_ time: TimeAmount, _ work: @escaping (PushChannelHandler) -> Void) -> Scheduled<Void>? {
    context?.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in work(self) }
  }

  /// Sets the timer, which serves all streams: it fires at the time limit of the oldest one.
  private func setTimer(at moment: NIODeadline) {
    timer?.cancel()
    timer = context?.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [self] in
      timer = nil
      giveUpLateStreams()
    }
  }

  private func giveUpLateStreams() {
    let late = streams.giveUp(startedBy: .now() - timeout)
    // If nothing at all has arrived since a request was sent, the connection is probably dead although the system does
    // not know it, for example after a change of networks. The other requests then use a new connection.
    if late.contains(where: { lastRead < $0.sentAt }) { connection.end(self) }
    for stream in late {
      if let ending = stream.ending { finish(ending) }
      reset(stream.id)
    }
    if let oldest = streams.oldest { setTimer(at: oldest + timeout) }
    if late.isEmpty { return }
    flush()
    streamEnded()
  }

  /// Ends the connection if the server allows no requests for too long. A server that does not speak HTTP/2 sends no
  /// settings, and so never allows any.
  private func limitRefusal() {
    if allowsRequests {
      refusal?.cancel()
      refusal = nil
    } else if refusal == nil {
      refusal = after(timeout) { $0.connection.end($0) }
    }
  }
}
