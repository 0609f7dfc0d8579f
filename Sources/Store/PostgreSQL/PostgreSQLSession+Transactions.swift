// SPDX-License-Identifier: Apache-2.0

/// How far a transaction is separated from others ("Transaction Isolation" in the manual of PostgreSQL).
public enum PostgreSQLIsolation: String, Sendable, Hashable, CaseIterable {
  /// Each statement sees what was committed before it began.
  case readCommitted = "READ COMMITTED"
  /// All statements see what was committed before the first one began.
  case repeatableRead = "REPEATABLE READ"
  /// The result is the same as if the transactions ran one after another.
  case serializable = "SERIALIZABLE"
}

/// The decision whether a transaction is committed.
public enum PostgreSQLDecision<Value: Sendable>: Sendable {
  /// The changes are stored, and the value is returned.
  case commit(Value)
  /// Nothing is stored, and the value is returned.
  case rollBack(Value)
}

extension PostgreSQLSession {
  /// Runs work in a transaction. If the work throws, nothing is stored.
  ///
  /// When the call returns, the server has confirmed the commit. If other transactions were in the way (a deadlock, or
  /// a failed serialization), the work is run again from its start. It should therefore do nothing but run statements.
  ///
  /// - Parameters:
  ///   - isolation: How far the transaction is separated from others.
  ///   - attempts: The largest number of times that the work is run.
  /// - Throws: The error of the work; ``PostgreSQLError`` with `conflict` after the last attempt, and with
  ///   `outcomeUnknown` if the connection broke while the commit was under way.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ isolation: PostgreSQLIsolation = .readCommitted, attempts: Int = 5,
    _ work: (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) throws(PostgreSQLError) -> Value {
    try decidedTransaction(isolation, attempts: attempts) { session throws(PostgreSQLError) in
      .commit(try work(session))
    }
  }

  /// Runs work in a transaction, as ``transaction(_:attempts:_:)`` does. The work decides whether it is stored.
  @discardableResult
  public func decidedTransaction<Value: Sendable>(
    _ isolation: PostgreSQLIsolation = .readCommitted, attempts: Int = 5,
    _ work: (borrowing PostgreSQLSession) throws(PostgreSQLError) -> PostgreSQLDecision<Value>
  ) throws(PostgreSQLError) -> Value {
    guard !wire.isInTransaction else {
      throw PostgreSQLError(
        .invalidUse, while: .runningStatement, server: wire.server, subject: "a transaction is open already")
    }
    var backOff = PostgreSQLBackOff(first: .milliseconds(10), longest: .milliseconds(200))
    var generator = SystemRandomNumberGenerator()
    while true {
      do {
        return try attempt(isolation, work)
      } catch {
        guard error.isConflict, wire.isUsable else { throw error }
        let pause = backOff.failed(using: &generator)
        guard backOff.failures < attempts else { throw error }
        wire.pause(pause, unlessEnded: control)
      }
    }
  }

  private func attempt<Value: Sendable>(
    _ isolation: PostgreSQLIsolation,
    _ work: (borrowing PostgreSQLSession) throws(PostgreSQLError) -> PostgreSQLDecision<Value>
  ) throws(PostgreSQLError) -> Value {
    wire.failure = nil
    _ = try wire.run(
      [Statement(sql: "BEGIN ISOLATION LEVEL \(isolation.rawValue)")],
      for: Wire.Purpose(control: control, mayCommit: false, patience: patience))
    let value: Value
    do throws(PostgreSQLError) {
      switch try work(self) {
      case .commit(let result): value = result
      case .rollBack(let result):
        wire.rollBack(within: patience)
        return result
      }
      try requireOpenTransaction()
    } catch {
      wire.rollBack(within: patience)
      // The server rolls back by itself when the connection breaks, so this error is right: nothing was stored.
      throw error
    }
    do throws(PostgreSQLError) {
      _ = try wire.run(
        [Statement(sql: "COMMIT")],
        for: Wire.Purpose(control: control, action: .committing, mayCommit: true, patience: patience))
    } catch {
      // The deadline or a cancellation may have ended the work just before the commit was sent.
      wire.rollBack(within: patience)
      throw error
    }
    return value
  }

  /// Makes sure that a commit stores what the work did. PostgreSQL answers the commit of a failed transaction with a
  /// rollback, which is not an error.
  private func requireOpenTransaction() throws(PostgreSQLError) {
    guard wire.isUsable else { throw PostgreSQLError(.connectionLost, while: .committing, server: wire.server) }
    // The work went on after an error of a statement.
    if wire.hasFailed, let failure = wire.failure { throw failure }
    guard wire.isInTransaction, !wire.hasFailed else {
      throw PostgreSQLError(
        .invalidUse, while: .committing, server: wire.server, subject: "the work itself ended its transaction")
    }
  }
}

extension Wire {
  /// Rolls back the open transaction, if there is one. If the server does not answer in time, the connection is closed,
  /// and the server rolls back when it notices that. The call blocks.
  func rollBack(within patience: Duration) {
    guard isInTransaction else { return }
    do {
      _ = try run([Statement(sql: "ROLLBACK")], for: Purpose(control: nil, mayCommit: false, patience: patience))
    } catch {
      close()
    }
    failure = nil
  }

  /// Waits for a time, unless the work ends before. The call blocks.
  func pause(_ time: Duration, unlessEnded control: JobControl) {
    let end = min(ContinuousClock.now + time, control.deadline)
    while ContinuousClock.now < end, control.ended == nil { _ = wake.wait(for: nil, until: end) }
  }
}
