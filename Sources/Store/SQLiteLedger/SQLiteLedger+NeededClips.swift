// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func neededClips(ofBatches batches: [String], among candidates: [String]?) async throws(LedgerError) -> Set<
    String
  > {
    try await read(isLong: true) { database in
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
      guard let candidates else {
        for batch in batches where !batch.hasZero {
          names.formUnion(
            try String.fetchSet(
              database.cachedStatement(sql: "SELECT clip FROM batch_clips WHERE batch = ?"), arguments: [batch]))
        }
        return names
      }
      names.formIntersection(candidates)
      let wanted = Set(batches)
      let batchesOfClip = try database.cachedStatement(sql: "SELECT batch FROM batch_clips WHERE clip = ?")
      for name in candidates where !name.hasZero && !wanted.isEmpty {
        if try !String.fetchSet(batchesOfClip, arguments: [name]).isDisjoint(with: wanted) { names.insert(name) }
      }
      return names
    }
  }
}
