// SPDX-License-Identifier: Apache-2.0

import Ledger
import Testing

@testable import PostgreSQL
@testable import PostgreSQLLedger

@Suite("Errors of a ledger on PostgreSQL")
struct ErrorTests {
  private func error(_ code: PostgreSQLError.Code, _ sqlState: String? = nil) -> LedgerError {
    LedgerError(
      PostgreSQLError(code, while: .runningStatement, server: "db1:5432", sqlState: sqlState), while: .accepting,
      on: "db2:5432")
  }

  @Test("every error of the client states the operation, the server, the cause and the next step")
  func texts() {
    for code in PostgreSQLError.Code.allCases {
      let text = error(code).description
      #expect(text.hasPrefix("Accepting an announcement in the ledger on the PostgreSQL server db1:5432 failed: "))
      #expect(text.hasSuffix(".") && text.contains(". "))
      #expect(!text.contains("the file"))
    }
    #expect(
      error(.serverFull, "53100").description
        == "Accepting an announcement in the ledger on the PostgreSQL server db1:5432 failed: the server's disk is full "
        + "(SQLSTATE 53100). Free some space on the server and try again.")
  }

  @Test(
    "each error code of the client becomes the ledger's error code with the same remedy",
    arguments: [
      (PostgreSQLError.Code.outcomeUnknown, LedgerError.Code.outcomeUnknown), (.cannotConnect, .unreachable),
      (.connectionLost, .unreachable), (.closed, .unreachable), (.conflict, .busy), (.deadlinePassed, .busy),
      (.readOnly, .readOnly), (.accessDenied, .notPermitted), (.notPermitted, .notPermitted),
      (.migrationsDiffer, .notALedger), (.wrongType, .damaged), (.constraintViolated, .systemFailure),
    ])
  func codes(_ code: PostgreSQLError.Code, _ expected: LedgerError.Code) {
    #expect(error(code).code == expected)
  }

  @Test(
    "if the client's error code alone does not determine the remedy, the SQLSTATE decides",
    arguments: [
      (PostgreSQLError.Code.serverFull, "53300", LedgerError.Code.unreachable), (.serverFull, "53100", .diskFull),
      (.serverFull, "53200", .systemFailure), (.serverFailed, "57P03", .unreachable),
      (.serverFailed, "XX001", .damaged), (.serverFailed, "XX000", .systemFailure),
    ])
  func states(_ code: PostgreSQLError.Code, _ sqlState: String, _ expected: LedgerError.Code) {
    #expect(error(code, sqlState).code == expected)
    #expect(error(code, sqlState).sqlState == sqlState)
  }
}
