// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// Notes that clips are in an account's batch; durable when it returns. A clip that is in several batches of the account
  /// is the one's that was noted last.
  ///
  /// - Parameters:
  ///   - names: at most 1,000, each as ``PublishedClip/name``.
  ///   - batch: its id, 1 to 255 bytes of UTF-8, none of them 0.
  /// - Throws: ``LedgerError`` with `invalidValue`, `waitingListFull`, `diskFull`, `busy` or a fault of the file; nothing
  ///   was noted then.
  public func note(clips names: [String], ofBatch batch: String, account: String) async throws(LedgerError) {
    let texts = names + [batch]
    let isStorable = texts.allSatisfy { (1...255).contains($0.utf8.count) && !$0.hasZero }
    guard names.count <= 1000, isStorable, account.utf8.count <= 255, !account.hasZero else {
      throw LedgerError(
        .invalidValue, while: .notingClips, in: file, field: "clips (at most 1000 names of 1 to 255 bytes)")
    }
    try await write(while: .notingClips, cost: 256 * texts.count) { [self] database in
      try checkRoom(in: database)
      let statement = try database.cachedStatement(
        sql: """
          INSERT INTO batch_clips (clip, account, batch) VALUES (?, ?, ?)
          ON CONFLICT (clip, account) DO UPDATE SET batch = excluded.batch
          """)
      for name in names { try statement.execute(arguments: [name, account, batch]) }
    }
  }

  /// Forgets which clips are in a batch; durable when it returns. It is done in small transactions, so that others hardly
  /// wait.
  public func forgetClips(ofBatch batch: String) async throws(LedgerError) {
    if batch.hasZero { return }
    var count: Int
    repeat {
      count = try await write(while: .pruning) { database in
        try database.cachedStatement(
          sql: """
            DELETE FROM batch_clips WHERE (clip, account) IN (
              SELECT clip, account FROM batch_clips WHERE batch = ? LIMIT 200)
            """
        ).execute(arguments: [batch])
        return database.changesCount
      }
    } while count > 0
  }
}
