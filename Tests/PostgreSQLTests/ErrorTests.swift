// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PostgreSQL

@Suite("Errors of PostgreSQL")
struct ErrorTests {
  @Test("an error says what was done, to which server, what is wrong and what to do next")
  func text() {
    let error = PostgreSQLError(
      .constraintViolated, while: .runningStatement, server: "db1.example:5432", sqlState: "23505",
      constraint: "answers_pkey", statement: 3)
    #expect(
      error.description
        == "Running statement 3 of a pipeline on the PostgreSQL server db1.example:5432 failed: a constraint is violated "
        + "(SQLSTATE 23505, constraint answers_pkey). Nothing was stored. Correct the values.")
  }

  @Test("each error code has a text of whole sentences", arguments: PostgreSQLError.Code.allCases)
  func sentences(code: PostgreSQLError.Code) {
    for action in PostgreSQLError.Action.allCases {
      let text = PostgreSQLError(code, while: action).description
      #expect(text.hasSuffix("."))
      #expect(text.contains(" failed: "))
      #expect(!text.contains("nil"))
    }
  }

  @Test(
    "an SQLSTATE leads to the error code of its class, or to an error code of its own",
    arguments: [
      ("23505", .constraintViolated), ("23503", .constraintViolated), ("40001", .conflict), ("40P01", .conflict),
      ("40003", .serverFailed), ("42601", .invalidStatement), ("42501", .notPermitted), ("25006", .readOnly),
      ("25P02", .invalidStatement), ("22003", .invalidValue), ("28P01", .accessDenied), ("3D000", .noDatabase),
      ("53300", .serverFull), ("55P03", .locked), ("57014", .statementCancelled), ("57P01", .serverFailed),
      ("08P01", .invalidStatement),
      ("XX000", .serverFailed), ("", .serverFailed),
    ] as [(String, PostgreSQLError.Code)])
  func codes(sqlState: String, code: PostgreSQLError.Code) {
    #expect(PostgreSQLError.code(of: sqlState) == code)
  }

  @Test(
    "the SQLSTATE of a refused connection is found at the end of libpq's message, and nowhere else",
    arguments: [
      ("connection to server on socket \"/tmp/.s.PGSQL.5432\" failed: FATAL:  28P01\n", "28P01"),
      ("connection to server at \"a\" (192.0.2.1), port 5432 failed: FATAL:  57P03", "57P03"),
      ("connection to server at \"a\", port 5432 failed: Connection refused\n", nil), ("", nil), ("28P01", nil),
      ("port 12345", nil), ("FATAL:  28p01", nil),
    ] as [(String, String?)])
  func message(message: String, sqlState: String?) {
    #expect(Wire.sqlState(endOf: message) == sqlState)
  }
}
