// SPDX-License-Identifier: Apache-2.0

public import Foundation
import TextFormats

/// A message to an endpoint: a JSON text with an id, which is the same in every attempt.
public struct WebhookMessage: Sendable, Hashable {
  /// The value of `webhook-id`. A receiver that sees it twice has received the same message twice.
  public let id: String
  public let body: Data

  public init(id: String, body: Data) {
    self.id = id
    self.body = body
  }

  /// Returns a new id of a message, such as `msg_0f2a…`, with 128 random bits and without a period.
  public static func newID() -> String { "msg_" + randomDigits() }

  /// Returns a new id of an endpoint, such as `whe_0f2a…`, with 128 random bits.
  public static func newEndpointID() -> String { "whe_" + randomDigits() }

  private static func randomDigits() -> String {
    [UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)].map(\.hexadecimal).joined()
  }

  /// Returns the header fields of an attempt.
  ///
  /// - Parameters:
  ///   - now: The time of the attempt, which is signed too.
  ///   - secrets: The secrets to sign with: one secret, or two while a receiver replaces one of them with the other.
  public func headers(at now: Date, secrets: [WebhookSecret]) -> [(name: String, value: String)] {
    let timestamp = Int64(now.timeIntervalSince1970.rounded(.down))
    let signatures = secrets.map { $0.signature(id: id, timestamp: timestamp, body: body) }
    return [
      ("content-type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(timestamp)),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }
}
