// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import PostgreSQL
import PostgreSQLTestSupport
import Testing

@testable import InstallationExamination

@Suite("The examination of a ledger on a server", .timeLimit(.minutes(10)))
struct DatabaseLookTests {
  private func problem(_ code: PostgreSQLError.Code) -> InstallationProblem {
    LedgerLook.problem(PostgreSQLError(code, while: .connecting, server: "db1.example"), passwordFile: nil)
  }

  @Test(
    "the error of the client decides the code of the problem",
    arguments: [
      (PostgreSQLError.Code.cannotConnect, InstallationProblem.Code.ledgerUnreachable),
      (.connectionLost, .ledgerUnreachable), (.deadlinePassed, .ledgerUnreachable), (.serverFull, .ledgerUnreachable),
      (.accessDenied, .ledgerAccessDenied), (.notPermitted, .ledgerAccessDenied),
      (.noDatabase, .ledgerDatabaseMissing), (.passwordFileUnusable, .ledgerPasswordUnusable),
      (.readOnly, .ledgerReadOnly), (.serverFailed, .ledgerUnreadable), (.invalidStatement, .ledgerUnreadable),
    ])
  func codes(_ code: PostgreSQLError.Code, _ expected: InstallationProblem.Code) {
    #expect(problem(code).code == expected)
  }

  @Test("every error of the client becomes a fault with its cause and its remedy")
  func texts() {
    for code in PostgreSQLError.Code.allCases {
      let error = PostgreSQLError(code, while: .connecting, server: "db1.example", sqlState: "28P01")
      let problem = LedgerLook.problem(error, passwordFile: nil)
      #expect(problem.severity == .fault && problem.remedy == error.remedy)
      #expect(problem.message == "The ledger cannot be opened: \(error.cause) (SQLSTATE 28P01).")
    }
  }

  @Test("the error for an unusable password file has the file's path and the command that closes the file to others")
  func password() {
    let error = PostgreSQLError(
      .passwordFileUnusable, while: .readingPassword, subject: "can be read or written by others")
    let problem = LedgerLook.problem(error, passwordFile: URL(filePath: "/srv/my home/password"))
    #expect(
      problem.message
        == "The ledger cannot be opened: the password file /srv/my home/password can be read or written by others.")
    #expect(problem.remedy.hasSuffix("\nchmod 600 '/srv/my home/password'"))
  }

  @Test(
    "the examination has the answers of the ledger's server, and a database that does not exist is a fault",
    .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
  func server() async throws {
    let server = try await PostgreSQLServer.shared()
    let empty = try server.address(database: try await server.makeDatabase())
    guard case .database(let facts) = await LedgerLook.look(at: empty, passwordFile: nil, now: Date()),
      let answer = facts.answer
    else { Issue.record("the server did not answer"); return }
    #expect(facts.server == empty.description && answer.tables == .none && answer.contents == nil)
    #expect(answer.unsafeSettings == "fsync=off, synchronous_commit=on" && !answer.isStandby)
    #expect(abs(answer.secondsAhead) < 60 && answer.bytes > 0)
    let missing = try server.address(database: "no_such_one")
    guard case .database(let other) = await LedgerLook.look(at: missing, passwordFile: nil, now: Date()),
      case .failed(let problem) = other.outcome
    else { Issue.record("there is such a database"); return }
    #expect(problem.code == .ledgerDatabaseMissing && !problem.message.contains("no_such_one"))
  }
}
