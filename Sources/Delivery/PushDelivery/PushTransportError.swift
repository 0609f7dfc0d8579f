// SPDX-License-Identifier: Apache-2.0

public import PushMessages

/// The error of a push for which there is no answer. It contains no token and no payload.
public struct PushTransportError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The connection could not be opened. Nothing was sent.
    case cannotConnect = "cannot_connect"
    /// The server's certificate is not trusted, or does not belong to its name. Nothing was sent.
    case certificateRefused = "certificate_refused"
    /// The server does not speak HTTP/2. Nothing was sent.
    case notHTTP2 = "not_http2"
    /// The server has refused to process the push, for example because it ends the connection. The push can be sent
    /// again at once.
    case notProcessed = "not_processed"
    /// The connection ended before the answer. Whether the server has processed the push is unknown.
    case connectionLost = "connection_lost"
    /// No answer came in time. Whether the server has processed the push is unknown.
    case timedOut = "timed_out"
    /// The client was closed before the push was sent, or the push may not be sent any more.
    case closed
    /// The file of trusted certificates cannot be read. Nothing was sent.
    case trustRootsUnusable = "trust_roots_unusable"
    /// The provider token could not be signed. Nothing was sent.
    case cannotSign = "cannot_sign"
  }

  public let code: Code
  /// The host and the port of the server.
  public let server: String
  /// The cause in the words of the system or the TLS library; nil if it is not known.
  public let reason: String?

  init(_ code: Code, server: PushServer, reason: String? = nil) {
    self.code = code
    self.server = server.name
    self.reason = reason
  }

  /// The consequence of the error for the push.
  public var interruption: PushInterruption {
    switch code {
    case .notProcessed: .notProcessed
    case .connectionLost: .connectionLost
    case .timedOut: .timedOut
    case .cannotConnect, .certificateRefused, .notHTTP2, .closed, .trustRootsUnusable, .cannotSign: .unreachable
    }
  }

  public var description: String {
    let cause = reason.map { " (\($0))" } ?? ""
    return switch code {
    case .cannotConnect:
      "\(server) cannot be reached\(cause). Check the server's name, the network and the firewall."
    case .certificateRefused:
      "\(server) has a certificate that is not trusted\(cause). Check the server's name, and the trusted certificates."
    case .notHTTP2: "\(server) does not speak HTTP/2. Give the address of APNs or of a server like it."
    case .notProcessed: "\(server) did not process the push\(cause). Send it again."
    case .connectionLost:
      "\(server) ended the connection before it answered\(cause). Send the push again with the same apns-id."
    case .timedOut: "\(server) did not answer in time. Send the push again with the same apns-id."
    case .closed: "The push was not sent to \(server), because the client was closed."
    case .trustRootsUnusable: "The trusted certificates for \(server) cannot be read. Give a file in PEM."
    case .cannotSign: "The provider token for \(server) could not be signed. Check the provider key."
    }
  }
}
