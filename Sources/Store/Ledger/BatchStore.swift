// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The clips that batches and other accounts need. Each call is one whole transaction.
  public protocol BatchStore: Sendable {
    /// The batches themselves; nil for a ledger in a file, whose service stores its batches in files beside it.
    var sharedBatches: (any SharedBatchStore)? { get }

    /// Records that clips belong to a batch of an account. The records are durable when the call returns. A clip that
    /// is in several batches of the account belongs to the batch that was recorded last.
    ///
    /// - Parameters:
    ///   - names: At most 1,000 clip names; see ``PublishedClip/name``.
    ///   - batch: The batch's id, 1 to 255 bytes of UTF-8 without a zero byte.
    ///   - files: The files of the clips, which are recorded in the library. A clip without a file is not recorded there.
    /// - Throws: ``LedgerError`` with `invalidValue`, `waitingListFull`, `diskFull`, `busy` or a file error. Nothing
    ///   was recorded then.
    func note(
      clips names: [String], ofBatch batch: String, account: String, files: [LibrarySound]
    ) async throws(LedgerError)

    /// Removes the records of a batch's clips. The removal is durable when the call returns. It runs in small
    /// transactions, so that other writes hardly wait.
    func forgetClips(ofBatch batch: String) async throws(LedgerError)

    /// Returns the names of the clips that unfinished announcements, unfinished pushes and some batches still need.
    /// These are the clips of the answers, the clips that wait to be played, and the clips that phones will fetch. An
    /// unfinished replay needs the clips of its original, which it plays again.
    ///
    /// - Parameters:
    ///   - batches: The ids of batches whose clips are needed, such as the unfinished ones.
    ///   - candidates: The clips that the caller asks about; nil for all clips. For a few clips, the time of the call
    ///     does not depend on the sizes of the batches.
    /// - Throws: ``LedgerError``.
    func neededClips(ofBatches batches: [String], among candidates: [String]?) async throws(LedgerError) -> Set<String>

    /// Returns what a clip can be made from: of a few announcements that have it, those whose payloads the ledger has. The
    /// result is empty if the last announcement with the clip was removed.
    func clipSources(_ name: String) async throws(LedgerError) -> [ClipSource]

    /// Returns whether another account has an announcement with a clip, has pushed it, or made the clip in a batch. The
    /// call skips the account's own rows, so their number does not slow it down.
    func isClipOfOthers(_ name: String, than account: String) async throws(LedgerError) -> Bool
  }
}
