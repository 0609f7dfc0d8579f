// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQL

@Suite("Password files", .timeLimit(.minutes(5)))
final class PasswordFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func file(_ content: String, mode: Int = 0o600) throws -> URL {
    let file = folder.appending(path: UUID().uuidString)
    let isMade = FileManager.default.createFile(
      atPath: file.path, contents: Data(content.utf8), attributes: [.posixPermissions: mode])
    #expect(isMade)
    return file
  }

  @Test(
    "a password is the only line of its file", arguments: ["hunter2", "hunter2\n", "hunter2\r\n", " hun ter2 \n"])
  func line(content: String) throws {
    #expect(try PasswordFile(try file(content)).read() == content.trimmingCharacters(in: .newlines))
  }

  @Test(
    "a password file without exactly one line is refused",
    arguments: ["", "\n", "hunter2\n\n", "hunter2\nother\n", "a\0b"])
  func lines(content: String) async throws {
    let file = try file(content)
    let failure = await failure { () throws(PostgreSQLError) in try PasswordFile(file).read() }
    #expect(failure?.code == .passwordFileUnusable)
    #expect(failure?.description.contains("hunter2") == false)
  }

  @Test("a password file that is not a text in UTF-8 is refused")
  func bytes() async throws {
    let file = try file("")
    try Data([0x68, 0xff, 0x69]).write(to: file)
    let failure = await failure { () throws(PostgreSQLError) in try PasswordFile(file).read() }
    #expect(failure?.code == .passwordFileUnusable)
  }

  @Test("a password file that is too long is refused")
  func length() async throws {
    let file = try file(String(repeating: "x", count: PasswordFile.mostBytes + 1))
    let failure = await failure { () throws(PostgreSQLError) in try PasswordFile(file).read() }
    #expect(failure?.code == .passwordFileUnusable)
  }

  @Test("a password file that others can read or change is refused", arguments: [0o640, 0o604, 0o620, 0o602, 0o666])
  func mode(mode: Int) async throws {
    let file = try file("hunter2", mode: mode)
    let failure = await failure { () throws(PostgreSQLError) in try PasswordFile(file).read() }
    #expect(failure?.code == .passwordFileUnusable)
    #expect(failure?.description.contains("chmod 600") == true)
  }

  @Test("the password file of an address is checked without a server")
  func check() async throws {
    func address(_ file: URL?) throws -> PostgreSQLAddress {
      try PostgreSQLAddress("postgresql://db1.example/payments", passwordFile: file, environment: [:])
    }
    try address(nil).checkPassword()
    try address(try file("hunter2")).checkPassword()
    let open = try address(try file("hunter2", mode: 0o644))
    let failure = await failure { () throws(PostgreSQLError) in try open.checkPassword() }
    #expect(failure?.code == .passwordFileUnusable && failure?.subject == "can be read or written by others")
  }

  @Test("a missing password file, and a folder in its place, are refused")
  func missing() async throws {
    for file in [folder, folder.appending(path: "none")] {
      let failure = await failure { () throws(PostgreSQLError) in try PasswordFile(file).read() }
      #expect(failure?.code == .passwordFileUnusable)
    }
  }

  @Test(
    "a server accepts the right password, and a wrong, missing or unusable password fails at once",
    .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
  func server() async throws {
    let server = try await PostgreSQLServer.shared()
    let administrator = try PostgreSQLConnection(to: try server.address())
    try await administrator.run { session throws(PostgreSQLError) in
      try session.script(
        """
        DO $$ BEGIN
          IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'guarded') THEN
            CREATE ROLE guarded LOGIN PASSWORD 'hunter2';
          END IF;
        END $$
        """)
    }
    let right = try server.address(user: "guarded", passwordFile: try file("hunter2\n"))
    let user: String = try await PostgreSQLConnection(to: right).run { session throws(PostgreSQLError) in
      try session.rows("SELECT current_user::text AS name")[0].read("name")
    }
    #expect(user == "guarded")

    for (password, code, sqlState) in [
      (try file("hunter3"), PostgreSQLError.Code.accessDenied, "28P01"), (nil, .accessDenied, nil),
      (try file("hunter2", mode: 0o644), .passwordFileUnusable, nil),
    ] as [(URL?, PostgreSQLError.Code, String?)] {
      let connection = try PostgreSQLConnection(to: try server.address(user: "guarded", passwordFile: password))
      // The deadline is far away: nobody waits for a password to become right.
      let failure = await failure { () throws(PostgreSQLError) in
        try await connection.run(within: .seconds(3_600)) { session throws(PostgreSQLError) in
          try session.execute("SELECT 1")
        }
      }
      #expect(failure?.code == code)
      #expect(failure?.sqlState == sqlState)
      for secret in ["hunter", "guarded"] { #expect(failure?.description.contains(secret) == false) }
      #expect(connection.state == .waiting)
    }
  }
}
