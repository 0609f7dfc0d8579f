// SPDX-License-Identifier: Apache-2.0

/// Why a PostgreSQL server could not be used, or did not do what it was asked.
///
/// With every code except ``Code/outcomeUnknown``, the statement or the transaction that failed has stored nothing. An
/// error about a value in a result is an exception: the statement that returned the value may have succeeded.
public struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The address cannot be read; see ``PostgreSQLError/subject``.
    case invalidAddress = "invalid_address"
    /// The address or the environment contains a password.
    case passwordOutsideFile = "password_outside_file"
    /// The password file is missing, is open to others, or holds no password.
    case passwordFileUnusable = "password_file_unusable"
    /// No server of the address accepted a connection in time, or none of them accepts writes.
    case cannotConnect = "cannot_connect"
    /// The server refused the user or the password (SQLSTATE class 28).
    case accessDenied = "access_denied"
    /// The server has no database with this name (SQLSTATE 3D000).
    case noDatabase = "no_database"
    /// The connection broke before a commit was sent.
    case connectionLost = "connection_lost"
    /// The connection broke, or the answer did not come in time, after a commit or a statement outside of a transaction
    /// was sent. The server may have stored the changes.
    case outcomeUnknown = "outcome_unknown"
    /// The deadline of the call passed.
    case deadlinePassed = "deadline_passed"
    /// The task of the call was cancelled.
    case cancelled
    /// The connection or the pool was closed by its owner.
    case closed
    /// No connection of the pool became free before the deadline.
    case noFreeConnection = "no_free_connection"
    /// The limit of calls that wait for a connection of the pool is reached.
    case tooManyWaiting = "too_many_waiting"
    /// Another transaction was in the way, each time that this one was tried (SQLSTATE 40001 and 40P01).
    case conflict
    /// Another transaction holds a lock (SQLSTATE 55P03).
    case locked
    /// The server cancelled the statement, because of its own time limit or because somebody asked it to (SQLSTATE
    /// 57014).
    case statementCancelled = "statement_cancelled"
    /// A constraint is violated (SQLSTATE class 23); see ``PostgreSQLError/constraint``.
    case constraintViolated = "constraint_violated"
    /// The server refused a value, for example because it is out of range (SQLSTATE class 22).
    case invalidValue = "invalid_value"
    /// A parameter cannot be sent: a text with a NUL, or too many or too large values.
    case invalidParameter = "invalid_parameter"
    /// The server refused the statement itself (SQLSTATE 08P01, and classes 0A, 25, 26, 42 and 54).
    case invalidStatement = "invalid_statement"
    /// The calls were made in an order that is not allowed, for example a transaction inside another one.
    case invalidUse = "invalid_use"
    /// The server accepts no changes, for example because it is a standby (SQLSTATE 25006).
    case readOnly = "read_only"
    /// The user may not do this in the database (SQLSTATE 42501).
    case notPermitted = "not_permitted"
    /// The server has no more connections, memory or disk space (SQLSTATE class 53).
    case serverFull = "server_full"
    /// The result has no column of this name.
    case noColumn = "no_column"
    /// The column has another type than the one that was asked for.
    case wrongType = "wrong_type"
    /// The value is NULL, and the type that was asked for has no place for it.
    case nullValue = "null_value"
    /// The bytes of a value do not have the form of its type.
    case invalidData = "invalid_data"
    /// The database's migrations are not those of this program.
    case migrationsDiffer = "migrations_differ"
    /// Any other error that the server reported.
    case serverFailed = "server_failed"
  }

  /// The operation that failed.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    case readingAddress
    case readingPassword
    case connecting
    case waiting
    case runningStatement
    case committing
    case readingResult
    case migrating
  }

  public let code: Code
  public let action: Action

  /// The hosts and ports of the servers, without user, database and options; nil if no server was involved.
  public internal(set) var server: String?

  /// The SQLSTATE that the server reported; nil if the error did not come from the server.
  public let sqlState: String?

  /// The violated constraint's name, as the schema has it.
  public let constraint: String?

  /// The position of the failed statement in its pipeline, from 1; nil outside of pipelines.
  public let statement: Int?

  /// The option of the address, the column, the rule or the migration that the error is about.
  public let subject: String?

  package init(
    _ code: Code, while action: Action, server: String? = nil, sqlState: String? = nil, constraint: String? = nil,
    statement: Int? = nil, subject: String? = nil
  ) {
    self.code = code
    self.action = action
    self.server = server
    self.sqlState = sqlState
    self.constraint = constraint
    self.statement = statement
    self.subject = subject
  }

  /// Whether a new attempt of the same transaction may succeed at once: other transactions were in the way.
  var isConflict: Bool { code == .conflict }

  /// Whether another attempt to connect fails in the same way until somebody changes a setting.
  var isPermanent: Bool {
    switch code {
    case .accessDenied, .noDatabase, .passwordFileUnusable, .invalidAddress: true
    default: false
    }
  }
}

extension PostgreSQLError {
  /// Returns the code of an SQLSTATE that a statement caused.
  ///
  /// - Parameter sqlState: Five characters; see "PostgreSQL Error Codes" in the manual of PostgreSQL.
  static func code(of sqlState: String) -> Code {
    switch sqlState {
    // A wrong number of parameters is reported as a fault of the protocol.
    case "08P01": .invalidStatement
    case "25006": .readOnly
    case "3D000": .noDatabase
    case "40001", "40P01": .conflict
    case "42501": .notPermitted
    case "55P03": .locked
    case "57014": .statementCancelled
    default:
      switch sqlState.prefix(2) {
      case "0A", "25", "26", "42", "54": .invalidStatement
      case "22": .invalidValue
      case "23": .constraintViolated
      case "28": .accessDenied
      case "53": .serverFull
      default: .serverFailed
      }
    }
  }
}
