// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func note(
    clips names: [String], ofBatch batch: String, account: String, files: [LibrarySound]
  ) async throws(LedgerError) {
    try refuse(Ledger.brokenRule(ofClips: names, batch: batch, account: account, files: files), while: .notingClips)
    try await write(while: .notingClips, cost: 256 * (names.count + 1)) { [self] session in
      // Batches of an account may have the same clips, so the rows are inserted in one order.
      try session.execute(
        """
        INSERT INTO batch_clips (clip, account, batch)
        SELECT clip, $2, $3 FROM unnest($1::text[]) AS new (clip) GROUP BY clip ORDER BY clip COLLATE "C"
        ON CONFLICT (clip, account) DO UPDATE SET batch = excluded.batch
        """, [.strings(names), .string(account), .string(batch)])
      try record(files.map { ($0, account) }, in: session)
    }
  }

  public func forgetClips(ofBatch batch: String) async throws(LedgerError) {
    if batch.hasZero { return }
    _ = try await repeatWhilePruning { session in
      // A clip that another batch takes over at this moment is not removed: after the wait, its row has the other batch.
      try session.execute(
        """
        WITH gone AS MATERIALIZED (
          SELECT clip, account FROM batch_clips WHERE batch = $1 ORDER BY clip, account LIMIT 200 FOR UPDATE)
        DELETE FROM batch_clips USING gone
        WHERE batch_clips.clip = gone.clip AND batch_clips.account = gone.account AND batch = $1
        """, [.string(batch)])
    }
  }

  public func neededClips(
    ofBatches batches: [String], among candidates: [String]?
  ) async throws(LedgerError) -> Set<String> {
    let batches = batches.filter { !$0.hasZero }
    return try await readTogether(isLong: true) { session in
      // The clips that are still needed, apart from the clips of batches.
      var names = Set(
        try session.all(
          """
          WITH needed AS MATERIALIZED (
            SELECT number FROM announcements WHERE finished_at IS NULL
            UNION
            SELECT replays.original FROM announcements JOIN replays USING (number)
            WHERE announcements.finished_at IS NULL AND replays.original IS NOT NULL
          )
          SELECT clip FROM needed JOIN announcements USING (number) WHERE clip IS NOT NULL
          UNION
          SELECT answers.clip FROM needed JOIN announcements USING (number)
          JOIN answers ON answers.account = announcements.account AND answers.id = announcements.id
          WHERE answers.clip IS NOT NULL
          UNION
          SELECT clip FROM pushes WHERE finished_at IS NULL AND clip IS NOT NULL
          """
        ) { row in try row.read("clip", as: String.self) })
      guard let candidates else {
        names.formUnion(
          try session.all("SELECT DISTINCT clip FROM batch_clips WHERE batch = ANY($1)", [.strings(batches)]) { row in
            try row.read("clip", as: String.self)
          })
        return names
      }
      names.formIntersection(candidates)
      if batches.isEmpty { return names }
      names.formUnion(
        try session.all(
          "SELECT DISTINCT clip FROM batch_clips WHERE clip = ANY($1) AND batch = ANY($2)",
          [.strings(candidates.filter { !$0.hasZero }), .strings(batches)]
        ) { row in try row.read("clip", as: String.self) })
      return names
    }
  }

  public func wasPushed(clip name: String, account: String, device: String) async throws(LedgerError) -> Bool {
    if account.hasZero || device.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { session in
      try session.value(
        """
        SELECT EXISTS (
          SELECT 1 FROM pushes JOIN devices ON devices.account = pushes.account AND devices.id = pushes.device
          WHERE clip = $1 AND pushes.account = $2 AND device = $3 AND sequence > first_sequence) AS value
        """, [.string(name), .string(account), .string(device)]) ?? false
    }
  }

  public func clipSources(_ name: String) async throws(LedgerError) -> [ClipSource] {
    if name.hasZero || name.isEmpty { return [] }
    let sources: [ClipSource?] = try await read { session in
      try session.all(Self.sourcesOfClip, [.string(name), .int64(Int64(ClipSource.most))]) { try ClipSource(row: $0) }
    }
    return sources.compactMap(\.self).withoutRepetitions
  }

  // Each part reads a few rows of an index that begins with the clip. Those of phones come last, because most of them have
  // the clip of the answer.
  static let sourcesOfClip = """
    WITH named AS (
      (SELECT account, id, NULL AS locale FROM answers WHERE clip = $1 LIMIT $2)
      UNION ALL
      (SELECT account, id, NULL FROM announcements WHERE clip = $1 AND kind = 'request' AND NOT replay LIMIT $2)
      UNION ALL
      (SELECT pushes.account, pushes.announcement, devices.locale FROM pushes
       LEFT JOIN devices ON devices.account = pushes.account AND devices.id = pushes.device
       WHERE pushes.clip = $1 AND pushes.announcement IS NOT NULL LIMIT $2)
    )
    SELECT named.account, coalesce(played.payload, answered.source) AS payload,
      coalesce(played.default_pack, answered.source_pack) AS default_pack,
      CASE WHEN decisions.clip = $1 THEN decisions.locale ELSE coalesce(named.locale, decisions.locale) END AS locale,
      (decisions.clip = $1)::int::bigint AS decided,
      CASE WHEN decisions.pack_digest IS NOT NULL THEN decisions.voice END AS pack
    FROM named JOIN decisions ON decisions.account = named.account AND decisions.id = named.id
    LEFT JOIN announcements AS played
      ON played.account = named.account AND played.id = named.id AND played.kind = 'request' AND NOT played.replay
    LEFT JOIN LATERAL (
      SELECT source, source_pack FROM answers AS own
      WHERE own.account = named.account AND own.id = named.id AND source IS NOT NULL ORDER BY number LIMIT 1
    ) AS answered ON true
    """

  public func isClipOfOthers(_ name: String, than account: String) async throws(LedgerError) -> Bool {
    if account.hasZero || name.hasZero || name.isEmpty { return false }
    return try await read { session in
      // These are eight look-ups, two in each of the four indexes: one for an account before the given account, and one
      // for an account after it. The time does not depend on the number of the account's own rows.
      try session.value(
        "SELECT \(Self.lookUps(["<", ">"], clip: "$1", account: "$2")) AS value", [.string(name), .string(account)])
        ?? false
    }
  }

  /// Returns a condition that looks up a clip in the answers, batches, pushes and announcements of an account.
  ///
  /// - Parameters:
  ///   - comparisons: How the accounts that are looked for compare with the given account.
  ///   - clip: The expression for the clip's name.
  ///   - account: The expression for the account.
  static func lookUps(_ comparisons: [String], clip: String, account: String) -> String {
    let tables = [
      ("answers", ""), ("batch_clips", ""), ("pushes", ""),
      // This condition must be the same as the index's own condition.
      ("announcements", " AND kind = 'request' AND NOT replay"),
    ]
    let conditions = tables.flatMap { table, condition in
      comparisons.map { comparison in
        """
        EXISTS (SELECT 1 FROM \(table) WHERE \(table).clip = \(clip) AND \(table).account \(comparison) \(account)\
        \(condition))
        """
      }
    }
    return conditions.joined(separator: " OR ")
  }
}
