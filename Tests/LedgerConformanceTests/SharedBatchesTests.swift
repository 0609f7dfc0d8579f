// SPDX-License-Identifier: Apache-2.0

import Ledger
import LedgerTestSupport
import Testing

@Suite("Batches in ledgers", .removesLedgers, .timeLimit(.minutes(5)))
struct SharedBatchesTests {
  @Test("only a ledger that several machines use stores batches", arguments: LedgerUnderTest.all)
  func stores(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect((ledger.sharedBatches != nil) == (ledger.nodeID != nil))
  }
}
