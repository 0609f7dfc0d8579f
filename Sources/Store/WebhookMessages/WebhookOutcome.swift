// SPDX-License-Identifier: Apache-2.0

/// The outcome of one attempt to deliver a message.
public enum WebhookOutcome: String, Sendable, Hashable, CaseIterable {
  /// The receiver answered with 2xx.
  case delivered
  /// The receiver answered with 410: it wants no more messages.
  case gone
  /// The receiver answered with another 4xx.
  case refused
  /// The receiver answered with 3xx. A redirect is never followed, because it could lead anywhere.
  case redirected
  /// The receiver answered with 5xx.
  case serverFailed = "server_failed"
  /// The receiver's answer is not valid HTTP, or has a status other than 2xx to 5xx.
  case answerInvalid = "answer_invalid"
  /// The receiver did not answer in time, or the connection was not opened in time.
  case timedOut = "timed_out"
  /// The receiver closed the connection before its answer.
  case closedEarly = "closed_early"
  /// The receiver's certificate is not trusted, or is for another host.
  case certificateRefused = "certificate_refused"
  /// The host has a private address, to which nothing is sent.
  case addressRefused = "address_refused"
  /// The host has no address, or no connection with TLS could be opened to any of its addresses.
  case unreachable

  /// The outcome of an answer.
  public init(status: Int) {
    self =
      switch status {
      case 200...299: .delivered
      case 300...399: .redirected
      case 410: .gone
      case 400...499: .refused
      case 500...599: .serverFailed
      default: .answerInvalid
      }
  }

  /// The action of the sender on the message and its endpoint.
  public enum Consequence: Sendable, Hashable {
    case end
    /// The message has ended, and the endpoint gets no more messages.
    case disable
    /// The message is sent again later.
    case retry
  }

  public var consequence: Consequence {
    switch self {
    case .delivered: .end
    case .gone: .disable
    case .refused, .redirected, .serverFailed, .answerInvalid, .timedOut, .closedEarly, .certificateRefused,
      .addressRefused, .unreachable:
      .retry
    }
  }
}
