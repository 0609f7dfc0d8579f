// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import Testing

@Suite("crier ledger move", .timeLimit(.minutes(5)))
struct LedgerMoveCommandTests {
  private struct Report: Decodable {
    struct Table: Decodable {
      var name: String
      var rows: Int
      var sha256: String
    }

    var tables: [Table]
  }

  private static let address = "postgresql://crier@/crier?host=/nowhere"

  @Test(
    "crier ledger move refuses arguments that are not a home folder and an address",
    arguments: [
      (["a", "b"], "FROM and TO are both folders: give one home folder and one address"),
      ([address, address], "FROM and TO are both addresses"), (["", address], "FROM is empty"),
      ([address, ""], "TO is empty"), ([address, "a", "--password-file", ""], "--password-file is empty"),
      (["mysql://root:secret@host/db", "a"], "FROM: Reading the address of the PostgreSQL server failed"),
      (["a", "postgresql://crier:secret@host/crier"], "TO: Reading the address of the PostgreSQL server failed"),
    ])
  func arguments(_ words: [String], _ message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["ledger", "move"] + words)
    #expect(result.status == 64 && result.output == "")
    #expect(result.message.contains(message), "\(result.message)")
    #expect(!result.message.contains("secret"))
  }

  @Test("crier ledger move ends with 65 if FROM has no ledger, and makes nothing")
  func missing() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("ledger", "move", crier.home.path, Self.address)
    #expect(result.status == 65 && result.message.contains("there is no ledger"), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }

  @Test("crier ledger move ends with 69 if the server cannot be reached")
  func unreachable() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let result = try crier("ledger", "move", "home", Self.address + "&connect_timeout=1")
    #expect(result.status == 69 && result.message.contains("/nowhere"), "\(result.message)")
  }

  @Test(
    "crier ledger move copies a home into a database and back, and prints only the tables",
    .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
  func thereAndBack() async throws {
    let server = try await PostgreSQLServer.shared()
    let address = "postgresql://crier@/\(try await server.makeDatabase())?host=\(server.folder.path)"
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let there = try crier("ledger", "move", "home/ledger.sqlite", address, "--json")
    #expect(there.status == 0, "\(there.message)")
    #expect(there.message.contains("which are the same on both sides"))
    let report = try JSONDecoder().decode(Report.self, from: Data(there.output.utf8))
    #expect(report.tables.first { $0.name == "keys" }?.rows == 1)
    #expect(report.tables.allSatisfy { $0.sha256.utf8.count == 64 })

    let again = try crier("ledger", "move", "home", address)
    #expect(again.status == 73 && again.output == "" && again.message.contains("the database has a ledger already"))
    let taken = try crier("ledger", "move", address, "home")
    #expect(taken.status == 73 && taken.message.contains("home/ledger.sqlite failed: there is a ledger already"))

    let back = try crier("ledger", "move", address, "other")
    #expect(back.status == 0, "\(back.message)")
    #expect(
      back.output == report.tables.map { "\($0.name) \($0.rows) \($0.sha256)\n" }.joined())
    let home = crier.directory.appending(path: "other").path
    #expect(try crier("keys", "list", "--home", home).output == (try crier("keys", "list")).output)
  }
}
