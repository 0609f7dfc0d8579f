// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@Suite("The setting 'apns'")
struct PushSettingTests {
  private func printed(_ setting: String, _ crier: Command) throws -> Command.Result {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data(setting.utf8).write(to: crier.home.appending(path: "crier.yaml"))
    return try crier.serve("--print-config")
  }

  @Test("an entry of the setting 'apns' has apps and a key, and is printed without the key")
  func entry() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try printed(
      """
      apns:
        - app: [com.example.shop, com.example.till]
          key: keys/AuthKey.p8
          key_id: ABC123DEFG
          team: TEAM123456
        - app: com.example.other
          key: other.p8
          key_id: ABC123DEFH
          team: TEAM123456
          environment: sandbox
          server: https://localhost:8443
          ca: ca.pem
      """, crier)
    #expect(result.status == 0, "\(result.message)")
    #expect(
      result.output.contains(
        "apns: 'com.example.shop+com.example.till=ABC123DEFG com.example.other=ABC123DEFH'"), "\(result.output)")
    #expect(!result.output.contains("p8"))
  }

  @Test(
    "an unusable entry of the setting 'apns' is refused, and the message names its line and the remedy",
    arguments: [
      ("apns: yes", "give a list of entries with app, key, key_id and team; see docs/operations.md"),
      ("apns: [com.example.shop]", "give a list of entries with app, key, key_id and team"),
      ("apns:\n  - key: a.p8", "app is missing; give a bundle id, such as com.example.shop"),
      ("apns:\n  - app: [com.example.shop, [com.example.till]]", "app: give a bundle id, or a list of them"),
      ("apns:\n  - app: com.example.shop\n    key: a.p8", "key_id, team is missing; give the .p8 file of the key"),
      ("apns:\n  - app: com.example.shop\n    kee: a.p8", "kee is not a key of an entry; use app, key, team"),
      (
        "apns:\n  - app: com.example.shop\n    key: a\n    key_id: b\n    team: c\n    environment: test",
        "environment: give sandbox or production, or leave it out for both"
      ),
      (
        "apns:\n  - app: com.example.shop\n    key: a\n    key_id: b\n    team: c\n    server: http://x",
        "server: give https://HOST or https://HOST:PORT"
      ),
      (
        "apns:\n  - {app: [com.example.a, com.example.b], key: a, key_id: b, team: c}\n"
          + "  - {app: com.example.b, key: d, key_id: e, team: c, environment: sandbox}",
        "com.example.b has two keys for one environment; name each app once for each environment"
      ),
      ("apns:\n  - app: 'a b'\n    key: a\n    key_id: b\n    team: c", "app: must have 1 to 155 letters"),
    ])
  func refused(setting: String, message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try printed(setting, crier)
    #expect(result.status == 64)
    #expect(result.message.contains("apns (crier.yaml, line 1): \(message)"), "\(result.message)")
  }

  @Test("if pushes go through Apple's servers, a warning says when public_url is missing or phones cannot use it")
  func publicURL() throws {
    for (lines, isWarned) in [
      ("", true), ("public_url: http://pay.example\n", true), ("public_url: https://pay.example\n", false),
    ] {
      let crier = try Command()
      defer { crier.remove() }
      let entry = "apns: [{app: com.example.shop, key: a.p8, key_id: ABC123DEFG, team: TEAM123456}]"
      let result = try printed(lines + entry, crier)
      #expect(result.status == 0 && result.message.contains("public_url is not an https address") == isWarned)
    }
    for (host, isWarned) in [
      ("localhost", true), ("127.0.0.1:8443", true), ("[::1]:8443", true), ("192.168.1.5", false),
      ("localhost.example", false),
    ] {
      let crier = try Command()
      defer { crier.remove() }
      let entry = "apns: [{app: com.example.shop, key: a.p8, key_id: ABC123DEFG, team: TEAM123456}]"
      let result = try printed("public_url: https://\(host)\n" + entry, crier)
      #expect(result.status == 0 && result.message.contains("leads a phone to itself") == isWarned, "\(host)")
    }
  }

  @Test("if others can read the key of the setting 'apns', the service does not start, and the message has the remedy")
  func readableKey() throws {
    let crier = try Command()
    defer { crier.remove() }
    try FileManager.default.createDirectory(
      at: crier.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let key = crier.home.appending(path: "AuthKey.p8")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
    try Data(
      """
      port: 0
      output: none
      apns: [{app: com.example.shop, key: AuthKey.p8, key_id: ABC123DEFG, team: TEAM123456}]
      """.utf8
    ).write(to: crier.home.appending(path: "crier.yaml"))
    let result = try crier.serve()
    #expect(result.status == 65)
    #expect(
      result.message.contains(
        "AuthKey.p8: The provider key can be read by other users. Run this, and try again: chmod 600"))
    #expect(!result.message.contains("BEGIN"))
  }
}
