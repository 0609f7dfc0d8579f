// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A pause that somebody ordered on a lane.
  public struct Pause: Sendable, Hashable {
    /// The time since which the lane is paused.
    public var since: Date
    /// The name of the key, or the command, that paused the lane.
    public var by: String?
    /// The account of the key; nil for a command on this machine.
    public var account: String?

    public init(since: Date, by: String? = nil, account: String? = nil) {
      (self.since, self.by, self.account) = (since, by, account)
    }
  }
}

extension Ledger.Pause {
  package init(row: some StoredRow) throws {
    self.init(since: try row.value("since"), by: try row.optional("paused_by"), account: try row.optional("account"))
  }
}
