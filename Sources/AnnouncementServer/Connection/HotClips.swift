// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import ServiceAccess

/// Clips that are in memory, for those who are known and may have them: decided without waiting for anything.
///
/// It decides as ``ServiceResponder`` and ``ClipCalls`` do, with their parts, and only what they would answer with 200: the
/// rest goes the usual way, and is refused there where it is to be refused.
struct HotClips: Sendable {
  struct Answer: Sendable {
    var head: HTTPResponseHead
    var body: ByteBuffer
  }

  static let path = "/v1/clips/"
  private static let template = "\(path){name}"

  let clips: Clips
  let keys: KeyRing
  let urls: ClipURLs
  let metrics: ServiceMetrics
  let stopping: Stopping
  let clock = HTTPClock()
  let logger: Logger

  /// - Returns: nil for what the usual way has to answer.
  func answer(to head: HTTPRequestHead) -> Answer? {
    guard head.method == .GET, head.version == .http1_1, head.uri.hasPrefix(Self.path) else { return nil }
    let start = ContinuousClock.now
    guard let wish = Wish(head), !stopping.isStopping else { return nil }
    // Who asks is known before anything is looked for, or how long it takes would tell a stranger what is in memory.
    var caller: Caller?
    if let authorization = wish.authorization {
      guard let known = keys.remembered(authorization), known.scopes.allow(.read) else { return nil }
      caller = known
    } else {
      guard isSigned(head.uri) else { return nil }
    }
    guard let file = clips.fileInMemory(named: String(wish.name)) else { return nil }
    // A request that is refused takes nothing from the key, and is refused in the usual way.
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
    return Answer(head: HTTPResponseHead(version: .http1_1, status: .ok, headers: fields), body: file.bytes)
  }

  private func isSigned(_ uri: String) -> Bool {
    do throws(AccessError) {
      try urls.check(URI(uri))
      return true
    } catch {
      return false
    }
  }

  /// What a request for a whole clip says; a request that says more than that is none.
  private struct Wish {
    var name: Substring
    var authorization: String?

    /// These ask for something else than a whole clip, have a body, or break a rule of the message.
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
          // That it is kept is what happens anyway.
          guard value.isField("keep-alive") else { return nil }
        } else if Self.others.contains(where: { name.isField($0) }) {
          return nil
        }
      }
      name = head.uri.dropFirst(HotClips.path.utf8.count).prefix { $0 != "?" }
    }
  }
}

/// The time as `Date` has it (RFC 9110, section 5.6.7), put into words once a second.
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

/// Answers requests for clips that are in memory on the thread that read them, before they become a task's. The others go
/// on to the server library.
///
/// From the library's side a connection that asks for such clips is one that is silent. Half of what a GET cost was the way
/// of its parts into a task and back (`docs/benchmarks.md`).
final class HotClipsHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let answer: (HTTPRequestHead) -> HotClips.Answer?
  /// Requests that went on and are not answered yet: answers keep the order of their requests.
  private var owed = 0
  /// To the request that is coming.
  private var next: HotClips.Answer?
  /// Whether the last request came to its end.
  private var isWhole = true
  /// Set when the service closes its side: nothing is answered any more.
  private var isOver = false
  /// What the library is to hear when all is read.
  private var held: [Any] = []
  private var isAwaited = false
  private let waiting: (any Channel) -> Int

  /// - Parameters:
  ///   - answer: nil for what goes on.
  ///   - waiting: what was written to a connection and the system has not taken, in bytes.
  init(
    answer: @escaping (HTTPRequestHead) -> HotClips.Answer?, waiting: @escaping (any Channel) -> Int = \.waitingBytes
  ) {
    self.answer = answer
    self.waiting = waiting
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      isWhole = false
      // Who does not read is not given more: the usual way waits until they do.
      if owed == 0, context.channel.isWritable, !isOver { next = answer(head) }
      if next != nil { return }
      owed += 1
    case .body: break
    case .end:
      isWhole = true
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

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input { isOver = true }
    context.close(mode: mode, promise: promise)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var isEnd = false
    if case .end = unwrapOutboundIn(data) { isEnd = true }
    context.write(data, promise: promise)
    guard isEnd else { return }
    // What cannot be read as a request is answered too, and was never owed.
    owed = max(0, owed - 1)
    pass(context)
  }

  /// Passes on what is held: the library closes a connection whose other side has sent all, or at a stop, as soon as it has
  /// written its last answer, and what is not read yet would be lost.
  private func pass(_ context: ChannelHandlerContext) {
    guard !held.isEmpty, !isAwaited else { return }
    // Of a request that will not come whole it has to hear.
    if isWhole {
      guard owed == 0 else { return }
      if waiting(context.channel) > 0 {
        isAwaited = true
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in
          self.isAwaited = false
          self.pass(context)
        }
        // Nothing, behind what there is.
        return context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
      }
    }
    let events = held
    held = []
    for event in events { context.fireUserInboundEventTriggered(event) }
  }
}
