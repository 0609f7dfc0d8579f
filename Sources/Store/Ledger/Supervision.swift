// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The checks that find out whether an open ledger can still be used.
  public protocol Supervision: Sendable {
    /// Whether opening the ledger checked all of it, or its database checks itself. ``checkIntegrity()`` need not be
    /// called then.
    var wasCheckedAtOpening: Bool { get }

    /// Checks that the ledger's files are still the ones that were opened, and that they are whole. If they are not,
    /// nothing more is read or written, and ``damageFound()`` returns. The ledger also checks this before and after
    /// each commit. For a ledger without files of its own, the call does nothing.
    func checkFiles() async

    /// Reads and checks everything that the ledger stores while it is in use. Other calls do not wait for the check.
    ///
    /// When the check or any other call finds damage, this call ends, nothing more is written, and every later call
    /// fails with `damaged`.
    ///
    /// - Returns: Nil if the task was cancelled. The check then ends at once.
    /// - Throws: ``LedgerError``, with `damaged` if the ledger is damaged.
    @discardableResult
    func checkIntegrity() async throws(LedgerError) -> IntegrityReport?

    /// Waits until ``checkIntegrity()`` or any other call finds that the ledger is damaged, or that one of its files
    /// was removed, replaced or cut.
    ///
    /// - Returns: The error with which all calls fail from then on; nil if the task was cancelled.
    func damageFound() async -> LedgerError?
  }
}
