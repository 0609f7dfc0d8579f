// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Ledger {
  /// Returns the names of the clips that unfinished announcements, unfinished pushes and some batches still need. The
  /// names are those of the answers, of the clips that wait to be played, and of the clips that phones will fetch. An
  /// unfinished replay needs the clips of its original, which it plays again.
  ///
  /// - Parameter batches: The ids of batches whose clips are needed, such as the unfinished ones.
  public func neededClips(ofBatches batches: [String]) async throws(LedgerError) -> Set<String> {
    try await read { database in
      var names = try String.fetchSet(
        database.cachedStatement(
          sql: """
            WITH needed AS (
              SELECT number FROM announcements WHERE finished_at IS NULL
              UNION
              SELECT replays.original FROM announcements JOIN replays USING (number)
              WHERE announcements.finished_at IS NULL AND replays.original IS NOT NULL
            )
            SELECT clip FROM needed JOIN announcements USING (number) WHERE clip IS NOT NULL
            UNION
            SELECT answers.clip FROM needed JOIN announcements USING (number) JOIN answers USING (account, id)
            WHERE answers.clip IS NOT NULL
            UNION
            SELECT clip FROM pushes WHERE finished_at IS NULL AND clip IS NOT NULL
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
