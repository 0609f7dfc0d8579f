// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The payments that providers have reported. Each call is one whole transaction.
  public protocol ProviderPaymentStore: Sendable {
    /// Stores the payments that one request of a provider reports, in one transaction. When the call returns, every
    /// payment in it is durable or was known before.
    ///
    /// - Returns: The outcome of each report, in the same order.
    /// - Throws: ``LedgerError`` with `waitingListFull`, `diskFull`, `busy` or a file error. Nothing was stored then,
    ///   and the provider sends the request again.
    func accept(providerPayments new: [NewProviderPayment]) async throws(LedgerError) -> [ProviderAcceptance]

    /// Returns the next payments that are to be announced, in the order of their reports.
    ///
    /// - Parameters:
    ///   - number: Only payments with a higher number are returned.
    ///   - limit: The maximum number of payments.
    func waitingProviderPayments(after number: Int64, limit: Int) async throws(LedgerError) -> [ProviderPayment]

    /// Notes that the announcing of a payment begins. The change is durable when the call returns.
    ///
    /// - Parameter seat: The seat of the process that announces payments, as in the two calls below; nil only if no other
    ///   process can announce them, for example in a test.
    /// - Throws: ``LedgerError`` with `leaseLost` if the process has lost its seat. Nothing was changed then.
    func startAnnouncing(providerPayment number: Int64, under seat: DeliverySeat?) async throws(LedgerError)

    /// Notes that the service was stopped before it had announced a payment, and will announce it after its next start.
    /// This does not count as a crash.
    func stopAnnouncing(providerPayment number: Int64, under seat: DeliverySeat?) async throws(LedgerError)

    /// Notes that a payment was announced or, if a reason is given, that it cannot be announced.
    func end(providerPayment number: Int64, refusal: String?, under seat: DeliverySeat?) async throws(LedgerError)

    /// Returns the latest reports to an endpoint, the newest first.
    func providerPayments(account: String, endpoint: String, limit: Int) async throws(LedgerError) -> [ProviderPayment]
  }
}

extension Ledger.ProviderPaymentStore {
  /// Calls ``startAnnouncing(providerPayment:under:)`` with `nil` for `under`.
  public func startAnnouncing(providerPayment number: Int64) async throws(LedgerError) {
    try await startAnnouncing(providerPayment: number, under: nil)
  }

  /// Calls ``stopAnnouncing(providerPayment:under:)`` with `nil` for `under`.
  public func stopAnnouncing(providerPayment number: Int64) async throws(LedgerError) {
    try await stopAnnouncing(providerPayment: number, under: nil)
  }

  /// Calls ``end(providerPayment:refusal:under:)`` with `nil` for `under`.
  public func end(providerPayment number: Int64, refusal: String?) async throws(LedgerError) {
    try await end(providerPayment: number, refusal: refusal, under: nil)
  }

  /// Calls ``waitingProviderPayments(after:limit:)`` with `256` for `limit`.
  public func waitingProviderPayments(after number: Int64) async throws(LedgerError) -> [Ledger.ProviderPayment] {
    try await waitingProviderPayments(after: number, limit: 256)
  }
}
