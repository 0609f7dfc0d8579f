// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The result of a check that found no damage.
  public struct IntegrityReport: Sendable, Hashable {
    /// The size of the ledger's file without its log, in bytes.
    public var byteCount: Int
    /// The time that the check took.
    public var duration: Duration
    /// Whether the file was checked table by table, because so much was written that the log grew too long.
    public var isByTable: Bool

    package init(byteCount: Int, duration: Duration, isByTable: Bool) {
      self.byteCount = byteCount
      self.duration = duration
      self.isByTable = isByTable
    }
  }
}
