// SPDX-License-Identifier: Apache-2.0

extension PostgreSQLError {
  /// The operation, the servers, the cause and the next step.
  ///
  /// The text never contains the server's message, because such messages quote values. Nor does it contain an SQL
  /// statement, a user, a database or a password.
  public var description: String {
    "\(attempt) failed: \(cause)\(reported). \(remedy)"
  }

  private var attempt: String {
    let place = server.map { " on the PostgreSQL server \($0)" } ?? ""
    return switch action {
    case .readingAddress: "Reading the address of the PostgreSQL server"
    case .readingPassword: "Reading the password for the PostgreSQL server"
    case .connecting: "Connecting to the PostgreSQL server\(server.map { " \($0)" } ?? "")"
    case .waiting: "Waiting for a connection to the PostgreSQL server\(server.map { " \($0)" } ?? "")"
    case .runningStatement: "Running \(statement.map { "statement \($0) of a pipeline" } ?? "a statement")\(place)"
    case .committing: "Committing a transaction\(place)"
    case .readingResult: "Reading a result of a statement"
    case .migrating: "Migrating the database\(place)"
    }
  }

  private var reported: String {
    let parts = [sqlState.map { "SQLSTATE \($0)" }, constraint.map { "constraint \($0)" }].compactMap(\.self)
    return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
  }

  /// What happened, as a phrase without a full stop. It contains no more than ``description``.
  public var cause: String {
    let column = subject.map { "the column “\($0)”" } ?? "a column"
    return switch code {
    case .invalidAddress: subject ?? "this is not an address of a PostgreSQL server"
    case .passwordOutsideFile: "\(subject ?? "the address") contains a password"
    case .passwordFileUnusable: "the password file \(subject ?? "cannot be used")"
    case .cannotConnect: "no server accepted the connection, or none of them accepts writes"
    case .accessDenied: "the server refused the user or the password"
    case .noDatabase: "the server has no database of this name"
    case .connectionLost: "the connection broke"
    case .outcomeUnknown: "the connection broke before the server confirmed the changes"
    case .deadlinePassed: "the time limit of the call passed"
    case .cancelled: "the task of the call was cancelled"
    case .closed: "the connection was closed by this program"
    case .noFreeConnection: "no connection became free within the time limit"
    case .tooManyWaiting: "too many calls are waiting"
    case .conflict: "each attempt conflicted with other transactions"
    case .locked: "another transaction holds a lock"
    case .statementCancelled: "the server cancelled the statement"
    case .constraintViolated: "a constraint is violated"
    case .invalidValue: "the server refused a value"
    case .invalidParameter: subject ?? "a parameter cannot be sent"
    case .invalidStatement: subject ?? "the server refused the statement"
    case .invalidUse: subject ?? "the calls are in a wrong order"
    case .readOnly: "the server accepts no changes"
    case .notPermitted: "the user may not do this in the database"
    case .serverFull: "the server has no more connections, memory or disk space"
    case .noColumn: "\(column) is not in the result"
    case .wrongType: "\(column) has another type than the one that was asked for"
    case .nullValue: "\(column) is NULL"
    case .invalidData: "\(column) has bytes that are not a value of its type"
    case .migrationsDiffer: subject ?? "the database has migrations of another program"
    case .serverFailed: "the server reported an error"
    }
  }

  /// What to do next, in sentences.
  public var remedy: String {
    switch code {
    case .invalidAddress: "Write it as postgresql://user@host:5432/database."
    case .passwordOutsideFile: "Remove it there, and write it into a file that only the service's user can read (0600)."
    case .passwordFileUnusable:
      "Write the password into a file of the service's user, and run chmod 600 on it."
    case .cannotConnect: "Check that the server runs, accepts writes, and can be reached from this machine."
    case .accessDenied: "Check the user in the address, the password file, and pg_hba.conf of the server."
    case .noDatabase: "Create the database, or correct its name in the address."
    case .connectionLost: "Nothing was stored. Try again."
    case .outcomeUnknown:
      "The changes may have been stored. Run the same call again, and let it first check whether they were stored."
    case .deadlinePassed: "Nothing was stored. Try again, or allow more time."
    case .cancelled: "Nothing was stored."
    case .closed: "Nothing was stored. Open another connection."
    case .noFreeConnection, .tooManyWaiting: "Nothing was stored. Try again in a moment, or use more connections."
    case .conflict, .locked: "Nothing was stored. Try again in a moment."
    case .statementCancelled: "Nothing was stored. Look for statement_timeout on the server, and try again."
    case .constraintViolated, .invalidValue: "Nothing was stored. Correct the values."
    case .invalidParameter: "Nothing was sent. Correct the parameter."
    case .invalidStatement: "Nothing was stored. Compare the program's version with the database's."
    case .invalidUse: "Nothing was stored. This is a fault of the program; report it."
    case .readOnly: "Name all servers in the address, so that the one that accepts writes is found."
    case .notPermitted: "Grant the user the privileges, or let the owner of the tables run this."
    case .serverFull: "Free some of these on the server, or use fewer connections, and try again."
    case .noColumn, .wrongType: "Correct the statement, for example by a cast to bigint, text, bytea or boolean."
    case .nullValue: "Ask for an optional value, or exclude NULL in the statement."
    case .invalidData: "Check the encoding of the database, which should be UTF8."
    case .migrationsDiffer: "Nothing was changed. Use the database of this program, or install the newer version."
    case .serverFailed: "Look into the server's log."
    }
  }
}
