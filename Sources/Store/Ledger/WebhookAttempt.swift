// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import WebhookMessages

extension Ledger {
  /// The number of attempts that the ledger keeps for each endpoint.
  public static let mostWebhookAttempts = 20

  /// An attempt to send a message to an endpoint, as the ledger keeps it.
  public struct KeptWebhookAttempt: Sendable, Hashable {
    public let at: Date
    public let outcome: WebhookOutcome
    /// The status of the receiver's answer; nil if there was none.
    public let status: Int?
    public let milliseconds: Int
    /// The id of the message, as in its header `webhook-id`; nil for an attempt that an earlier version made.
    public let message: String?
    /// The type of the event in the message; nil for an attempt that an earlier version made.
    public let kind: WebhookEvent.Kind?
  }

  /// The maximum number of messages that wait for an endpoint. Further events are only counted.
  public static let mostWaitingWebhooks = 10_000

  /// The result of asking for a test of an endpoint.
  public enum WebhookTest: Sendable, Hashable {
    /// The account has no endpoint with the id.
    case unknown
    case disabled
    /// Too many messages wait for the endpoint.
    case tooManyWaiting
    /// A message was stored.
    case stored(messageID: String)
  }

  /// An attempt to send a message.
  public struct WebhookAttempt: Sendable, Hashable {
    public var startedAt: Date
    public var outcome: WebhookOutcome
    /// The time of the next attempt, for an outcome after which there can be one; nil if this was the last.
    public var nextAt: Date?
    /// The time without a delivery after which the endpoint is disabled, in seconds.
    public var patience: TimeInterval
    /// Whether this attempt counts as the message's first one, because no sender was running for a long time although
    /// the message was due.
    public var isFirst: Bool
    /// The status of the receiver's answer; nil if there was none.
    public var status: Int?
    /// The time until the answer, or until the attempt was given up, in milliseconds.
    public var milliseconds: Int

    public init(
      startedAt: Date, outcome: WebhookOutcome, nextAt: Date?, patience: TimeInterval, isFirst: Bool = false,
      status: Int? = nil, milliseconds: Int = 0
    ) {
      (self.status, self.milliseconds) = (status, milliseconds)
      self.startedAt = startedAt
      self.outcome = outcome
      self.nextAt = nextAt
      self.patience = patience
      self.isFirst = isFirst
    }
  }

  /// The changes of the ledger for an attempt.
  public struct WebhookRecord: Sendable, Hashable {
    /// The message's state now.
    public let state: Webhook.State
    /// The reason why this attempt disabled the endpoint; nil if it did not.
    public let disabled: WebhookEndpoint.DisabledReason?
    /// The numbers of the endpoint's other messages that ended as expired when it was disabled.
    public let expired: [Int64]

    package init(state: Webhook.State, disabled: WebhookEndpoint.DisabledReason?, expired: [Int64]) {
      self.state = state
      self.disabled = disabled
      self.expired = expired
    }
  }
}

extension Ledger.KeptWebhookAttempt {
  package init(row: some StoredRow) throws {
    self.init(
      at: try row.value("at"), outcome: try row.name("outcome"), status: try row.optional("status"),
      milliseconds: try row.value("milliseconds"), message: try row.optional("message"),
      kind: try row.text("kind").flatMap(WebhookEvent.Kind.init))
  }
}
