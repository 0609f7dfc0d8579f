// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQLLedger

/// A connection prepares each statement, and soon keeps one plan for all values of its parameters. The tests look at these
/// plans, in a ledger where nearly everything has ended.
@Suite(
  "The plans by which PostgreSQL answers the ledger's queries", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct QueryPlanTests {
  @Test("a reader that continues after a number finds out from an index whether a table has a newer row")
  func newerRows() async throws {
    let plans = try await plans(SettledNumbers.Numbers.allCases.map { ($0.queryForNewer, "0") })
    for plan in plans { #expect(plan.contains("Backward using") && !plan.contains("Seq Scan"), "\(plan)") }
  }

  @Test("the query that ends an announcement or a push does not read the other unfinished ones")
  func ends() async throws {
    let plans = try await plans([
      (PostgreSQLLedger.lockingMembers, "1"), (PostgreSQLLedger.replayedNow, "1"),
      (PostgreSQLLedger.endingPushes, "'delivered', 1, '{1}', '{NULL}'"),
    ])
    #expect(plans[0].contains("using announcements_summarised"), "\(plans[0])")
    #expect(plans[2].contains("using pushes_pkey"), "\(plans[2])")
    for plan in plans { #expect(!plan.contains("unfinished"), "\(plan)") }
  }

  @Test("pruning finds its rows through an index, and continues after the rows that it has already removed")
  func pruning() async throws {
    let plans = try await plans([
      (PostgreSQLLedger.lockingEnded, "1, 200, 0"), (PostgreSQLLedger.pruningEvents, "1, 200, 0"),
      (Schema.deletion(of: "webhooks", key: "number", where: "finished_at < $1", order: "finished_at"), "1, 200, 0"),
    ])
    for plan in plans {
      #expect(plan.contains(">= $3)") && plan.contains("= ANY (") && !plan.contains("Seq Scan"), "\(plan)")
    }
  }

  @Test("disabled endpoints and the groups of keys are found without reading all endpoints and keys")
  func administration() async throws {
    let plans = try await plans([(PostgreSQLLedger.disabledEndpoints, ""), (PostgreSQLLedger.groupsOfKeys, "")])
    #expect(plans[0].contains("using webhook_endpoints_disabled"), "\(plans[0])")
    #expect(plans[1].contains("using keys_by_group") && !plans[1].contains("Seq Scan"), "\(plans[1])")
  }

  /// Returns the plans of statements in a ledger with 5,000 rows of each kind.
  ///
  /// - Parameter statements: Each with values for its parameters, with commas between them.
  private func plans(_ statements: [(sql: String, values: String)]) async throws -> [String] {
    let nodes = try await TwoNodes()
    let connection = try nodes.connect()
    let plans = try await connection.run(within: .seconds(120)) { session throws(PostgreSQLError) in
      try session.script(Self.rows)
      try session.execute("SET plan_cache_mode = force_generic_plan")
      var plans: [String] = []
      for (index, statement) in statements.enumerated() {
        try session.script("PREPARE s\(index) AS \(statement.sql)")
        let values = statement.values.isEmpty ? "" : "(\(statement.values))"
        var lines: [String] = []
        for row in try session.rows("EXPLAIN (COSTS OFF) EXECUTE s\(index)\(values)") {
          lines.append(try row.read("QUERY PLAN"))
        }
        plans.append(lines.joined(separator: "\n"))
      }
      return plans
    }
    await connection.close()
    return plans
  }

  private static let rows = """
    CREATE TABLE numbers AS SELECT n, 'shop-' || n AS account FROM generate_series(1, 5000) AS numbers (n);
    INSERT INTO announcements (account, id, lane, kind, category, payload, state, accepted_at, changed_at, finished_at)
      SELECT account, n, 'counter', 'request', 'payment', repeat('p', 200)::bytea, 'played', n, n, n FROM numbers;
    INSERT INTO pushes (number, apns_id, account, device, announcement, kind, app, environment, sequence, priority, body,
                        state, created_at, expires_at, finished_at)
      SELECT n, n, account, 'phone-1', n, 'alert', 'app', 'production', 1, 10, repeat('b', 800)::bytea, 'delivered', n, n,
        n FROM numbers;
    INSERT INTO keys (id, account, digest, scopes, created_at) SELECT n, account, sha256(n::text::bytea), 'read', n
      FROM numbers;
    INSERT INTO webhook_endpoints (id, account, url, secret, kinds, created_at)
      SELECT n, account, 'https://shop.example/' || n, 'secret', 'announcement.played', n FROM numbers;
    INSERT INTO webhooks (number, message_id, endpoint, kind, body, state, next_at, created_at, finished_at)
      SELECT n, n, number, 'announcement.played', repeat('b', 200)::bytea, 'delivered', n, n, n
      FROM numbers JOIN webhook_endpoints ON id = n::text;
    INSERT INTO library_changes (anchor, account, group_id, kind, name, sha256, bytes, change, at)
      SELECT n, account, 'group.shop', 'clip', n, sha256(n::text::bytea), 1, 'added', n FROM numbers;
    ANALYZE announcements, pushes, keys, webhook_endpoints, webhooks, library_changes;
    """
}
