// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// The locks that have no row in a table. A transaction keeps them until it ends, so that the check of a limit and the
/// row that is added after it are not separated by another node.
///
/// Two names may have the same hash. Their transactions then only wait for each other.
enum AdvisoryLock: Int64 {
  /// The devices of an account, their tokens, and the containers that they show.
  case devices = 1
  /// The webhook endpoints of an account.
  case webhookEndpoints = 2
  /// The packs or the tones of the library.
  case libraryFiles = 3
  /// The holder of a lease. Transactions that write under the lease share the lock.
  case leases = 4
  /// The number of unfinished batches.
  case batches = 5
}

extension PostgreSQLSession {
  /// Waits for a lock. Later statements see the changes of the transactions that held the lock before.
  func lock(_ lock: AdvisoryLock, _ name: String) throws(PostgreSQLError) {
    try execute("SELECT pg_advisory_xact_lock($1::int, hashtext($2))", [.int64(lock.rawValue), .string(name)])
  }
}

extension PostgreSQLPipeline {
  /// Waits until no transaction holds a lock exclusively. Later statements see the changes of such a transaction.
  mutating func share(_ lock: AdvisoryLock, _ name: String) {
    add("SELECT pg_advisory_xact_lock_shared($1::int, hashtext($2))", [.int64(lock.rawValue), .string(name)])
  }
}
