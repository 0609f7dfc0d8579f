// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import WebhookMessages

extension Ledger {
  /// The endpoints of webhooks, the messages to them, and the alarms that such messages report. Each call is one whole
  /// transaction.
  public protocol WebhookStore: Sendable {
    /// Calls a closure whenever this value has stored messages to webhook endpoints. The closure must return at once.
    /// The messages that other processes store are not reported.
    func onNewWebhooks(_ notify: @escaping @Sendable () -> Void)

    /// Returns the alarms of a lane that were reported as begun and not yet as ended, with the times at which they
    /// began. An alarm that this version does not know is left out.
    ///
    /// - Parameter lane: The lane; empty for a service without an output.
    func activeAlarms(lane: String) async throws(LedgerError) -> [WebhookEvent.Kind: Date]

    /// Records that an alarm has begun or ended, and puts the messages about it into the outbox, for every account with
    /// an endpoint that is registered for such messages. All of this is one transaction, so each beginning and each end
    /// is reported once, even after a crash.
    ///
    /// - Returns: False if this beginning or end was reported before. Nothing was changed then.
    @discardableResult
    func tellAlarm(
      _ alarm: WebhookEvent.Kind, lane: String, hasBegun: Bool, detail: [String: String]
    ) async throws(LedgerError) -> Bool

    /// Returns the latest attempts to an endpoint, newest first.
    func webhookAttempts(account: String, endpoint: String) async throws(LedgerError) -> [KeptWebhookAttempt]

    /// Registers an endpoint. It is durable when the call returns.
    ///
    /// - Parameter actor: The administrator who registers it.
    /// - Throws: ``LedgerError`` with `invalidValue`, `tooManyWebhookEndpoints`, `webhookEndpointExists` when the
    ///   account has another endpoint with the URL, `diskFull`, `busy` or a file error. Nothing was stored then.
    @discardableResult
    func register(_ new: NewWebhookEndpoint, by actor: Administrator) async throws(LedgerError) -> WebhookEndpoint

    /// Returns an endpoint; nil when the account has none with this id.
    func webhookEndpoint(account: String, id: String) async throws(LedgerError) -> WebhookEndpoint?

    /// Returns the endpoints of an account in the order of their registration.
    func webhookEndpoints(account: String) async throws(LedgerError) -> [WebhookEndpoint]

    /// Returns the number of disabled endpoints of each account that has some, and the time at which the first of them
    /// was disabled.
    func disabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, count: Int, since: Date)]

    /// Returns the account and the id of each endpoint that is not disabled.
    func enabledWebhookEndpoints() async throws(LedgerError) -> [(account: String, id: String)]

    /// Removes an endpoint with its secret and all its messages. The removal is durable when the call returns. A
    /// message that is under way may still arrive.
    ///
    /// - Returns: Whether the account had the endpoint.
    @discardableResult
    func removeWebhookEndpoint(account: String, id: String, by actor: Administrator) async throws(LedgerError) -> Bool

    /// Lets messages be sent to an endpoint again after it was disabled. Events that happened meanwhile are not sent.
    ///
    /// - Returns: The endpoint; nil when the account has none with this id.
    func enableWebhookEndpoint(
      account: String, id: String, by actor: Administrator
    ) async throws(LedgerError) -> WebhookEndpoint?

    /// Puts a message for a test of an endpoint into the outbox. It is durable when the call returns.
    func testWebhookEndpoint(account: String, id: String) async throws(LedgerError) -> WebhookTest

    /// Returns the unfinished messages after a number, oldest first.
    ///
    /// - Parameter limit: The maximum number of messages, 1 to 10,000.
    func unfinishedWebhooks(after number: Int64, limit: Int) async throws(LedgerError) -> [UnfinishedWebhook]

    /// Marks messages as being sent, in one transaction, and returns them with their endpoints. When the call returns,
    /// the marks are durable, so that after a crash they show which messages were being sent; see ``InterruptedWork``.
    ///
    /// - Parameter seat: The seat of the sender, as in all calls about sending; nil only if no other sender can exist,
    ///   for example in a test.
    /// - Returns: The messages that are unfinished. A message whose endpoint was removed is not among them, because the
    ///   message was removed too.
    /// - Throws: ``LedgerError`` with `leaseLost` if the sender has lost its seat. Nothing was changed then.
    func startSending(
      webhooks numbers: [Int64], under seat: DeliverySeat?
    ) async throws(LedgerError) -> [WebhookToSend]

    /// Records that the sender was stopped while it was sending a message, so that the attempt has no outcome.
    func stopSending(webhook number: Int64, under seat: DeliverySeat?) async throws(LedgerError)

    /// Stores the outcome of an attempt, and disables the endpoint if the receiver wants no more messages, or if no
    /// message was delivered for too long. Everything is durable when the call returns.
    ///
    /// - Returns: nil when the message has ended or was removed meanwhile. Nothing was changed then.
    func record(
      _ attempt: WebhookAttempt, ofWebhook number: Int64, under seat: DeliverySeat?
    ) async throws(LedgerError) -> WebhookRecord?

    /// Returns the messages to an endpoint, oldest first.
    ///
    /// - Parameter limit: The maximum number of messages, 1 to 1,000.
    func webhooks(account: String, endpoint: String, limit: Int) async throws(LedgerError) -> [Webhook]
  }
}

extension Ledger.WebhookStore {
  /// Calls ``startSending(webhooks:under:)`` with `nil` for `under`.
  public func startSending(webhooks numbers: [Int64]) async throws(LedgerError) -> [Ledger.WebhookToSend] {
    try await startSending(webhooks: numbers, under: nil)
  }

  /// Calls ``stopSending(webhook:under:)`` with `nil` for `under`.
  public func stopSending(webhook number: Int64) async throws(LedgerError) {
    try await stopSending(webhook: number, under: nil)
  }

  /// Calls ``record(_:ofWebhook:under:)`` with `nil` for `under`.
  public func record(
    _ attempt: Ledger.WebhookAttempt, ofWebhook number: Int64
  ) async throws(LedgerError) -> Ledger.WebhookRecord? {
    try await record(attempt, ofWebhook: number, under: nil)
  }

  /// Calls ``unfinishedWebhooks(after:limit:)`` with `1000` for `limit`.
  public func unfinishedWebhooks(after number: Int64 = 0) async throws(LedgerError) -> [Ledger.UnfinishedWebhook] {
    try await unfinishedWebhooks(after: number, limit: 1000)
  }
}
