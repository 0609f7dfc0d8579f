// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

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
          "Host: is missing, repeated or invalid; send it once, with the service's name and port.")
      case .transferCoding:
        Problem(
          .notImplemented, rawValue,
          "Transfer-Encoding: is not supported; send chunked, or a Content-Length.")
      case .framing:
        Problem(.badRequest, rawValue, "Transfer-Encoding: is not part of HTTP/1.0; send a Content-Length.")
      case .expectation:
        Problem(.expectationFailed, rawValue, "Expect: is not supported; send 100-continue, or leave it out.")
      }
    problem.headers[.connection] = "close"
    return problem
  }
}
