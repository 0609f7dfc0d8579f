// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func admitSignedRequest(
    _ signature: Data, keyID: String, signedAt: Int64, atMost most: Int64
  ) async throws(LedgerError) -> Ledger.SignedRequestOutcome {
    try await write(while: .admitting, cost: 150) { session in
      // The unique index of signatures admits a request once on all nodes: the insertion waits for another insertion of
      // the same signature, and for a transaction that forgets the signature. The newest forgotten time is therefore
      // read after the insertion. If it were read before, a copy of a request that is being forgotten could be admitted
      // again.
      let results = try session.pipeline { pipeline in
        pipeline.add(
          "INSERT INTO signed_requests (signature, key_id, signed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          [.bytes(signature), .string(keyID), .int64(signedAt)])
        pipeline.add("SELECT signed_at FROM forgotten_signed_requests")
        pipeline.add(
          "SELECT coalesce(sum(count), 0)::bigint AS count FROM signed_request_counts WHERE key_id = $1",
          [.string(keyID)])
      }
      let isNew = results[0].affected == 1
      let forgotten: Int64? = try results[1].first?.read("signed_at")
      guard let row = results[2].first else { throw UnreadableRow() }
      let count: Int64 = try row.read("count")
      let refusal: Ledger.SignedRequestOutcome? =
        if let forgotten, signedAt <= forgotten { .forgotten } else if !isNew { .replayed } else if count >= most {
          .tooMany
        } else { nil }
      if let refusal {
        if isNew { try session.execute("DELETE FROM signed_requests WHERE signature = $1", [.bytes(signature)]) }
        return refusal
      }
      // Requests that are admitted at the same moment do not see each other's counts, so a key may exceed its limit by as
      // many requests as there are connections.
      try session.execute(
        """
        INSERT INTO signed_request_counts (key_id, shard, count) VALUES ($1, \(Schema.shard), 1)
        ON CONFLICT (key_id, shard) DO UPDATE SET count = signed_request_counts.count + 1
        """, [.string(keyID)])
      return .admitted
    }
  }

  @discardableResult
  public func forgetSignedRequests(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { session in
      // If two nodes forget requests at once, each node forgets different requests, and notes the time of the requests
      // that it forgets.
      let rows = try session.rows(
        """
        WITH forgotten AS (
          DELETE FROM signed_requests WHERE signature = ANY(ARRAY(
            SELECT signature FROM signed_requests WHERE signed_at < $1 ORDER BY signed_at LIMIT 1000
            FOR UPDATE SKIP LOCKED))
          RETURNING key_id, signed_at
        )
        SELECT key_id, count(*) AS count, max(signed_at) AS newest FROM forgotten GROUP BY key_id ORDER BY key_id
        """, [.int64(moment)])
      guard !rows.isEmpty else { return 0 }
      var (keys, counts): ([String], [Int64]) = ([], [])
      var newest = Int64.min
      for row in rows {
        keys.append(try row.read("key_id"))
        counts.append(try row.read("count"))
        newest = max(newest, try row.read("newest"))
      }
      try session.execute(
        """
        INSERT INTO signed_request_counts (key_id, shard, count)
        SELECT key_id, \(Schema.shard), -count FROM unnest($1::text[], $2::bigint[]) AS forgotten (key_id, count)
        ORDER BY key_id COLLATE "C"
        ON CONFLICT (key_id, shard) DO UPDATE SET count = signed_request_counts.count + excluded.count
        """, [.strings(keys), .int64s(counts)])
      try session.execute(
        """
        INSERT INTO forgotten_signed_requests (only_row, signed_at) VALUES (1, $1)
        ON CONFLICT (only_row) DO UPDATE
          SET signed_at = greatest(forgotten_signed_requests.signed_at, excluded.signed_at)
        """, [.int64(newest)])
      return Int(counts.reduce(0, +))
    }
  }
}

extension Schema {
  /// The expression for the shard of this connection, in tables of counts. A connection has one transaction at a time, so
  /// transactions on 16 connections hardly ever wait for each other's counts.
  static let shard = "pg_backend_pid() % 16"
}
