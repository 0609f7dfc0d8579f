// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// A question to a server, and the code that reads its answer. It uses neither a connection nor a clock.
protocol SpeechExchange: Sendable {
  /// The messages that are sent and received. The handlers of the connection convert them to and from bytes.
  associatedtype Sent: Sendable
  associatedtype Received: Sendable
  associatedtype Answer: Sendable

  var question: [Sent] { get }

  /// Whether the first byte of the sound has arrived.
  var hasSound: Bool { get }

  /// Processes a part of the answer.
  ///
  /// - Returns: The answer when it is complete; nil if more parts are expected.
  mutating func take(_ part: Received) throws(SpeechServerError) -> Answer?

  /// Adds the handlers to a connection that is being opened, on its event loop.
  static func addHandlers(to channel: any Channel, within limits: SpeechServerLimits) throws
}

extension SpeechServerError {
  static var closedEarly: SpeechServerError {
    SpeechServerError(
      .closedEarly, "closed the connection before the end of its answer", remedy: "look into the log of the server")
  }
}
