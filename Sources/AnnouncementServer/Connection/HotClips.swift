// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import ServiceAccess

/// The fast path for clips in memory and callers whose keys are cached. It decides without waiting for anything.
///
/// It makes the same decisions as ``ServiceResponder`` and ``ClipRoutes``, with the same parts, but only for requests
/// that they would answer with 200. All other requests take the usual path, which also refuses them if necessary.
struct HotClips: Sendable {
  static let path = "/v1/clips/"
  private static let template = "\(path){name}"

  let clips: Clips
  let keys: KeyRing
  let urls: ClipURLs
  let metrics: ServiceMetrics
  let stopping: Stopping
  let clock = HTTPClock()
  let logger: Logger

  /// Returns the response to a request if the fast path applies.
  ///
  /// - Returns: nil if the request must take the usual path.
  func answer(to head: HTTPRequestHead) -> HotResponse? {
    guard head.method == .GET, head.version == .http1_1, head.uri.hasPrefix(Self.path) else { return nil }
    let start = ContinuousClock.now
    guard let wish = Wish(head), !stopping.isStopping else { return nil }
    // The caller is identified before the clip is looked up. Otherwise the response time would reveal to strangers
    // which clips are in memory.
    var caller: Caller?
    if let authorization = wish.authorization {
      guard let known = keys.remembered(authorization), known.scopes.allow(.read) else { return nil }
      caller = known
    } else {
      guard isSigned(head.uri) else { return nil }
    }
    guard let file = clips.fileInMemory(named: String(wish.name)) else { return nil }
    // A request over the rate limit costs the key nothing here. The usual path refuses it.
    let limits = caller.map(keys.admit)
    guard limits?.isAllowed ?? true else { return nil }
    let requestID = RandomID.make()
    var fields = file.wholeFields
    fields.reserveCapacity(12)
    fields.add(name: "X-Request-Id", value: requestID)
    for (name, value) in limits?.headerFields ?? [] { fields.add(name: name, value: value) }
    fields.add(name: "Date", value: clock.text)
    fields.add(name: "Server", value: AnnouncementServer.name)
    let duration = ContinuousClock.now - start
    metrics.answered(ServiceMetrics.RequestSeries(method: "GET", path: Self.template, status: 200), took: duration)
    logger.log(
      level: .debug, "request",
      metadata: [
        "hb.request.id": "\(requestID)", "method": "GET", "path": "\(Self.template)", "status": "200",
        "key": "\(caller?.logName ?? "-")", "ms": "\(Int(duration.inSeconds * 1000))",
      ])
    return HotResponse(head: HTTPResponseHead(version: .http1_1, status: .ok, headers: fields), body: file.bytes)
  }

  private func isSigned(_ uri: String) -> Bool {
    do throws(AccessError) {
      try urls.check(URI(uri))
      return true
    } catch {
      return false
    }
  }

  /// The fields of a request for a whole clip. A request with any further condition is not parsed as one.
  private struct Wish {
    var name: Substring
    var authorization: String?

    /// Fields that request something other than a whole clip, announce a body, or break a rule of HTTP messages.
    private static let others = [
      "range", "if-range", "if-none-match", "expect", "upgrade", "content-length", "transfer-encoding",
      "crier-message-fault",
    ]

    init?(_ head: HTTPRequestHead) {
      for (name, value) in head.headers {
        if name.isField("authorization") {
          guard authorization == nil else { return nil }
          authorization = value
        } else if name.isField("connection") {
          // Connections are kept open by default, so `keep-alive` changes nothing.
          guard value.isField("keep-alive") else { return nil }
        } else if Self.others.contains(where: { name.isField($0) }) {
          return nil
        }
      }
      name = head.uri.dropFirst(HotClips.path.utf8.count).prefix { $0 != "?" }
    }
  }
}

/// The present time in the format of the field `Date` (RFC 9110, section 5.6.7), formatted once a second.
final class HTTPClock: Sendable {
  private static let style = Date.VerbatimFormatStyle(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
      """,
    locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))

  private let state = Locked((second: Int64.min, text: ""))

  var text: String {
    let now = Date()
    let second = Int64(now.timeIntervalSince1970)
    return state.withLock { state in
      if state.second != second { state = (second, now.formatted(Self.style)) }
      return state.text
    }
  }
}

/// Answers requests for clips in memory on the thread that read the request, before a task is involved. Other requests
/// are passed on to the server library.
///
/// To the library, a connection with such requests only looks idle. Half of the cost of a GET was passing its parts to
/// a task and back (`docs/benchmarks.md`).
final class HotClipsHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let answer: (HTTPRequestHead) -> HotResponse?
  private let connection: SharedConnectionState
  /// The response to the request that is being received.
  private var next: HotResponse?
  /// The events to pass on to the library when all responses are written.
  private var held: [Any] = []
  private var isAwaited = false
  private let waiting: (any Channel) -> Int

  /// - Parameters:
  ///   - answer: Returns the response to a request, or nil to pass the request on.
  ///   - connection: The state of the connection. ``RequestDeadline`` reports to it what is read and written.
  ///   - waiting: Returns the number of bytes that were written to a connection and that the operating system has not
  ///     accepted yet.
  init(
    answer: @escaping (HTTPRequestHead) -> HotResponse?, connection: SharedConnectionState,
    waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.answer = answer
    self.connection = connection
    self.waiting = waiting
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      if connection.state.mayAnswerFromMemory { next = answer(head) }
      if next != nil { return }
    case .body: break
    case .end:
      guard let answer = next else { break }
      next = nil
      context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      return
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed, is ChannelShouldQuiesceEvent:
      held.append(event)
      pass(context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var isEnd = false
    if case .end = unwrapOutboundIn(data) { isEnd = true }
    context.write(data, promise: promise)
    if isEnd { pass(context) }
  }

  /// Passes the held events on to the library as soon as they may be.
  private func pass(_ context: ChannelHandlerContext) {
    guard !held.isEmpty, !isAwaited else { return }
    switch connection.state.passingOn(unread: waiting(context.channel)) {
    case .withNextResponse: break
    case .whenWritten:
      isAwaited = true
      let written = context.eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenComplete { _ in
        self.isAwaited = false
        self.pass(context)
      }
      // An empty part is queued behind the waiting bytes, to learn when they are written.
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
    case .now:
      let events = held
      held = []
      for event in events { context.fireUserInboundEventTriggered(event) }
    }
  }
}
