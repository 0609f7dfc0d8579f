// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Ledger

extension SQLiteLedger {
  public func clipSources(_ name: String) async throws(LedgerError) -> [ClipSource] {
    if name.hasZero || name.isEmpty { return [] }
    let sources: [ClipSource?] = try await read { database in
      try database.cachedStatement(sql: Self.sourcesOfClip).all([name, ClipSource.most]) { try ClipSource(row: $0) }
    }
    return sources.compactMap(\.self).withoutRepetitions
  }

  // Each part reads a few rows of an index that begins with the clip. Those of phones come last, because most of them have
  // the clip of the answer.
  static let sourcesOfClip = """
    WITH named AS (
      SELECT * FROM (SELECT account, id, NULL AS locale FROM answers WHERE clip = ?1 LIMIT ?2)
      UNION ALL
      SELECT * FROM (SELECT account, id, NULL FROM announcements
                     WHERE clip = ?1 AND kind = 'request' AND NOT replay LIMIT ?2)
      UNION ALL
      SELECT * FROM (SELECT pushes.account, pushes.announcement, devices.locale FROM pushes
                     LEFT JOIN devices ON devices.account = pushes.account AND devices.id = pushes.device
                     WHERE pushes.clip = ?1 AND pushes.announcement IS NOT NULL LIMIT ?2)
    )
    SELECT named.account, coalesce(played.payload, answered.source) AS payload,
      coalesce(played.default_pack, answered.source_pack) AS default_pack,
      CASE WHEN decisions.clip = ?1 THEN decisions.locale ELSE coalesce(named.locale, decisions.locale) END AS locale,
      decisions.clip = ?1 AS decided, CASE WHEN decisions.pack_digest IS NOT NULL THEN decisions.voice END AS pack
    FROM named JOIN decisions ON decisions.account = named.account AND decisions.id = named.id
    LEFT JOIN announcements AS played
      ON played.account = named.account AND played.id = named.id AND played.kind = 'request' AND NOT played.replay
    LEFT JOIN answers AS answered ON answered.rowid = (
      SELECT rowid FROM answers AS own
      WHERE own.account = named.account AND own.id = named.id AND source IS NOT NULL ORDER BY rowid LIMIT 1)
    """

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
