// SPDX-License-Identifier: Apache-2.0

public import Ledger

// The file belongs to one machine, so there are no nodes.
extension SQLiteLedger {
  public var nodeID: String? { nil }

  public func noteNode(_ fingerprints: [Ledger.SharedThing: String]?) async throws(LedgerError) {}

  public func nodes() async throws(LedgerError) -> [Ledger.Node] { [] }
}
