// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// Returns the names of the clips that unfinished announcements and some batches still need. The names are those of
  /// the answers and of the clips that wait to be played.
  ///
  /// - Parameter batches: The ids of batches whose clips are needed, such as the unfinished ones.
  public func neededClips(ofBatches batches: [String]) async throws(LedgerError) -> Set<String> {
    try await read { database in
      var names = try String.fetchSet(
        database.cachedStatement(
          sql: """
            SELECT clip FROM announcements WHERE finished_at IS NULL AND clip IS NOT NULL
            UNION
            SELECT answers.clip FROM announcements JOIN answers USING (account, id)
            WHERE announcements.finished_at IS NULL AND answers.clip IS NOT NULL
            """))
      for batch in batches where !batch.hasZero {
        names.formUnion(
          try String.fetchSet(
            database.cachedStatement(sql: "SELECT clip FROM batch_clips WHERE batch = ?"), arguments: [batch]))
      }
      return names
    }
  }
}
