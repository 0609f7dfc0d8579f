// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// What is wrong with a request as a message of HTTP/1.1, though its parser takes it. Whoever wrote it and whoever passed it
/// on may have understood it otherwise, so that nothing more is read from its connection.
enum MessageFault: String, Sendable, CaseIterable {
  /// There is no `Host`, or more than one, or one that is no host (RFC 9112, section 3.2).
  case host = "host_invalid"
  /// The body has another transfer coding than `chunked` (RFC 9112, section 6.1).
  case transferCoding = "transfer_coding_unsupported"
  /// A transfer coding in a message of HTTP/1.0, which knows of none (RFC 9112, section 6.1).
  case framing = "framing_invalid"
  /// Something else than `100-continue` is expected (RFC 9110, section 10.1.1).
  case expectation = "expectation_unsupported"

  /// Says which fault a request has, from the connection to ``ServiceResponder``. What a client sends by this name is
  /// removed.
  static let field = "Crier-Message-Fault"

  var problem: Problem {
    var problem =
      switch self {
      case .host:
        Problem(
          .badRequest, rawValue,
          "Host: is missing, stands there twice, or is no host; send it once, as the service's name and port.")
      case .transferCoding:
        Problem(
          .notImplemented, rawValue,
          "Transfer-Encoding: is not one that is read here; send chunked or a Content-Length.")
      case .framing:
        Problem(.badRequest, rawValue, "Transfer-Encoding: is not known to HTTP/1.0; send a Content-Length.")
      case .expectation:
        Problem(.expectationFailed, rawValue, "Expect: is not one that is met here; send 100-continue or leave it out.")
      }
    problem.headers[.connection] = "close"
    return problem
  }
}

/// A request's head as the service reads it, and what its answer is to be like.
struct MessageHead {
  var head: HTTPRequestHead
  /// Whether it is of HTTP/1.0, which knows neither chunks nor `100 Continue`.
  let isOld: Bool
  /// Whether the connection ends with its answer.
  private(set) var isLast: Bool

  /// - Parameter authority: the service's own, for a request of HTTP/1.0 that names none.
  init(_ received: HTTPRequestHead, authority: String) {
    head = received
    isOld = received.version != .http1_1
    // Of HTTP/1.0 connections are not kept: how long an answer is that comes piece by piece is told by its end alone.
    isLast = isOld || !received.isKeepAlive
    var hosts: [String] = []
    var codings: [String] = []
    var expectations: [String] = []
    var isMarked = false
    for (name, value) in received.headers {
      if name.isField("host") { hosts.append(value) }
      if name.isField("transfer-encoding") { codings.append(value) }
      if name.isField("expect") { expectations.append(value) }
      if name.isField("crier-message-fault") { isMarked = true }
    }
    if isMarked { head.headers.remove(name: MessageFault.field) }
    if isOld, !expectations.isEmpty {
      head.headers.remove(name: "Expect")
      expectations = []
    }
    if isOld, hosts.isEmpty {
      head.headers.add(name: "Host", value: authority)
      hosts = [authority]
    }
    // The host of a target that has one comes before the field (RFC 9112, section 3.2.2).
    let target = Self.authority(ofTarget: received.uri)
    if let target, hosts.count == 1 { head.headers.replaceOrAdd(name: "Host", value: target) }
    if let fault = Self.fault(hosts: hosts, target: target, codings, expectations, isOld: isOld) {
      head.headers.add(name: MessageFault.field, value: fault.rawValue)
      isLast = true
    }
    // The library ends a connection for these very letters.
    if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
  }

  private static func fault(
    hosts: [String], target: String?, _ codings: [String], _ expectations: [String], isOld: Bool
  ) -> MessageFault? {
    guard hosts.count == 1, Authority(target ?? hosts[0]) != nil else { return .host }
    if !codings.isEmpty {
      if isOld { return .framing }
      guard codings.count == 1, codings[0].lowercased() == "chunked" else { return .transferCoding }
    }
    let isMet = expectations.joined(separator: ",").split(separator: ",").allSatisfy {
      $0.trimmingCharacters(in: .whitespaces).lowercased() == "100-continue"
    }
    return isMet ? nil : .expectation
  }

