// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQL
import Testing

@testable import crier

@Suite("The settings 'ledger' and 'ledger_password_file'", .timeLimit(.minutes(10)))
struct LedgerSettingTests {
  private func write(_ text: String, in crier: Command, to name: String = "crier.yaml", mode: Int = 0o600) throws {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    let file = crier.home.appending(path: name)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  /// The ledger that a command without `--config` finds.
  private func found(_ crier: Command, _ environment: [String: String] = [:]) throws -> LedgerSetting {
    try LedgerSetting(of: CrierHome(crier.home.path, environment: environment))
  }

  private static let remedy =
    "give an address such as postgresql:///crier?host=/run/postgresql, or nothing for the file in the home.\n"
  private static let password =
    "contains a password; remove it there, and name a file with the password in ledger_password_file.\n"

  @Test(
    "an address that cannot be used is an error at the start, which names the setting, its source and the remedy",
    arguments: [
      ("mysql://db1.example/crier", "it does not begin with postgresql://; \(remedy)"),
      ("ledger.sqlite", "it does not begin with postgresql://; \(remedy)"),
      (
        "postgresql://db1.example/crier?conect_timeout=5",
        "libpq cannot read it: an option is unknown, or a part has the wrong form; \(remedy)"
      ),
      ("postgresql://db1.example:0/crier", "a port is not from 1 to 65535; \(remedy)"),
      ("postgresql://db1.example/crier?service=main", "the option “service” is not allowed; \(remedy)"),
      ("postgresql://someone:hunter2@db1.example/crier", "the address \(password)"),
      ("postgresql://someone@db1.example/crier?password=hunter2", "the address \(password)"),
    ])
  func refused(address: String, words: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("port: 0\nledger: '\(address)'\n", in: crier)
    for command in [["serve"], ["serve", "--print-config"], ["keys", "list"], ["queue", "--once"]] {
      let result = try crier.run(command, seconds: 60)
      #expect(result.status == 64 && result.output.isEmpty, "\(command)")
      #expect(result.message == "crier: ledger (crier.yaml, line 2): \(words)", "\(result.message)")
    }
    let result = try crier.serve("--print-config", environment: ["CRIER_LEDGER": address])
    #expect(result.status == 64 && result.message == "crier: ledger (environment): \(words)", "\(result.message)")
    let names = try FileManager.default.contentsOfDirectory(atPath: crier.home.path)
    #expect(names == ["crier.yaml"], "nothing is made")
  }

  @Test("a password in the environment is refused only if the ledger is on a server")
  func passwordInEnvironment() throws {
    let crier = try Command()
    defer { crier.remove() }
    let variables = ["PGPASSWORD": "hunter2"]
    #expect(try crier.serve("--print-config", environment: variables).status == 0)
    let result = try crier.serve(
      "--print-config", environment: variables.merging(["CRIER_LEDGER": "postgresql:///crier"]) { $1 })
    #expect(result.message == "crier: ledger (environment): the variable PGPASSWORD \(Self.password)")
    #expect(result.status == 64)
  }

  @Test(
    "a printed address leaves out the user, and nothing else",
    arguments: [
      ("postgresql:///crier?host=/run/postgresql", "postgresql:///crier?host=/run/postgresql"),
      (
        "postgresql://someone@db1.example:5432,db2.example/crier?sslmode=verify-full",
        "postgresql://(left out)@db1.example:5432,db2.example/crier?sslmode=verify-full"
      ),
      (
        "postgresql:///crier?host=/run/postgresql&user=someone&connect_timeout=7",
        "postgresql:///crier?host=/run/postgresql&user=(left out)&connect_timeout=7"
      ),
      ("postgresql:///crier?%75ser=someone", "postgresql:///crier?%75ser=(left out)"),
      ("postgresql://someone@", "postgresql://(left out)@"),
      ("postgresql://db1.example/some@one", "postgresql://db1.example/some@one"),
    ])
  func printed(address: String, shown: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("ledger: '\(address)'\n", in: crier)
    let result = try crier.serve("--print-config")
    #expect(result.status == 0 && result.output.contains("\nledger: '\(shown)' "), "\(result.output)")
    #expect(!result.output.contains("someone"))
  }

  @Test("a command without --config takes the ledger from the environment, or else from the home's crier.yaml")
  func precedence() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try found(crier) == .file)
    try write("# Settings.\nledger: postgresql://db1.example/crier\nvolume: 900\n", in: crier)
    #expect(try found(crier).address?.description == "db1.example", "a fault of another setting does not matter")
    let variable = ["CRIER_LEDGER": "postgresql://db2.example/crier"]
    #expect(try found(crier, variable).address?.description == "db2.example")
    #expect(try found(crier, ["CRIER_LEDGER": ""]) == .file)
    #expect(try CrierHome(crier.home.path, environment: [:]).hasLedger())
    #expect(try !CrierHome(crier.home.path, environment: ["CRIER_LEDGER": ""]).hasLedger())
  }

  @Test("a misspelt setting keeps a command from using another ledger than the service")
  func misspelt() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("leger: postgresql:///crier\n", in: crier)
    let result = try crier("keys", "list")
    #expect(result.status == 64)
    #expect(result.message == "crier: leger (crier.yaml, line 1): is not a setting; did you mean ledger?\n")
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "ledger.sqlite").path))
  }

  @Test("the relative path of a password file counts from the folder of the settings file")
  func passwordFile() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("ledger: postgresql:///crier\nledger_password_file: secrets/one\n", in: crier)
    guard case .server(let server) = try found(crier) else { Issue.record("no server"); return }
    #expect(server.passwordFile?.standardizedFileURL.path == crier.home.appending(path: "secrets/one").path)
    #expect(server.passwordPlace == "crier.yaml, line 2")
    let absolute = ["CRIER_LEDGER_PASSWORD_FILE": "/etc/crier/password"]
    guard case .server(let other) = try found(crier, absolute) else { Issue.record("no server"); return }
    #expect(other.passwordFile?.path == "/etc/crier/password" && other.passwordPlace == "environment")
  }

  @Test("a password file that cannot be used is an error at the start, before a server is asked")
  func unusablePassword() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("ledger: postgresql:///crier?host=/nowhere\nledger_password_file: password\n", in: crier)
    func message(_ words: String) -> String {
      "crier: ledger_password_file (crier.yaml, line 2): the file \(words); write the password into a file of this user, "
        + "and run chmod 600 on it.\n"
    }
    for command in [["serve"] + RunningService.flags, ["keys", "list"]] {
      let result = try crier.run(command, seconds: 60)
      #expect(result.status == 64 && result.message == message("does not exist"), "\(result.message)")
    }
    for (content, mode, words) in [
      ("hunter2\n", 0o644, "can be read or written by others"), ("", 0o600, "does not have exactly one line"),
    ] {
      try write(content, in: crier, to: "password", mode: mode)
      let result = try crier("keys", "list")
      #expect(result.status == 64 && result.message == message(words), "\(result.message)")
    }
  }

  @Test("a password file is reported if the ledger is not on a server")
  func passwordWithoutServer() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("ledger_password_file: password\n", in: crier)
    #expect(
      try crier.serve("--print-config").message
        == "crier: ledger_password_file (crier.yaml, line 1): has no effect, because the setting 'ledger' contains no "
        + "server.\n")
  }

  @Test("a service reports that its --config names another ledger than its home")
  func otherConfiguration() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.directory.appending(path: "other.yaml")
    try Data("ledger: postgresql://db1.example/crier\n".utf8).write(to: file)
    let words = "ledger (other.yaml, line 1): commands such as crier keys do not read the file of --config"
    #expect(try crier.serve("--print-config", "--config", file.path).message.contains(words))
    try write("ledger: postgresql://db1.example/crier\n", in: crier)
    #expect(try crier.serve("--print-config", "--config", file.path).message.isEmpty)
  }

  @Test("a server that cannot be reached ends a command and the start of the service with status 69 and the remedy")
  func unreachable() throws {
    let crier = try Command()
    defer { crier.remove() }
    try write("ledger: postgresql://someone@/shop?host=/nowhere\n", in: crier)
    for command in [["serve"] + RunningService.flags, ["keys", "list"]] {
      let result = try crier.run(command, seconds: 120)
      #expect(result.status == 69 && result.output.isEmpty)
      #expect(
        result.message
          == "crier: Opening the ledger on the PostgreSQL server in /nowhere failed: no server accepted the connection. "
          + "Nothing was changed. Check that the server runs and can be reached from this machine.\n")
    }
  }
}
