// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The batches of a ledger that several nodes use: their lists, their progress and their results. Each call is one
  /// whole transaction.
  ///
  /// One node at a time works on a batch, under a seat. If it loses the seat, its writes fail with ``LedgerError``
  /// `leaseLost`, and change nothing. The next node begins with the rows that have no stored result.
  public protocol SharedBatchStore: Sendable {
    /// Returns whether an account may send another batch.
    func admission(ofAccount account: String, _ limits: BatchLimits) async throws(LedgerError) -> BatchAdmission

    /// Stores a batch with its list, unless a limit is reached. Two nodes that call this at once do not exceed a limit.
    ///
    /// - Parameters:
    ///   - list: At most 16 MiB.
    ///   - limits: nil for no limits. If the ledger has a batch with the id already, nothing is changed.
    /// - Throws: ``LedgerError`` with `invalidValue`, or an error of the database. Nothing was stored then.
    func accept(
      _ batch: NewBatch, list: Data, _ limits: BatchLimits?
    ) async throws(LedgerError) -> BatchAdmission

    /// Returns a batch; nil if the account has none with this id.
    func batch(_ id: String, account: String) async throws(LedgerError) -> StoredBatch?

    /// Returns the batches of an account, newest first.
    ///
    /// - Parameter limit: The maximum number of batches, 1 to 1,000.
    func batches(account: String, limit: Int) async throws(LedgerError) -> [StoredBatch]

    /// Returns the unfinished batches of all accounts, oldest first.
    func unfinishedBatches() async throws(LedgerError) -> [StoredBatch]

    /// Takes the right to work on a batch, and counts the start.
    ///
    /// - Returns: nil if another node works on the batch, or if there is no unfinished batch with this id.
    func takeSeat(ofBatch id: String) async throws(LedgerError) -> BatchSeat?

    /// Returns a piece of a batch's list.
    ///
    /// - Parameter number: The place of the piece, counted from 0.
    /// - Returns: At most 1 MiB; nil behind the last piece.
    func listPiece(_ number: Int, ofBatch id: String) async throws(LedgerError) -> Data?

    /// Returns the numbers of the rows whose results are stored, of at most 100 pieces.
    ///
    /// - Parameter number: The place of the first piece.
    /// - Returns: The numbers of each piece; an empty list behind the last piece.
    func storedRows(fromPiece number: Int, ofBatch id: String) async throws(LedgerError) -> [[Int64]]

    /// Stores the progress of a batch.
    ///
    /// - Parameters:
    ///   - piece: The next lines of the result; nil if there are none. A piece that is stored already does not change.
    ///   - status: The status after these lines; at most 64 KiB.
    /// - Returns: Whether the batch was cancelled.
    func store(_ piece: BatchPiece?, status: Data, under seat: BatchSeat) async throws(LedgerError) -> Bool

    /// Ends a batch. If it was cancelled before, its state is `cancelled`.
    ///
    /// - Parameter state: A final state.
    func end(_ state: StoredBatch.State, status: Data, under seat: BatchSeat) async throws(LedgerError)

    /// Records that a service stops the work on a batch in order, so that its starts do not count.
    func stop(under seat: BatchSeat) async throws(LedgerError)

    /// Cancels a batch.
    func cancel(batch id: String, account: String) async throws(LedgerError) -> BatchCancellation

    /// Returns the number of pieces that the result of a batch has.
    func pieceCount(ofBatch id: String) async throws(LedgerError) -> Int

    /// Returns the lines of a piece of a batch's result; nil if there is no such piece.
    func resultPiece(_ number: Int, ofBatch id: String) async throws(LedgerError) -> Data?

    /// Returns the ids of batches that ended before a moment, oldest first, at most 1,000.
    func batches(endedBefore moment: Date) async throws(LedgerError) -> [String]

    /// Removes a batch that has ended, with its list and its result.
    func remove(batch id: String) async throws(LedgerError)
  }
}
