// SPDX-License-Identifier: Apache-2.0

extension LedgerError {
  /// The SQLSTATE with which a server says that it has no database with the given name.
  private static let noDatabase = "3D000"

  /// The cause of an error on a server, where it differs from that of a file.
  var causeOnServer: String? {
    switch code {
    case .diskFull: "the server's disk is full"
    case .readOnly: "the server accepts no changes"
    case .notPermitted:
      field.map { "the password file \($0)" } ?? "the server does not let this user in, or forbids the operation"
    case .unreachable where sqlState == Self.noDatabase: "the server has no database of this name"
    case .busy: "other transactions were in the way for too long"
    case .damaged: "a row or a page of the database is damaged"
    case .notALedger: "the database is that of another program" + (field.map { ": \($0)" } ?? "")
    case .inUse: "a service or a command of Crier is connected to the database"
    case .noLedger: "the database has no tables of a ledger"
    case .notEmpty: "the database has a ledger already"
    case .newerVersion: "a newer version of this program has changed the tables" + (field.map { ": “\($0)”" } ?? "")
    case .olderVersion: "the tables must first be brought up to date"
    case .systemFailure: "the server reported an error"
    default: nil
    }
  }

  /// What to do about an error on a server, where it differs from that of a file.
  var remedyOnServer: String? {
    switch code {
    case .diskFull: "Free some space on the server and try again."
    case .readOnly: "Name all servers in the address, so that the one that accepts changes is found."
    case .notPermitted: "Check the user in the address, the password file, and the privileges in the database."
    case .unreachable where sqlState == Self.noDatabase:
      "Create the database, or correct its name in the address."
    case .busy: "Nothing was changed. Try again in a moment."
    case .damaged: "Look into the server's log, and restore a backup."
    case .notALedger: "The database was not changed. Choose another database."
    case .olderVersion:
      "The database was not changed. Start the service once, or run a command that writes to the ledger."
    case .noLedger: "Nothing was changed. Name the database of a ledger in the address."
    case .notEmpty: "Nothing was changed. Name an empty database, or drop this one and create it again."
    case .newerVersion: "The database was not changed. Install the newer version."
    case .systemFailure: "Look into the server's log, and try again."
    default: nil
    }
  }
}
