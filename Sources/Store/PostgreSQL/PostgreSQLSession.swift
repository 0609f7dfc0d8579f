// SPDX-License-Identifier: Apache-2.0

/// The use of a connection during one piece of work. It cannot be copied, so it cannot outlive the work.
///
/// All calls block the connection's own thread, and end with the deadline or the cancellation of the work. Statements
/// outside of ``transaction(_:attempts:_:)`` are stored one by one.
public struct PostgreSQLSession: ~Copyable {
  let wire: Wire
  let control: JobControl
  /// The time to wait for an answer after a cancellation.
  let patience: Duration

  /// Runs a statement.
  ///
  /// - Parameters:
  ///   - sql: One statement, with `$1`, `$2` and so on for its parameters. It is prepared once for each connection, so
  ///     it should not contain values.
  ///   - values: The parameters.
  /// - Returns: The number of rows that were inserted, updated, deleted or returned.
  /// - Throws: ``PostgreSQLError``.
  @discardableResult
  public func execute(_ sql: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> Int {
    try rows(sql, values).affected
  }

  /// Runs a statement, as ``execute(_:_:)`` does, and returns its rows.
  public func rows(_ sql: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> PostgreSQLRows {
    let rows = try wire.run([Statement(sql: sql, values: values)], for: purpose())
    guard let first = rows.first else { throw PostgreSQLError(.serverFailed, while: .runningStatement) }
    return first
  }

  /// Sends several statements without waiting for their answers, and then waits for all of them. Between two machines,
  /// this saves a round trip for each statement except the first.
  ///
  /// If a statement fails, the statements after it are not run, and the error has its position. Outside of a
  /// transaction, either all changes of the statements are stored or none.
  ///
  /// - Parameter add: Adds the statements.
  /// - Returns: The result of each statement, in their order.
  /// - Throws: ``PostgreSQLError``.
  public func pipeline(_ add: (inout PostgreSQLPipeline) -> Void) throws(PostgreSQLError) -> [PostgreSQLRows] {
    var pipeline = PostgreSQLPipeline()
    add(&pipeline)
    if pipeline.statements.isEmpty { return [] }
    var purpose = purpose()
    purpose.isPipeline = true
    return try wire.run(pipeline.statements, for: purpose)
  }

  /// Runs a text with several statements, separated by semicolons. It has no parameters and returns nothing.
  ///
  /// - Throws: ``PostgreSQLError``.
  public func script(_ sql: String) throws(PostgreSQLError) { try wire.runScript(sql, for: purpose()) }

  private func purpose() -> Wire.Purpose {
    Wire.Purpose(control: control, mayCommit: !wire.isInTransaction, patience: patience)
  }
}

/// The statements of a pipeline.
public struct PostgreSQLPipeline: Sendable {
  var statements: [Statement] = []

  /// Adds a statement; see ``PostgreSQLSession/execute(_:_:)``.
  public mutating func add(_ sql: String, _ values: [PostgreSQLValue] = []) {
    statements.append(Statement(sql: sql, values: values))
  }
}
