// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgreSQL

extension LedgerError {
  /// Converts any error of a statement, or of the work around it.
  ///
  /// - Parameter server: The hosts and ports of the servers.
  init(_ error: any Error, while action: Action, on server: String) {
    switch error {
    case let error as LedgerError:
      self = error
    case let error as PostgreSQLError:
      let isAbout: [PostgreSQLError.Code] = [.migrationsDiffer, .invalidParameter, .passwordFileUnusable]
      self.init(
        Code(error), while: action, on: error.server ?? server, sqlState: error.sqlState,
        field: isAbout.contains(error.code) ? error.subject : nil)
    case is UnreadableRow:
      self.init(.damaged, while: action, on: server)
    case is OlderTables:
      self.init(.olderVersion, while: action, on: server)
    case is WrongEncoding:
      self.init(.invalidValue, while: action, on: server, field: "database (its encoding must be UTF8)")
    default:
      self.init(.systemFailure, while: action, on: server)
    }
  }
}

extension LedgerError.Code {
  init(_ error: PostgreSQLError) {
    self =
      switch error.code {
      case .outcomeUnknown: .outcomeUnknown
      case .cannotConnect, .noDatabase, .connectionLost, .closed, .invalidAddress: .unreachable
      case .accessDenied, .notPermitted, .passwordFileUnusable, .passwordOutsideFile: .notPermitted
      case .tooManyWaiting: .waitingListFull
      case .conflict, .locked, .deadlinePassed, .cancelled, .noFreeConnection, .statementCancelled: .busy
      case .readOnly: .readOnly
      case .migrationsDiffer: .notALedger
      // A migration makes a table that the database has already, so another program made it.
      case .invalidStatement where error.sqlState == "42P07": .notALedger
      case .invalidParameter: .invalidValue
      // The server has too many connections already.
      case .serverFull where error.sqlState == "53300": .unreachable
      case .serverFull where error.sqlState == "53100": .diskFull
      // The server is starting, stopping, or recovering from a crash.
      case .serverFailed where error.sqlState?.hasPrefix("57P") == true: .unreachable
      case .serverFailed where error.sqlState == "XX001" || error.sqlState == "XX002": .damaged
      case .nullValue, .wrongType, .invalidData, .noColumn: .damaged
      case .serverFull, .serverFailed, .constraintViolated, .invalidValue, .invalidStatement, .invalidUse:
        .systemFailure
      }
  }
}

/// The error for a database that cannot hold every text.
struct WrongEncoding: Error {}

/// The error for a database that lacks tables.
struct OlderTables: Error {}
