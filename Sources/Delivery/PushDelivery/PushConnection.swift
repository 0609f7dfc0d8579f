// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import PushMessages

/// One connection to a server. It is opened when there is something to send, and opened again after it has ended.
///
/// It sends as many requests at a time as the server's settings allow; the others wait. After a GOAWAY frame, it sends
/// nothing more on the old connection, lets the requests there end, and uses a new connection for the others.
///
/// All properties and functions belong to the event loop.
final class PushConnection {
  /// A request that waits or is being sent.
  struct Job: Sendable {
    var headers: HPACKHeaders
    var body: ByteBuffer
    /// The time from which the request waits.
    var arrivedAt = NIODeadline.now()
    /// Returns whether the request may still be sent.
    var maySend: @Sendable () -> Bool
    var finish: @Sendable (Result<PushResponse, PushTransportError>) -> Void
  }

  private enum State {
    case unconnected
    case connecting
    case connected(PushChannelHandler)
    case closed
  }

  private let server: PushServer
  private let context: NIOSSLContext
  private let eventLoop: any EventLoop
  private let timeout: TimeAmount
  private var state = State.unconnected
  private var waiting = CircularBuffer<Job>()
  /// The connections that are open, also those that take no more requests.
  private var handlers: [PushChannelHandler] = []
  /// The timer for the first of the waiting requests.
  private var timer: Scheduled<Void>?

  /// - Parameter timeout: The longest time that a request may wait for its turn, the longest time that it may then wait
  ///   for its answer, and the longest time of each step of opening the connection.
  init(server: PushServer, context: NIOSSLContext, eventLoop: any EventLoop, timeout: TimeAmount) {
    self.server = server
    self.context = context
    self.eventLoop = eventLoop
    self.timeout = timeout
  }

  func send(_ jobs: [Job]) {
    eventLoop.preconditionInEventLoop()
    waiting.append(contentsOf: jobs)
    if case .closed = state { return failWaiting(PushTransportError(.closed, server: server)) }
    sendWaiting()
  }

  /// Fails the waiting requests, and closes the connection, which fails the requests in progress.
  func close() {
    eventLoop.preconditionInEventLoop()
    state = .closed
    timer?.cancel()
    failWaiting(PushTransportError(.closed, server: server))
    for handler in handlers { handler.close() }
  }

  private func failWaiting(_ error: PushTransportError) {
    let jobs = waiting
    waiting.removeAll()
    for job in jobs { job.finish(.failure(error)) }
  }

  /// Sends as many of the waiting requests as the connection has room for.
  func sendWaiting() {
    switch state {
    case .unconnected: if !waiting.isEmpty { connect() }
    case .connecting, .closed: return
    case .connected(let handler):
      if !waiting.isEmpty, handler.hasRoom {
        while !waiting.isEmpty, handler.hasRoom {
          let job = waiting.removeFirst()
          if job.maySend() {
            handler.write(job)
          } else {
            job.finish(.failure(PushTransportError(.closed, server: server)))
          }
        }
        handler.flush()
      }
      limitWaiting()
      if handler.isUsedUp { end(handler) }
    }
  }

  /// Fails requests that wait for too long because the server allows too few at a time. These requests were never sent.
  private func limitWaiting() {
    guard timer == nil, let first = waiting.first else { return }
    timer = eventLoop.assumeIsolated().scheduleTask(deadline: first.arrivedAt + timeout) { [self] in
      timer = nil
      // A connection that is not ready has its own time limits, and their errors are more precise.
      guard case .connected(let handler) = state, handler.allowsRequests else { return }
      let limit = NIODeadline.now() - timeout
      while let job = waiting.first, job.arrivedAt <= limit {
        waiting.removeFirst().finish(.failure(PushTransportError(.notProcessed, server: server)))
      }
      limitWaiting()
    }
  }

  // MARK: Opening and ending

  private func connect() {
    state = .connecting
    server.open(with: context, on: eventLoop, timeout: timeout).assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success(let channel): begin(on: channel)
      case .failure(let error): cannotConnect(error)
      }
    }
  }

  private func cannotConnect(_ error: any Error) {
    guard case .connecting = state else { return }
    state = .unconnected
    failWaiting(PushTransportError(opening: server, error))
  }

  /// Begins HTTP/2 on a connection whose TLS handshake is complete.
  private func begin(on channel: any Channel) {
    guard case .connecting = state else { return channel.close(promise: nil) }
    do {
      var configuration = NIOHTTP2Handler.ConnectionConfiguration()
      configuration.initialSettings = [
        HTTP2Setting(parameter: .enablePush, value: 0), HTTP2Setting(parameter: .maxHeaderListSize, value: 16 << 10),
      ]
      // The requests are built from values that were checked before, and the code that reads the four used fields of an
      // answer accepts any bytes. Checking each character of all fields again would take a tenth of the time for a
      // push.
      configuration.headerBlockValidation = .disabled
      // With this check, a wrong length in one answer would end the connection and all other requests on it. Nothing
      // depends on the length of an answer.
      configuration.contentLengthValidation = .disabled
      // An answer may still arrive on a stream that was reset because it took too long, and many streams may take too
      // long at the same time.
      configuration.maximumRecentlyResetStreams = 2_000
      var streams = NIOHTTP2Handler.StreamConfiguration()
      // A server may refuse any number of requests one by one without being hostile. A window of no length turns the
      // limit off.
      streams.streamResetFrameRateLimit.windowLength = .zero
      let handler = PushChannelHandler(connection: self, server: server, timeout: timeout)
      try channel.pipeline.syncOperations.addHandlers(
        WriteCoalescingHandler(),
        NIOHTTP2Handler(mode: .client, connectionConfiguration: configuration, streamConfiguration: streams), handler)
      handlers.append(handler)
      state = .connected(handler)
    } catch {
      channel.close(promise: nil)
      cannotConnect(error)
    }
  }

  /// Sends nothing more on a connection. Waiting pushes are sent on a new connection, or fail if the server allows no
  /// requests on this one.
  func end(_ handler: PushChannelHandler) {
    guard !handler.isEnding else { return }
    handler.end()
    guard case .connected(let current) = state, current === handler else { return }
    state = .unconnected
    if handler.allowsRequests {
      sendWaiting()
    } else {
      // The server closed the connection before it was ready. Immediate further attempts could fail without end.
      failWaiting(PushTransportError(.cannotConnect, server: server, reason: "the server allowed no requests"))
    }
  }

  /// Forgets a connection that is closed.
  func closed(_ handler: PushChannelHandler) { handlers.removeAll { $0 === handler } }
}
