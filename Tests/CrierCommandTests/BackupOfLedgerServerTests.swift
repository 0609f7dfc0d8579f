// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import Testing

@Suite(
  "Backups of a ledger on a server", .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct BackupOfLedgerServerTests {
  private func names(in folder: URL) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
  }

  /// Loads a backup into a database, as docs/operations.md describes it.
  private func restore(_ copy: String, _ crier: Command, to server: PostgreSQLServer, _ database: String) throws {
    let load =
      #"set -e; gzip -dc "$0/ledger.sql.gz" >"$0/ledger.sql"; "#
      + #"psql --single-transaction --set ON_ERROR_STOP=1 --quiet --file "$0/ledger.sql" "$1""#
    let result = try crier.run(
      ["-c", load, copy, server.addressText(database: database)], program: URL(filePath: "/bin/sh"))
    #expect(result.status == 0, "\(result.message)")
  }

  @Test("a backup has the ledger and the files of the home, and both can be restored on another server")
  func restored() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await LedgerServer.shared.value
    let name = try await LedgerServer.use(server, in: crier)
    // The ledger that the home had before.
    let old = crier.home.appending(path: "ledger.sqlite")
    try Data("an old one".utf8).write(to: old)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old.path)
    let key = try #require(try JSONValue(try crier("keys", "create", "--json").output)["id"]?.string)
    // This server has counted more transactions than the one on which the backup is restored, so the positions of its
    // events are higher.
    let log = crier.directory.appending(path: "played.log")
    let service = try RunningService(of: crier, ["--port", "0", "--output", "file:\(log.path)"])
    let own = try #require(
      try JSONValue(try crier("keys", "create", "--json", "--scope", "admin").output)["key"]?.string)
    let body = #"{"id":"kept","amount":"12.50","currency":"USD","locale":"en-US","deliver":["clip","play"]}"#
    let report = try service.announce(body, key: own)
    #expect(report.status == 201)
    try eventually("the payment is played") {
      try service.send("GET", "/v1/announcements/kept", key: own).json()["delivery"]?["play"]?["state"]?.string
        == "played"
    }

    let (status, message) = try crier.backup(["home", "copy"])
    #expect(status == 0 && message.isEmpty, "\(message)")
    let copy = crier.directory.appending(path: "copy")
    let kept = try names(in: copy)
    #expect(kept.isSuperset(of: ["crier.yaml", "signing-secret"]))
    #expect(kept.filter { $0.hasPrefix("ledger") } == ["ledger.sql.gz"], "neither locks nor the old ledger")
    let mode = try FileManager.default.attributesOfItem(atPath: copy.appending(path: "ledger.sql.gz").path)
    #expect(mode[.posixPermissions] as? Int == 0o600, "no other user can read the ledger")
    service.signal(SIGTERM)
    #expect(service.wait() == 0)

    let other = try await PostgreSQLServer()
    let restored = try await other.makeDatabase()
    try restore(copy.path, crier, to: other, restored)
    let variables = ["CRIER_LEDGER": other.addressText(database: restored)]
    #expect(try crier("keys", "list", environment: variables).output.contains(key))
    let again = try RunningService(of: crier, ["--port", "0", "--output", "file:\(log.path)"], environment: variables)
    let repeated = try again.announce(body, key: own)
    #expect(repeated.status == 200 && repeated.body == report.body)
    #expect(try again.announce(body.replacing("kept", with: "new"), key: own).status == 201)
    try eventually("the new payment is played") {
      try again.send("GET", "/v1/announcements/new", key: own).json()["delivery"]?["play"]?["state"]?.string == "played"
    }
    again.signal(SIGTERM)
    #expect(again.wait() == 0)

    let feed = "SELECT id AS value FROM library_feed"
    let ids = (
      try await LedgerServer.texts(feed, on: server, database: name),
      try await LedgerServer.texts(feed, on: other, database: restored)
    )
    #expect(ids.0 != ids.1 && ids.1.first?.count == 8, "phones list the library anew")
    // Readers of events continue after a position, so the events of the restored ledger come after all others.
    let order = """
      SELECT string_agg(coalesce(announcements.id, '-'), ' ' ORDER BY position) AS value
      FROM events LEFT JOIN announcements ON number = announcement WHERE events.kind = 'accepted'
      """
    #expect(try await LedgerServer.texts(order, on: other, database: restored) == ["kept new"])
  }

  @Test("a backup uses the address in the environment and the password in the file that the settings name")
  func password() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let server = try await PostgreSQLServer()
    let name = try await LedgerServer.use(server, in: crier)
    try await LedgerServer.run(
      "CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'hunter2'", on: server, database: name)
    #expect(try crier("keys", "create").status == 0)
    try LedgerServer.write("ledger: postgresql:///none?host=/nowhere # unused\n", in: crier)
    let file = crier.home.appending(path: "password")
    try Data("hunter2\n".utf8).write(to: file)
    let variables = [
      "CRIER_LEDGER": server.addressText(user: "guarded", database: name), "CRIER_LEDGER_PASSWORD_FILE": "password",
    ]
    #expect(try crier.backup(["home", "copy"], environment: variables).status == 0)
    try Data("hunter3\n".utf8).write(to: file)
    let (status, message) = try crier.backup(["home", "other"], environment: variables)
    #expect(status != 0 && message.contains("The backup failed") && !message.contains("hunter"), "\(message)")
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "other").path))
  }

  @Test("with --without-ledger, a backup leaves out the ledger on a server and needs no pg_dump")
  func withoutLedger() async throws {
    let crier = try Command()
    defer { crier.remove() }
    try LedgerServer.write("ledger: \"postgresql:///none?host=/nowhere\"   # elsewhere\n", in: crier)
    #expect(try crier.backup(["--without-ledger", "home", "copy"]).status == 0)
    #expect(try names(in: crier.directory.appending(path: "copy")) == ["crier.yaml"])
    let programs = crier.directory.appending(path: "programs")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: programs.appending(path: "sed").path, withDestinationPath: "/bin/sed")
    let (status, message) = try crier.backup(["home", "other"], environment: ["PATH": programs.path])
    #expect(status == 69 && !FileManager.default.fileExists(atPath: crier.directory.appending(path: "other").path))
    #expect(message.contains("The program pg_dump is missing. Install the package postgresql-client."), "\(message)")
  }
}
