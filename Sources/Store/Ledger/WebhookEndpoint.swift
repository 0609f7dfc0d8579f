// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import WebhookMessages

/// An endpoint to which the events of an account are sent.
public struct NewWebhookEndpoint: Sendable, Hashable {
  /// The account whose events are sent, 1 to 255 bytes.
  public var account: String
  /// The id, 1 to 128 bytes; see `WebhookMessage.newEndpointID()`.
  public var id: String
  public var url: WebhookURL
  public var secret: WebhookSecret
  /// The types of events that are sent: one or more of `WebhookEvent.Kind.registrable`.
  public var kinds: Set<WebhookEvent.Kind>
  /// A text for people, 1 to 255 bytes; nil for none.
  public var text: String?
  public var format: WebhookEvent.Format

  public init(
    account: String, id: String = WebhookMessage.newEndpointID(), url: WebhookURL,
    secret: WebhookSecret = .make(), kinds: Set<WebhookEvent.Kind> = Set(WebhookEvent.Kind.registrable),
    text: String? = nil, format: WebhookEvent.Format = .typed
  ) {
    self.account = account
    self.id = id
    self.url = url
    self.secret = secret
    self.kinds = kinds
    self.text = text
    self.format = format
  }

  /// The first rule that a value breaks; nil when the endpoint can be stored.
  package var brokenRule: String? {
    if !isText(account, 1...255) { return "account (1 to 255 bytes without NUL)" }
    if !isText(id, 1...128) { return "id (1 to 128 bytes without NUL)" }
    if kinds.isEmpty || kinds.contains(.ping) { return "kinds (one or more types of announcements' events)" }
    if !isText(text, 1...255) { return "description (1 to 255 bytes without NUL)" }
    return nil
  }
}

extension Ledger {
  /// The maximum number of webhook endpoints of an account.
  public static let mostWebhookEndpoints = 16

  /// A registered endpoint, without its secret. Its URL may contain a secret, so it must not be logged.
  public struct WebhookEndpoint: Sendable, Hashable {
    /// The reason why nothing is sent to an endpoint.
    public enum DisabledReason: String, Sendable, Hashable, CaseIterable {
      /// No message was delivered for three days, in spite of attempts.
      case failing
      /// The receiver answered that it wants no more messages.
      case gone
    }

    /// The numbers of messages by state, since the registration.
    public struct Counts: Sendable, Hashable, Encodable {
      public let waiting: Int
      public let delivered: Int
      public let failed: Int
      public let expired: Int
      /// The number of events for which no message was stored, because too many were waiting.
      public let missed: Int
    }

    public let account: String
    public let id: String
    public let url: String
    public let kinds: Set<WebhookEvent.Kind>
    public let text: String?
    public let format: WebhookEvent.Format
    public let createdAt: Date
    /// The time of the latest delivery; nil before the first.
    public let deliveredAt: Date?
    /// The time since which every attempt has failed; nil if the latest attempt succeeded.
    public let failingSince: Date?
    /// The outcome of the latest attempt; nil before the first.
    public let lastOutcome: WebhookOutcome?
    public let lastAttemptAt: Date?
    /// The time since which nothing is sent; nil if the endpoint is in use.
    public let disabledAt: Date?
    public let disabledReason: DisabledReason?
    public let counts: Counts
  }

  /// A message in the outbox. Every message ends in exactly one of the states `delivered`, `failed` and `expired`.
  public struct Webhook: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
      /// The message waits for its turn or for another attempt. It may be under way.
      case waiting
      /// The receiver has answered with 2xx.
      case delivered
      /// The receiver refused the message permanently.
      case failed
      /// The message was tried for three days, or its endpoint was disabled.
      case expired
    }

    /// The number in the outbox. Numbers strictly increase.
    public let number: Int64
    public let message: WebhookMessage
    public let kind: WebhookEvent.Kind
    public let state: State
    /// The outcome of the latest attempt; nil before the first.
    public let outcome: WebhookOutcome?
    /// The number of attempts whose outcome was stored.
    public let attempts: Int
    public let createdAt: Date
    public let finishedAt: Date?
  }

  /// The facts about an unfinished message from which the sender decides when to send the message.
  public struct UnfinishedWebhook: Sendable, Hashable {
    public let number: Int64
    /// The endpoint's number.
    public let endpoint: Int64
    /// The time before which the message is not sent.
    public var nextAt: Date
    /// The time from which ``nextAt`` was computed: the time of the latest attempt or, before the first one, of the
    /// event.
    public let computedAt: Date
    /// The time of the first attempt; nil before it.
    public var firstAttemptAt: Date?
    /// The number of attempts that were begun since the last attempt that came to an end; see ``InterruptedWork``.
    public let starts: Int

    public init(
      number: Int64, endpoint: Int64, nextAt: Date, computedAt: Date? = nil, firstAttemptAt: Date? = nil,
      starts: Int = 0
    ) {
      self.number = number
      self.endpoint = endpoint
      self.nextAt = nextAt
      self.computedAt = computedAt ?? nextAt
      self.firstAttemptAt = firstAttemptAt
      self.starts = starts
    }
  }

  /// A message that is to be sent, with its endpoint.
  public struct WebhookToSend: Sendable, Hashable {
    public let number: Int64
    public let message: WebhookMessage
    public let account: String
    /// The endpoint's id.
    public let endpoint: String
    public let url: String
    /// The secret that signs the message; nil if it cannot be read. Only the messages of this endpoint are affected
    /// then.
    public let secret: WebhookSecret?
    /// The number of attempts so far.
    public let attempts: Int
  }
}

extension Ledger.WebhookEndpoint {
  package init(row: some StoredRow) throws {
    self.init(
      account: try row.value("account"), id: try row.value("id"), url: try row.value("url"),
      kinds: Set(webhookKinds: try row.value("kinds")), text: try row.optional("description"),
      format: WebhookEvent.Format(webhookFormat: try row.value("format")), createdAt: try row.value("created_at"),
      deliveredAt: try row.optional("delivered_at"), failingSince: try row.optional("failing_since"),
      lastOutcome: try row.optionalName("last_outcome"), lastAttemptAt: try row.optional("last_attempt_at"),
      disabledAt: try row.optional("disabled_at"), disabledReason: try row.optionalName("disabled_reason"),
      counts: Counts(
        waiting: try row.value("waiting"), delivered: try row.value("delivered"), failed: try row.value("failed"),
        expired: try row.value("expired"), missed: try row.value("missed")))
  }
}

extension WebhookMessage {
  fileprivate init(row: some StoredRow) throws {
    self.init(id: try row.value("message_id"), body: try row.value("body"))
  }
}

extension Ledger.Webhook {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), message: try WebhookMessage(row: row), kind: try row.name("kind"),
      state: try row.name("state"), outcome: try row.optionalName("outcome"), attempts: try row.value("attempts"),
      createdAt: try row.value("created_at"), finishedAt: try row.optional("finished_at"))
  }
}

extension Ledger.UnfinishedWebhook {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), endpoint: try row.value("endpoint"), nextAt: try row.value("next_at"),
      computedAt: try row.value("computed_at"), firstAttemptAt: try row.optional("first_attempt_at"),
      starts: try row.value("starts"))
  }
}

extension Ledger.WebhookToSend {
  /// Reads a message and the columns `account`, `url`, `secret` and `endpoint_id` of its endpoint.
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), message: try WebhookMessage(row: row), account: try row.value("account"),
      endpoint: try row.value("endpoint_id"), url: try row.value("url"),
      secret: try? WebhookSecret(try row.value("secret")), attempts: try row.value("attempts"))
  }
}
