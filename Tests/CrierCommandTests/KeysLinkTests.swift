// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import QRCodes
import ServiceAccess
import SQLiteLedger
import Testing

@Suite("crier keys link")
struct KeysLinkTests {
  private struct Link: Decodable {
    struct Drawing: Decodable {
      var size: Int
      var rows: [String]
    }

    var id: String
    var code: String
    var url: String
    var qr: Drawing
    var expires_at: Date
  }

  private func ledger(_ crier: Command) throws -> any Ledger.Store {
    try SQLiteLedger(at: crier.directory.appending(path: "home/ledger.sqlite"))
  }

  @Test("crier keys link prints the link and its QR code, and the ledger stores the code's digest and not the code")
  func printed() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "keys", "link", "--scope", "till", "--name", "Tablet 收银", "--url", "https://shop.example/crier/")
    #expect(result.status == 0, "\(result.message)")
    let lines = result.output.split(separator: "\n").map(String.init)
    let link = try #require(lines.first)
    let found = try #require(link.wholeMatch(of: /https:\/\/shop\.example\/crier\/#sign-in=([0-9a-z]{20})/))
    let code = try #require(SignInCode(String(found.1)))
    #expect(try Array(lines.dropFirst()) == QRCode(link).lines)
    let kept = try #require(try await ledger(crier).signInCodes().first)
    #expect(kept.scope == "till" && kept.name == "Tablet 收银" && kept.account == "default" && kept.days == 365)
    #expect(result.message.hasPrefix("Code \(kept.id) (till): the link works once, until 2"))
    let home = crier.directory.appending(path: "home")
    for file in try FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil) {
      #expect(try Data(contentsOf: file).range(of: Data(code.text.utf8)) == nil, "\(file.lastPathComponent)")
    }
    let log = try crier("keys", "log").output
    #expect(log.contains("sign_in_code_created\t\(kept.id)") && !log.contains(code.text))
  }

  @Test("crier keys link --json prints one line, and crier keys list shows the link with which a key was made")
  func json() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "keys", "link", "--json", "--scope", "operator", "--name", "Kim", "--account", "north", "--days", "30", "--url",
      "http://192.0.2.7:8080")
    #expect(result.status == 0 && result.output.split(separator: "\n").count == 1)
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let link = try decoder.decode(Link.self, from: Data(result.output.utf8))
    let drawing = try QRCode(link.url)
    #expect(link.url == "http://192.0.2.7:8080/#sign-in=\(link.code)")
    #expect(link.qr.size == drawing.size && link.qr.rows == drawing.digits)
    #expect((1...900).contains(link.expires_at.timeIntervalSinceNow))
    let code = try #require(SignInCode(link.code))
    let key = APIKey.make()
    guard
      case .signedIn(let kept) = try await ledger(crier).signIn(
        withCode: code.digest, keyID: key.id, keyDigest: key.digest)
    else {
      Issue.record("The code is not valid.")
      return
    }
    #expect(kept.scopes == ["operator"] && kept.account == "north")
    let days = try #require(kept.expiresAt).timeIntervalSinceNow / 86_400
    #expect((29.9...30).contains(days))
    let list = try crier("keys", "list").output
    #expect(list.contains("\tby link \(link.id)\n") && list.contains("\toperator\tKim\t") && list.contains("expires 2"))
    #expect(try crier("keys", "list", "--json").output.contains(#""sign_in_code":"\#(link.id)""#))
    #expect(try crier("keys", "revoke", key.id).status == 0)
  }

  @Test("the address in a sign-in link comes from the settings, and a warning says if only this machine can use it")
  func address() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.directory.appending(path: "settings.yaml")
    let arguments = ["keys", "link", "--scope", "till", "--name", "a", "--config", file.path]
    for (settings, start, note) in [
      ("public_url: https://shop.example", "https://shop.example/#sign-in=", nil),
      ("host: 192.0.2.7\nport: 81", "http://192.0.2.7:81/#sign-in=", nil),
      ("port: 81", "http://127.0.0.1:81/#sign-in=", "works on this machine only"),
    ] as [(String, String, String?)] {
      try Data(settings.utf8).write(to: file)
      let result = try crier.run(arguments)
      #expect(result.status == 0 && result.output.hasPrefix(start), "\(result.message)")
      #expect(result.message.contains("this machine only") == (note != nil))
    }
    try Data("host: 0.0.0.0".utf8).write(to: file)
    let result = try crier.run(arguments)
    #expect(result.status == 64 && result.output.isEmpty && result.message.contains("--url"))
  }

  @Test(
    "crier keys link with an invalid option ends with status 64 and makes no code",
    arguments: [
      ["--name", "a"], ["--scope", "till"], ["--scope", "admin", "--name", "a"], ["--scope", "read", "--name", "a"],
      ["--scope", "till", "--name", ""], ["--scope", "till", "--name", "a\u{7}"],
      ["--scope", "till", "--name", "a", "--days", "0"], ["--scope", "till", "--name", "a", "--days", "3651"],
      ["--scope", "till", "--name", "a", "--account", "crier:x"],
      ["--scope", "till", "--name", "a", "--url", "shop.example"],
      ["--scope", "till", "--name", "a", "--url", "https://shop.example/#a"],
      ["--scope", "till", "--name", "a", "--url", "https://shop.example/" + String(repeating: "a", count: 600)],
    ])
  func invalid(arguments: [String]) async throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["keys", "link", "--url", "https://shop.example"] + arguments)
    #expect(result.status == 64 && result.output.isEmpty, "\(result.message)")
    #expect(try await ledger(crier).signInCodes().isEmpty)
  }
}
