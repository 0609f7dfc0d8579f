// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import PushMessages

/// One connection to a server, which is opened when there is something to send, and again after it ended.
///
/// It sends as many requests at a time as the server's settings allow, and keeps the others waiting. After a GOAWAY
/// frame it sends nothing more on the old connection, lets the requests there come to their end, and goes on with a new
/// connection.
///
/// All properties and functions belong to the event loop.
final class PushConnection {
  /// A request that waits or is under way.
  struct Job: Sendable {
    var headers: HPACKHeaders
    var body: ByteBuffer
    var finish: @Sendable (Result<PushResponse, PushTransportError>) -> Void
  }

  /// An open connection. Several exist for a moment while old ones come to their end.
  fileprivate final class Link {
    let channel: any Channel
    let streams: NIOHTTP2Handler.StreamMultiplexer
    /// The requests that may be under way at a time. It is 0 until the server has sent its settings.
    var limit = 0
    var underWay = 0
    var isEnding = false
    /// The last stream that the server processes; nil while it has not said so.
    var lastProcessed: HTTP2StreamID?
    /// The last time at which something arrived.
    var lastRead = NIODeadline.now()

    init(channel: any Channel, streams: NIOHTTP2Handler.StreamMultiplexer) {
      self.channel = channel
      self.streams = streams
    }
  }

  private enum State {
    case unconnected
    case connecting
    case connected(Link)
    case closed
  }

  /// The limit for a server whose settings name none.
  private static let defaultLimit = 1_000

  private let server: PushServer
  private let context: NIOSSLContext
  private let eventLoop: any EventLoop
  private let patience: TimeAmount
  private var state = State.unconnected
  private var waiting = CircularBuffer<Job>()

  /// - Parameter patience: The time for which an answer may take, and for which opening the connection may take.
  init(server: PushServer, context: NIOSSLContext, eventLoop: any EventLoop, patience: TimeAmount) {
    self.server = server
    self.context = context
    self.eventLoop = eventLoop
    self.patience = patience
  }

  func send(_ job: Job) {
    eventLoop.preconditionInEventLoop()
    if case .closed = state { return job.finish(.failure(PushTransportError(.closed, server: server))) }
    waiting.append(job)
    sendWaiting()
  }

  /// Fails what waits, and closes the connection, which fails what is under way.
  func close() {
    eventLoop.preconditionInEventLoop()
    let last = state
    state = .closed
    failWaiting(PushTransportError(.closed, server: server))
    if case .connected(let link) = last { link.channel.close(promise: nil) }
  }

  private func failWaiting(_ error: PushTransportError) {
    let jobs = waiting
    waiting.removeAll()
    for job in jobs { job.finish(.failure(error)) }
  }

  private func sendWaiting() {
    switch state {
    case .unconnected: if !waiting.isEmpty { connect() }
    case .connecting, .closed: return
    case .connected(let link):
      while !waiting.isEmpty, link.underWay < link.limit, link.channel.isActive {
        start(waiting.removeFirst(), on: link)
      }
    }
  }

  private func start(_ job: Job, on link: Link) {
    link.underWay += 1
    let place = Place(connection: self, link: link)
    let bound = NIOLoopBound(
      PushStream(job: job, server: server, patience: patience, place: place), eventLoop: eventLoop)
    let promise = eventLoop.makePromise(of: (any Channel).self)
    promise.futureResult.whenFailure { _ in bound.value.fail(.connectionLost) }
    link.streams.createStreamChannel(promise: promise) { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
    }
  }

  /// The place of a stream: the connection that counts it.
  struct Place {
    fileprivate let connection: PushConnection
    fileprivate let link: Link

    func streamEnded() {
      link.underWay -= 1
      // The streams learn of the end of a connection before the connection's own handler. A stream that began now would
      // learn of nothing.
      if !link.channel.isActive { connection.end(link) }
      if link.isEnding {
        if link.underWay == 0 { link.channel.close(promise: nil) }
      } else {
        connection.sendWaiting()
      }
    }

    /// If nothing at all has arrived since the request was sent, the connection is probably dead without the system
    /// knowing it, as after a change of networks. Other requests then go on with a new one.
    func streamTimedOut(sentAt: NIODeadline) {
      if link.lastRead < sentAt { connection.end(link) }
    }

    /// Returns whether the server has said that it does not process a stream.
    func isRefused(_ stream: HTTP2StreamID) -> Bool { link.lastProcessed.map { stream > $0 } ?? false }
  }

  // MARK: Opening and ending

