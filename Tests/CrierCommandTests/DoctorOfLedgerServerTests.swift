// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import Testing

@Suite(
  "crier doctor with a ledger on a server", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct DoctorOfLedgerServerTests {
  private typealias Diagnosis = DoctorInstallation.Diagnosis

  /// A healthy installation whose ledger is on a server.
  private func install(on server: PostgreSQLServer) async throws -> (place: DoctorInstallation, database: String) {
    let place = try DoctorInstallation()
    try FileManager.default.removeItem(at: place.ledger)
    let name = try await LedgerServer.use(server, in: place.crier)
    #expect(try place.crier("keys", "create").status == 0)
    return (place, name)
  }

  /// Returns the finding of the report about a part.
  private func found(_ part: String, _ diagnosis: Diagnosis) -> String? {
    diagnosis.checks.first { $0["part"]?.string == part }?["found"]?.string
  }

  @Test("a healthy ledger on a server has no fault, and crier doctor changes neither the home nor the database")
  func healthy() async throws {
    let server = try await LedgerServer.shared.value
    let (place, name) = try await install(on: server)
    defer { place.crier.remove() }
    let rows = "SELECT name AS value FROM crier_migrations UNION ALL SELECT id FROM keys ORDER BY value"
    let before = (try place.snapshot(), try await LedgerServer.texts(rows, on: server, database: name))
    let diagnosis = try place.diagnose()
    #expect(diagnosis.status == 0 && diagnosis.faults.isEmpty, "\(diagnosis.text)")
    #expect(found("ledger", diagnosis)?.hasPrefix("PostgreSQL server in \(server.folder.path), version ") == true)
    #expect(found("keys", diagnosis) == "1 in force, 0 expired or revoked")
    #expect(!diagnosis.text.contains("clock_differs") && !diagnosis.text.contains(name))
    #expect(try place.snapshot() == before.0)
    #expect(try await LedgerServer.texts(rows, on: server, database: name) == before.1)
    let empty = try await LedgerServer.use(server, in: place.crier)
    #expect(found("ledger", try place.diagnose())?.contains("; no tables yet") == true)
    #expect(
      try await LedgerServer.texts(
        "SELECT relname::text AS value FROM pg_class WHERE relnamespace = 'public'::regnamespace", on: server,
        database: empty
      ).isEmpty)
  }

  /// A way in which the database is unusable.
  struct Breakage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: String
    var remedy: String
    /// Statements that break the database.
    var script = ""
    /// The settings that break it, with SERVER for the folder of the server.
    var settings: String?
    /// The severity of the problem.
    var isWarning = false
  }

  static let breakages = [
    Breakage(
      testDescription: "a server that is not there", code: "ledger_unreachable", remedy: "Check that the server runs",
      settings: "ledger: postgresql:///crier?host=/nowhere\n"),
    Breakage(
      testDescription: "a wrong password", code: "ledger_access_denied", remedy: "pg_hba.conf",
      settings: "ledger: postgresql://guarded@/postgres?host=SERVER\nledger_password_file: password\n"),
    Breakage(
      testDescription: "a missing password file", code: "ledger_password_unusable", remedy: "chmod 600",
      settings: "ledger: postgresql://guarded@/postgres?host=SERVER\nledger_password_file: none\n"),
    Breakage(
      testDescription: "a password file that others can read", code: "ledger_password_unusable", remedy: "chmod 600",
      settings: "ledger: postgresql://guarded@/postgres?host=SERVER\nledger_password_file: open-password\n"),
    Breakage(
      testDescription: "a missing database", code: "ledger_database_missing", remedy: "Create the database",
      settings: "ledger: postgresql://crier@/no_such_one?host=SERVER\n"),
    Breakage(
      testDescription: "the tables of another program", code: "ledger_foreign", remedy: "setting 'ledger'",
      script: "UPDATE crier_migrations SET name = 'of another program' WHERE position = 1"),
    Breakage(
      testDescription: "tables of an older version", code: "ledger_older", remedy: "crier keys list",
      script: "DELETE FROM crier_migrations WHERE position = (SELECT max(position) FROM crier_migrations)",
      isWarning: true),
    Breakage(
      testDescription: "a database that confirms commits early", code: "ledger_not_durable",
      remedy: "synchronous_commit",
      script: "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit TO off'; END $$"),
  ]

  @Test(
    "a database that cannot be used is one problem, with its code and remedy, and nothing is changed",
    arguments: breakages)
  func broken(_ breakage: Breakage) async throws {
    let server = try await LedgerServer.shared.value
    let (place, name) = try await install(on: server)
    defer { place.crier.remove() }
    try place.write("hunter2\n", to: "password")
    try place.write("hunter2\n", to: "open-password")
    try place.setMode(0o644, of: "open-password")
    if !breakage.script.isEmpty { try await LedgerServer.run(breakage.script, on: server, database: name) }
    if let settings = breakage.settings {
      try LedgerServer.write(
        "port: 0\noutput: 'null'\n" + settings.replacing("SERVER", with: server.folder.path), in: place.crier)
    }
    let before = try place.snapshot()
    let diagnosis = try place.diagnose()
    let ledger = try #require(diagnosis.checks.first { $0["part"]?.string == "ledger" })
    let problems = try #require(ledger["problems"]?.array)
    #expect(problems.map { $0["code"]?.string } == [breakage.code], "\(diagnosis.text)")
    #expect(problems.first?["remedy"]?.string?.contains(breakage.remedy) == true)
    #expect(diagnosis.status == (breakage.isWarning ? 0 : 73), "\(diagnosis.text)")
    #expect(diagnosis.faults.allSatisfy { $0.part == "ledger" }, "no other fault follows: \(diagnosis.text)")
    for word in ["hunter2", "guarded", name, "no_such_one"] { #expect(!diagnosis.text.contains(word)) }
    #expect(try place.snapshot() == before)
  }

  @Test("tables of a newer version are not a problem")
  func newer() async throws {
    let server = try await LedgerServer.shared.value
    let (place, name) = try await install(on: server)
    defer { place.crier.remove() }
    try await LedgerServer.run(
      "INSERT INTO crier_migrations (position, name) VALUES (9999, '9999: something to come')", on: server,
      database: name)
    let diagnosis = try place.diagnose()
    #expect(diagnosis.status == 0 && found("ledger", diagnosis)?.contains("a newer version of Crier") == true)
    #expect(try place.crier("keys", "list").status == 0)
  }
}
