// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The removal of what is no longer needed.
  public protocol PruningStore: Sendable {
    /// Removes the oldest answers that were stored before a moment, in one transaction. Call it again as long as it
    /// returns `limit`.
    ///
    /// - Parameters:
    ///   - moment: A time at least ``answerLifetime`` ago. With a later time, a retry of a request counts as a new
    ///     request.
    ///   - limit: The maximum number of answers to remove, 1 to 1,000.
    /// - Returns: The number of removed answers.
    @discardableResult
    func pruneAnswers(before moment: Date, limit: Int) async throws(LedgerError) -> Int

    /// Removes announcements that ended before a moment, and older events and commands, and returns the freed space to
    /// the disk. Of the ended pushes that announce nothing, it keeps only the latest ``Limits/mostEndedSilentPushes``.
    /// Unfinished announcements stay, however old they are. The log of administration is kept for at least
    /// ``administrationRetention``.
    ///
    /// The ledger forgets an announcement's id together with the announcement, so a later request with that id is a new
    /// announcement. Keep announcements for longer than any client repeats a request. The call works in small
    /// transactions, so that acceptances hardly wait. When the call throws, rows that were already removed stay
    /// removed.
    @discardableResult
    func prune(finishedBefore moment: Date) async throws(LedgerError) -> Pruned
  }
}

extension Ledger.PruningStore {
  /// Calls ``pruneAnswers(before:limit:)`` with `200` for `limit`.
  @discardableResult
  public func pruneAnswers(before moment: Date) async throws(LedgerError) -> Int {
    try await pruneAnswers(before: moment, limit: 200)
  }
}