  private func connect() {
    state = .connecting
    let (server, context) = (server, context)
    let opened = eventLoop.makePromise(of: (any Channel).self)
    opened.futureResult.assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success(let channel): begin(on: channel)
      case .failure(let error): cannotConnect(error)
      }
    }
    let isName = (try? SocketAddress(ipAddress: server.host, port: 0)) == nil
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(patience)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let tls = try NIOSSLClientHandler(context: context, serverHostname: isName ? server.host : nil)
          try channel.pipeline.syncOperations.addHandlers(tls, HandshakeWatch(opened: opened))
        }
      }
    bootstrap.connect(host: server.host, port: server.port).whenComplete { [patience] result in
      switch result {
      case .failure(let error): opened.fail(error)
      case .success(let channel):
        // A server that accepts the connection and then says nothing must not keep everything waiting.
        let limit = channel.eventLoop.scheduleTask(in: patience) { opened.fail(ChannelError.connectTimeout(patience)) }
        opened.futureResult.whenComplete { result in
          limit.cancel()
          if case .failure = result { channel.close(promise: nil) }
        }
      }
    }
  }

  private func cannotConnect(_ error: any Error) {
    guard case .connecting = state else { return }
    state = .unconnected
    failWaiting(PushTransportError(Self.code(of: error), server: server, reason: Self.text(of: error)))
  }

  private static func code(of error: any Error) -> PushTransportError.Code {
    switch error {
    case let error as HandshakeWatch.Failure where error == .notHTTP2: return .notHTTP2
    case is NIOSSLExtraError: return .certificateRefused
    case is NIOSSLError, is BoringSSLError:
      // The error codes of BoringSSL are not public in swift-nio-ssl. Its description names them.
      let text = "\(error)"
      if text.contains("CERTIFICATE_VERIFY_FAILED") { return .certificateRefused }
      return text.contains("NO_APPLICATION_PROTOCOL") ? .notHTTP2 : .cannotConnect
    default: return .cannotConnect
    }
  }

  /// Returns what a connection's error says, without anything that a server could have put into it.
  private static func text(of error: any Error) -> String? {
    switch error {
    case let error as IOError: "\(error.errnoCode): \(error.localizedDescription)".prefix(120).description
    case is NIOConnectionError: "no address of the host accepts connections"
    case is ChannelError: "the connection was not opened in time"
    case is BoringSSLError, is NIOSSLError, is NIOSSLExtraError: "TLS failed"
    default: nil
    }
  }

  /// Begins HTTP/2 on a connection whose TLS handshake is complete.
  private func begin(on channel: any Channel) {
    guard case .connecting = state else { return channel.close(promise: nil) }
    do {
      var configuration = NIOHTTP2Handler.ConnectionConfiguration()
      configuration.initialSettings = [
        HTTP2Setting(parameter: .enablePush, value: 0), HTTP2Setting(parameter: .maxHeaderListSize, value: 16 << 10),
      ]
      var streams = NIOHTTP2Handler.StreamConfiguration()
      // A server may refuse any number of requests one by one without being hostile.
      streams.streamResetFrameRateLimit.maximumCount = .max
      streams.streamErrorRateLimit.maximumCount = .max
      try channel.pipeline.syncOperations.addHandler(FlushGathering())
      let multiplexer = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
        mode: .client, connectionConfiguration: configuration, streamConfiguration: streams
      ) { stream in
        // A client has no streams that the server begins.
        stream.close()
      }
      let link = Link(channel: channel, streams: multiplexer)
      state = .connected(link)
      try channel.pipeline.syncOperations.addHandler(
        ConnectionWatch(
          hasSettings: { [self] limit in
            link.limit = limit ?? (link.limit == 0 ? Self.defaultLimit : link.limit)
            if link.limit == 0 { giveUpLater(link) }
            sendWaiting()
          },
          hasRead: { link.lastRead = .now() },
          isEnding: { [self] last in
            link.lastProcessed = last ?? link.lastProcessed
            end(link)
          }))
      giveUpLater(link)
    } catch {
      channel.close(promise: nil)
      cannotConnect(error)
    }
  }

  /// Closes a connection on which the server allows no requests for too long. A server without settings does not speak
  /// HTTP/2.
  private func giveUpLater(_ link: Link) {
    let limit = eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
      if link.limit == 0 { end(link) }
    }
    link.channel.closeFuture.whenComplete { _ in limit.cancel() }
  }

  /// Sends nothing more on a connection. What is waiting goes on with a new one.
  fileprivate func end(_ link: Link) {
    guard !link.isEnding else { return }
    link.isEnding = true
    if link.underWay == 0 { link.channel.close(promise: nil) }
    guard case .connected(let current) = state, current === link else { return }
    state = .unconnected
    if link.limit == 0 {
      // The server closed the connection before it was ready. Another attempt at once could fail for ever.
      failWaiting(PushTransportError(.cannotConnect, server: server, reason: "the server closed the connection"))
    } else {
      sendWaiting()
    }
  }
}
