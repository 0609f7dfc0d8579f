// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A fault of a request as an HTTP/1.1 message that the parser does not detect. The client and a proxy may have
/// understood such a message differently, so nothing more is read from its connection.
enum MessageFault: String, Sendable, CaseIterable {
  /// `Host` is missing, is repeated or is not a host (RFC 9112, section 3.2).
  case host = "host_invalid"
  /// The body has another transfer coding than `chunked` (RFC 9112, section 6.1).
  case transferCoding = "transfer_coding_unsupported"
  /// An HTTP/1.0 message has a transfer coding, which HTTP/1.0 does not define (RFC 9112, section 6.1).
  case framing = "framing_invalid"
  /// `Expect` has a value other than `100-continue` (RFC 9110, section 10.1.1).
  case expectation = "expectation_unsupported"

  /// The field that carries the fault of a request from the connection to ``ServiceResponder``. A field of this name
  /// from a client is removed.
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

/// The head of a request after the message rules were applied, and the properties of its response.
struct MessageHead {
  var head: HTTPRequestHead
  /// Whether the request uses HTTP/1.0, which has neither chunks nor `100 Continue`.
  let isOld: Bool
  /// Whether the connection is closed after the response.
  private(set) var isLast: Bool

  /// - Parameter authority: The authority of the service, for an HTTP/1.0 request without `Host`.
  init(_ received: HTTPRequestHead, authority: String) {
    head = received
    isOld = received.version != .http1_1
    // HTTP/1.0 connections are closed after the response, because the length of a streamed response is known only from
    // the end of its connection.
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
    // If the request target contains a host, it takes precedence over the field (RFC 9112, section 3.2.2).
    let target = Self.authority(ofTarget: received.uri)
    if let target, hosts.count == 1 { head.headers.replaceOrAdd(name: "Host", value: target) }
    if let fault = Self.fault(hosts: hosts, target: target, codings, expectations, isOld: isOld) {
      head.headers.add(name: MessageFault.field, value: fault.rawValue)
      isLast = true
    }
    // The library closes a connection only for this exact spelling.
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

  /// Returns the authority of a request target, such as `a:80` of `http://a:80/path`; nil for a path.
  private static func authority(ofTarget uri: String) -> String? {
    guard uri.utf8.first != UInt8(ascii: "/"), let scheme = uri.range(of: "://") else { return nil }
    return String(uri[scheme.upperBound...].prefix { !"/?#".contains($0) })
  }
}

extension String {
  /// Returns whether this is the name of a header field, ignoring case.
  ///
  /// - Parameter lowercased: The name in lower case; only letters and `-`. An upper case letter differs from the lower
  ///   case letter in bit 5 alone.
  func isField(_ lowercased: String) -> Bool {
    utf8.count == lowercased.utf8.count
      && zip(utf8, lowercased.utf8).allSatisfy { $0 == $1 || ($1 != UInt8(ascii: "-") && $0 | 0x20 == $1) }
  }
}

/// Applies the rules of HTTP/1.1 that neither the parser nor the server library applies, to every request and response
/// of a connection.
///
/// - Faulty requests are marked with their ``MessageFault``. After a request that ends the connection, no further
///   request is read.
/// - `100 Continue` is sent on a ``ContinueRequest``.
/// - An HTTP/1.0 request is answered without chunks. A response with `Connection: close` is the last one.
/// - Every response tells browsers not to guess its media type and not to expose it to pages of other sites.
final class MessageRules: ChannelDuplexHandler, RemovableChannelHandler {
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

  private let authority: String
  private let connection: SharedConnectionState
  /// The properties of the responses that have not begun.
  private var awaited = CircularBuffer<AwaitedResponse>(initialCapacity: 2)
  /// Whether the connection is closed after the response that is being written.
  private var endsWithResponse = false

  /// - Parameters:
  ///   - authority: The host and port on which the service listens.
  ///   - connection: The state of the connection. ``RequestDeadline`` reports to it what is read and written.
  init(authority: String, connection: SharedConnectionState) {
    self.authority = authority
    self.connection = connection
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !connection.state.ignoresRequest else { return }
    guard case .head(let received) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let message = MessageHead(received, authority: authority)
    if message.isLast { connection.state.lastRequestRead() }
    awaited.append(AwaitedResponse(isOld: message.isOld, isLast: message.isLast))
    context.fireChannelRead(wrapInboundOut(.head(message.head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head) where head.status.code >= 200:
      // A malformed request is answered too, although it was never added to `awaited`.
      let response = awaited.popFirst()
      if response?.isOld == true { head.version = .http1_0 }
      if response?.isLast == true { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      endsWithResponse = head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
      if endsWithResponse { connection.state.lastRequestRead() }
      head.headers.add(name: "X-Content-Type-Options", value: "nosniff")
      head.headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end where endsWithResponse:
      context.writeAndFlush(data, promise: promise)
      // Only the sending direction is closed. The client may still be sending, and must be able to read the response
      // first.
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

/// A sender that waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
final class AwaitedContinue: Sendable {
  private let send: @Sendable () async -> Void
  private let sent = Locked(false)

  /// - Parameter send: Sends `100 Continue`.
  init(send: @escaping @Sendable () async -> Void) { self.send = send }

  /// Whether `100 Continue` was sent.
  var isSent: Bool { sent.withLock { $0 } }

  /// Sends `100 Continue`, on the first call only.
  func answer() async {
    let isFirst = sent.withLock { sent in
      defer { sent = true }
      return !sent
    }
    if isFirst { await send() }
  }
}
