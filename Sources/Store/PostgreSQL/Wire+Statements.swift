// SPDX-License-Identifier: Apache-2.0

import CPQ
import Foundation

/// A statement with its parameters.
struct Statement: Sendable {
  var sql: String
  var values: [PostgreSQLValue] = []
}

extension Wire {
  /// The context of a call to the server.
  struct Purpose {
    /// The work that the call belongs to; nil for clean-up work, which has no deadline.
    var control: JobControl?
    var action = PostgreSQLError.Action.runningStatement
    /// Whether the call may store changes that nothing rolls back.
    var mayCommit: Bool
    /// Whether errors say which statement failed.
    var isPipeline = false
    /// The time to wait for an answer after a cancellation, and for all answers without ``control``.
    var patience: Duration
  }

  /// Sends statements without waiting between them, and receives their results. A failed statement aborts the
  /// statements after it. Outside of a transaction, either the changes of all statements are stored, or no change. The
  /// call blocks.
  func run(_ statements: [Statement], for purpose: Purpose) throws(PostgreSQLError) -> [PostgreSQLRows] {
    var encoded: [EncodedValues] = []
    for (index, statement) in statements.enumerated() {
      do throws(PostgreSQLError) {
        // The protocol would end the text at the NUL.
        guard !statement.sql.utf8.contains(0) else {
          throw PostgreSQLError(.invalidParameter, while: purpose.action, subject: "the statement contains a NUL")
        }
        encoded.append(try EncodedValues(statement.values))
      } catch {
        let position = purpose.isPipeline ? index + 1 : nil
        throw PostgreSQLError(
          error.code, while: purpose.action, server: server, statement: position, subject: error.subject)
      }
    }
    try begin(purpose)
    defer { purpose.control?.finish() }
    var receipt = Receipt(statements: statements.count)
    var isSent = true
    for (index, statement) in statements.enumerated() where isSent {
      isSent = send(statement.sql, encoded[index], index, &receipt)
    }
    receipt.steps.append(.end)
    isSent = isSent && (unsafe PQpipelineSync(pointer)) == 1
    let isAnswered = unsafe isSent && receive(purpose) { unsafe receipt.take($0, from: self) }
    if let error = outcome(of: receipt.failure, isAnswered: isAnswered && !receipt.isCopy, purpose) { throw error }
    let rows = receipt.rows.compactMap(\.self)
    // If a pipeline did not fail, each of its statements has a result.
    guard rows.count == statements.count else { throw outcome(of: nil, isAnswered: false, purpose) ?? lost(purpose) }
    return rows
  }

  /// Runs a text with any number of statements, separated by semicolons, without parameters. The call blocks.
  func runScript(_ sql: String, for purpose: Purpose) throws(PostgreSQLError) {
    guard !sql.utf8.contains(0) else {
      throw PostgreSQLError(.invalidParameter, while: purpose.action, subject: "the statement contains a NUL")
    }
    try begin(purpose)
    defer { purpose.control?.finish() }
    var receipt = Receipt()
    // Only outside of a pipeline, PostgreSQL takes several statements in one text.
    // Safe: the text lives as long as the call, which copies it.
    let isSent = unsafe PQexitPipelineMode(pointer) == 1 && PQsendQuery(pointer, sql) == 1
    let isAnswered = unsafe isSent && receive(purpose) { unsafe receipt.take($0, from: self) }
    let isBack = isAnswered && !receipt.isCopy && (unsafe PQenterPipelineMode(pointer)) == 1
    if let error = outcome(of: receipt.failure, isAnswered: isBack, purpose) { throw error }
  }

  private func begin(_ purpose: Purpose) throws(PostgreSQLError) {
    guard isUsable else { throw PostgreSQLError(.connectionLost, while: purpose.action, server: server) }
    if let end = purpose.control?.begin(mayCommit: purpose.mayCommit) {
      throw PostgreSQLError(end.code, while: purpose.action, server: server)
    }
  }