  /// `a:80` of `http://a:80/path`; nil for a path.
  private static func authority(ofTarget uri: String) -> String? {
    guard uri.utf8.first != UInt8(ascii: "/"), let scheme = uri.range(of: "://") else { return nil }
    return String(uri[scheme.upperBound...].prefix { !"/?#".contains($0) })
  }
}

extension String {
  /// Whether this is the name of a header field, whatever its case.
  ///
  /// - Parameter lowercased: letters, and `-`: what differs from one of these in bit 5 alone is the same letter.
  func isField(_ lowercased: String) -> Bool {
    utf8.count == lowercased.utf8.count
      && zip(utf8, lowercased.utf8).allSatisfy { $0 == $1 || ($1 != UInt8(ascii: "-") && $0 | 0x20 == $1) }
  }
}

/// Keeps the rules of HTTP/1.1 that neither the parser nor the server library keeps, for every request and answer of a
/// connection, whoever answers.
///
/// - Requests are marked with their ``MessageFault``, and none is read behind one with which the connection ends.
/// - `100 Continue` is sent when it is asked for with ``ContinueRequest``.
/// - A request of HTTP/1.0 is answered without chunks, and an answer that says `Connection: close` is the last one.
/// - Every answer forbids browsers to guess its type, and to give it to another site's page.
final class MessageRules: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Asks for `100 Continue`: an event that goes out behind what was answered before.
  struct ContinueRequest: Sendable {}

  private struct Answer {
    var isOld: Bool
    var isLast: Bool
  }

  private let authority: String
  /// To requests whose answers have not begun.
  private var awaited = CircularBuffer<Answer>(initialCapacity: 2)
  /// Whether the connection ends with the answer that is being written.
  private var endsWithAnswer = false
  /// Set with the last request that is answered: what comes behind it is passed over.
  private var hasLast = false
  /// Whether what comes is behind the last request.
  private var isBehind = false

  /// - Parameter authority: host and port that the service listens on.
  init(authority: String) { self.authority = authority }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let received) = unwrapInboundIn(data) else {
      if !isBehind { context.fireChannelRead(data) }
      return
    }
    guard !hasLast else {
      isBehind = true
      return
    }
    let message = MessageHead(received, authority: authority)
    hasLast = message.isLast
    awaited.append(Answer(isOld: message.isOld, isLast: message.isLast))
    context.fireChannelRead(wrapInboundOut(.head(message.head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status.code >= 200:
      // What cannot be read as a request is answered too, and was never awaited.
      let answer = awaited.popFirst()
      if answer?.isOld == true { head.version = .http1_0 }
      if answer?.isLast == true { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      endsWithAnswer = head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
      if endsWithAnswer { hasLast = true }
      head.headers.add(name: "X-Content-Type-Options", value: "nosniff")
      head.headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end where endsWithAnswer:
      context.writeAndFlush(data, promise: promise)
      // The other side may be sending still, and is to read the answer before it hears that nobody listens.
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

/// A sender who waits for `100 Continue` before the body is sent (RFC 9110, section 10.1.1).
final class AwaitedContinue: Sendable {
  private let send: @Sendable () async -> Void
  private let sent = Locked(false)

  /// - Parameter send: sends it.
  init(send: @escaping @Sendable () async -> Void) { self.send = send }

  /// Whether the sender was told to go on.
  var isSent: Bool { sent.withLock { $0 } }

  /// Tells the sender to go on, the first time.
  func answer() async {
    let isFirst = sent.withLock { sent in
      defer { sent = true }
      return !sent
    }
    if isFirst { await send() }
  }
}
