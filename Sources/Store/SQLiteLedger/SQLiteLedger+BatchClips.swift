// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public var sharedBatches: (any Ledger.SharedBatchStore)? { nil }

  public func note(
    clips names: [String], ofBatch batch: String, account: String, files: [LibrarySound]
  ) async throws(LedgerError) {
    try refuse(Ledger.brokenRule(ofClips: names, batch: batch, account: account, files: files), while: .notingClips)
    try await write(while: .notingClips, cost: 256 * (names.count + 1)) { [self] database in
      try checkSize(in: database)
      let statement = try database.cachedStatement(
        sql: """
          INSERT INTO batch_clips (clip, account, batch) VALUES (?, ?, ?)
          ON CONFLICT (clip, account) DO UPDATE SET batch = excluded.batch
          """)
      for name in names { try statement.execute(arguments: [name, account, batch]) }
      for clip in files { try record(clip, account: account, in: database) }
    }
  }

  public func forgetClips(ofBatch batch: String) async throws(LedgerError) {
    if batch.hasZero { return }
    _ = try await repeatWhilePruning { database in
      try database.cachedStatement(
        sql: """
          DELETE FROM batch_clips WHERE (clip, account) IN (
            SELECT clip, account FROM batch_clips WHERE batch = ? LIMIT 200)
          """
      ).execute(arguments: [batch])
      return database.changesCount
    }
  }
}