  /// - Returns: Whether libpq has taken the statement.
  private func send(_ sql: String, _ values: EncodedValues, _ index: Int, _ receipt: inout Receipt) -> Bool {
    let key = StatementCache.Key(sql: sql, types: values.types)
    let way = statements.way(for: key)
    let count = Int32(clamping: values.types.count)
    if case .new(let name) = way {
      receipt.steps.append(.prepare(key, index))
      // Safe: the texts and the array live as long as the call, which copies them.
      guard unsafe PQsendPrepare(pointer, name, sql, count, values.types) == 1 else { return false }
    }
    receipt.steps.append(.run(index))
    let lengths = values.places.map { Int32(clamping: $0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: values.places.count)
    // Safe: the places are in the bytes, which live as long as the call, and the call copies them.
    return unsafe values.bytes.withUnsafeBufferPointer { bytes in
      let start = unsafe UnsafeRawPointer(bytes.baseAddress)
      let starts = unsafe values.places.map { place in
        unsafe place.flatMap { unsafe start?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
      }
      return switch way {
      case .new(let name), .prepared(let name):
        unsafe PQsendQueryPrepared(pointer, name, count, starts, lengths, formats, 1) == 1
      case .unnamed: unsafe PQsendQueryParams(pointer, sql, count, values.types, starts, lengths, formats, 1) == 1
      }
    }
  }

  /// Sends what libpq holds and receives results, until a closure says that all have come.
  ///
  /// - Returns: False if the connection broke, or if an answer did not come in time. The connection is closed then.
  private func receive(_ purpose: Purpose, _ take: (OpaquePointer?) -> Bool) -> Bool {
    var giveUp = purpose.control == nil ? ContinuousClock.now + purpose.patience : nil
    while isUsable {
      let unsent = unsafe PQflush(pointer)
      // A server that closes the connection may have sent the reason before, so what came is read first.
      while unsafe PQisBusy(pointer) == 0 {
        let result = unsafe PQgetResult(pointer)
        if unsafe take(result) { return true }
        if unsafe result == nil, !isUsable { break }
      }
      guard isUsable, unsent >= 0 else { break }
      if giveUp == nil, purpose.control?.ended != nil {
        // If a commit that waits for a standby is cancelled, PostgreSQL answers with success, although the standby may
        // not have the changes. Without a cancellation, nobody sees the changes before the standby has them.
        if purpose.action != .committing { cancelStatement() }
        giveUp = ContinuousClock.now + purpose.patience
      }
      if let giveUp, ContinuousClock.now >= giveUp { break }
      let events = wake.wait(for: socket, writes: unsent == 1, until: giveUp ?? purpose.control?.deadline)
      // The bytes that came before the connection ended are still there, and the loop above takes them.
      if events.canRead, unsafe PQconsumeInput(pointer) != 1, unsafe PQisBusy(pointer) != 0 { break }
    }
    close()
    return false
  }

  /// Returns the error of a call; nil if it succeeded. If not all answers came, the connection is closed.
  private func outcome(
    of failure: ServerFailure?, isAnswered: Bool, _ purpose: Purpose
  ) -> PostgreSQLError? {
    guard isAnswered else {
      close()
      let code: PostgreSQLError.Code =
        purpose.mayCommit ? .outcomeUnknown : purpose.control?.ended?.code ?? .connectionLost
      return PostgreSQLError(code, while: purpose.action, server: server, sqlState: failure?.sqlState)
    }
    guard let failure else { return nil }
    let sqlState = failure.sqlState ?? ""
    statements.note(sqlState: sqlState)
    var code = PostgreSQLError.code(of: sqlState)
    if code == .statementCancelled, let end = purpose.control?.ended { code = end.code }
    let error = PostgreSQLError(
      code, while: purpose.action, server: server, sqlState: failure.sqlState, constraint: failure.constraint,
      statement: purpose.isPipeline ? failure.index.map { $0 + 1 } : nil)
    if hasFailed, self.failure == nil { self.failure = error }
    return error
  }

  private func lost(_ purpose: Purpose) -> PostgreSQLError {
    PostgreSQLError(.connectionLost, while: purpose.action, server: server)
  }
}

/// The error that a server reported for a statement. Its message is not kept, because it quotes values.
struct ServerFailure {
  var sqlState: String?
  var constraint: String?
  /// The position of the statement, from 0; nil if the end of the pipeline failed, such as a constraint that is checked
  /// at the commit.
  var index: Int?
}

/// The results that have come, and the steps for which results are awaited.
private struct Receipt {
  enum Step {
    case prepare(StatementCache.Key, Int)
    case run(Int)
    case end
  }

  var steps: [Step] = []
  private var position = 0
  private(set) var rows: [PostgreSQLRows?]
  /// The first failure. Later failures are its consequences.
  private(set) var failure: ServerFailure?
  /// Whether a statement began to copy data (`COPY`), which this client does not support.
  private(set) var isCopy = false

  private let isScript: Bool

  /// Receives the answers to a pipeline.
  init(statements: Int) {
    rows = Array(repeating: nil, count: statements)
    isScript = false
  }

  /// Receives the answers to a script. It keeps only a failure.
  init() {
    rows = []
    isScript = true
  }

  /// Takes a result.
  ///
  /// - Parameter result: A result, which this method frees or keeps; nil after the last result of a pipeline's step, or
  ///   of a script.
  /// - Returns: Whether no further result is awaited.
  mutating func take(_ result: OpaquePointer?, from wire: Wire) -> Bool {
    guard let result = unsafe result else {
      position += 1
      return isScript
    }
    let step = position < steps.count ? steps[position] : .end
    let status = unsafe PQresultStatus(result)
    switch status {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
      if case .run(let index) = step {
        rows[index] = PostgreSQLRows(storage: unsafe ResultStorage(result))
        return false
      }
    case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
      isCopy = true
    case PGRES_PIPELINE_SYNC: break
    default:
      if case .prepare(let key, _) = step { wire.statements.forget(key) }
      if failure == nil, status != PGRES_PIPELINE_ABORTED {
        failure = unsafe ServerFailure(
          sqlState: field("C", of: result), constraint: field("n", of: result),
          index: index(of: step))
      }
    }
    unsafe PQclear(result)
    return status == PGRES_PIPELINE_SYNC || isCopy
  }

  private func index(of step: Step) -> Int? {
    switch step {
    case .prepare(_, let index), .run(let index): index
    case .end: nil
    }
  }

  /// - Parameter field: The letter of a field. Swift does not import `PG_DIAG_SQLSTATE` and the others, because they are
  ///   characters in C.
  private func field(_ field: Unicode.Scalar, of result: OpaquePointer) -> String? {
    // Safe: libpq returns texts that live as long as the result.
    unsafe PQresultErrorField(result, Int32(field.value)).map { unsafe String(cString: $0) }
  }
}
