// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import TestSupport

/// Returns the error of a call; nil if it does not throw.
func failure<Value>(_ call: () async throws(PostgreSQLError) -> Value) async -> PostgreSQLError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}

extension PostgreSQLConnection {
  /// Lets the connection try to connect, and waits until it has failed. Later calls with a short time limit then end
  /// with the reason, however busy the machine is.
  func waitForFailedAttempt() async throws {
    let call = Task {
      try await run(within: .seconds(3_600)) { session throws(PostgreSQLError) in try session.execute("SELECT 1") }
    }
    try await eventually("an attempt to connect fails") { state == .waiting }
    call.cancel()
    _ = await call.result
  }
}
