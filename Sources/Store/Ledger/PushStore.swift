// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The pushes to phones, and the receipts of phones. Each call is one whole transaction.
  public protocol PushStore: Sendable {
    /// Puts pushes that announce nothing into the outbox, in one transaction.
    ///
    /// - Parameter seat: The seat of the sender, if the sender makes the pushes itself, such as those of the library.
    /// - Returns: The numbers of the pushes. A push to a device that the account does not have is left out.
    /// - Throws: ``LedgerError`` with `invalidValue`, `waitingListFull`, `leaseLost`, `diskFull`, `busy` or a file error.
    ///   Nothing was stored then.
    @discardableResult
    func accept(
      _ pushes: [NewPush], account: String, under seat: DeliverySeat?
    ) async throws(LedgerError) -> [Int64]

    /// Returns the unfinished pushes after a number, oldest first.
    ///
    /// - Parameter limit: The maximum number of pushes, 1 to 10,000.
    func unfinishedPushes(after number: Int64, limit: Int) async throws(LedgerError) -> [UnfinishedPush]

    /// Marks pushes as being sent, in one transaction, and returns them with the tokens of their devices. When the call
    /// returns, the marks are durable, so that after a crash it is known which pushes may have been sent.
    ///
    /// - Parameter seat: The seat of the sender, as in all calls about sending; nil only if no other sender can exist,
    ///   for example in a test.
    /// - Returns: The pushes that are unfinished. The token is nil when the device no longer has one for such a push.
    /// - Throws: ``LedgerError`` with `leaseLost` if the sender has lost its seat. Nothing was changed then.
    func startSending(
      _ numbers: [Int64], under seat: DeliverySeat?
    ) async throws(LedgerError) -> [(push: Push, token: String?)]

    /// Ends a push. The outcome is durable when the call returns.
    ///
    /// - Parameters:
    ///   - state: A final state.
    ///   - reason: The reason from APNs or the sender, at most 64 bytes, without tokens or names. If it is nil, an
    ///     expired push keeps the reason why it had to wait.
    /// - Returns: False when the push had already ended; nothing was changed then.
    @discardableResult
    func finishPush(
      _ number: Int64, _ state: Push.State, reason: String?, under seat: DeliverySeat?
    ) async throws(LedgerError) -> Bool

    /// Ends pushes that have expired, in one transaction. The outcomes are durable when the call returns.
    ///
    /// - Parameter pushes: The numbers, each with the reason why the push had to wait, at most 64 bytes; nil for the
    ///   stored reason.
    /// - Returns: The numbers of the pushes that had not ended before.
    func expirePushes(
      _ pushes: [(number: Int64, reason: String?)], under seat: DeliverySeat?
    ) async throws(LedgerError) -> Set<Int64>

    /// Lets a push wait for another attempt.
    ///
    /// - Parameter reason: Why the attempt did not succeed, at most 64 bytes, without tokens or names.
    func postponePush(_ number: Int64, reason: String?, under seat: DeliverySeat?) async throws(LedgerError)

    /// Returns the pushes of an announcement, oldest first.
    func pushes(account: String, announcement: String) async throws(LedgerError) -> [Push]

    /// Returns the pushes of announcements to a device after a number, in their order and whatever their outcomes are.
    /// Pushes to a removed device with the same id are not among them.
    ///
    /// - Parameter limit: The maximum number of pushes, 1 to 1,000.
    func pushes(
      account: String, device: String, afterSequence sequence: Int64, limit: Int
    ) async throws(LedgerError) -> [Push]

    /// Returns the numbers of pushes in each state.
    func pushCounts() async throws(LedgerError) -> [Push.State: Int]

    /// Stores a phone's receipts for announcements that were pushed to it. The first receipt for an announcement is
    /// never replaced. A time in the future, from a clock that is ahead, is replaced by the present time.
    ///
    /// - Returns: The ids of the receipts whose announcements were not pushed to the device, or were pruned; nil if the
    ///   account has no such device.
    /// - Throws: ``LedgerError`` with `invalidValue` for more than ``mostReceipts``, or a time outside the calendar.
    func take(_ receipts: [Receipt], account: String, device: String) async throws(LedgerError) -> [String]?

    /// Returns whether an announcement with a clip was pushed to a device since its registration.
    func wasPushed(clip name: String, account: String, device: String) async throws(LedgerError) -> Bool
  }
}

extension Ledger.PushStore {
  /// Calls ``accept(_:account:under:)`` with `nil` for `under`.
  @discardableResult
  public func accept(_ pushes: [NewPush], account: String) async throws(LedgerError) -> [Int64] {
    try await accept(pushes, account: account, under: nil)
  }

  /// Calls ``unfinishedPushes(after:limit:)`` with `1000` for `limit`.
  public func unfinishedPushes(after number: Int64 = 0) async throws(LedgerError) -> [Ledger.UnfinishedPush] {
    try await unfinishedPushes(after: number, limit: 1000)
  }

  /// Calls ``startSending(_:under:)`` with `nil` for `under`.
  public func startSending(
    _ numbers: [Int64]
  ) async throws(LedgerError) -> [(push: Ledger.Push, token: String?)] {
    try await startSending(numbers, under: nil)
  }

  /// Calls ``finishPush(_:_:reason:under:)`` with `nil` for `under`.
  @discardableResult
  public func finishPush(
    _ number: Int64, _ state: Ledger.Push.State, reason: String? = nil
  ) async throws(LedgerError) -> Bool {
    try await finishPush(number, state, reason: reason, under: nil)
  }

  /// Calls ``expirePushes(_:under:)`` with `nil` for `under`.
  public func expirePushes(_ pushes: [(number: Int64, reason: String?)]) async throws(LedgerError) -> Set<Int64> {
    try await expirePushes(pushes, under: nil)
  }

  /// Calls ``postponePush(_:reason:under:)`` with `nil` for `under`.
  public func postponePush(_ number: Int64, reason: String?) async throws(LedgerError) {
    try await postponePush(number, reason: reason, under: nil)
  }
}
