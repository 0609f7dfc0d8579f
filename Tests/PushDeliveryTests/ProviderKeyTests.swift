// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import PushDelivery
import Testing

@Suite("The provider key")
struct ProviderKeyTests {
  private static let pem = P256.Signing.PrivateKey().pemRepresentation

  /// Runs the work with a fresh folder.
  private func inFolder(_ work: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "provider key \(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try work(folder)
  }

  private func write(_ data: Data, _ mode: Int = 0o600, to file: URL) throws {
    try data.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  private func read(_ file: URL) throws(ProviderKeyError) -> ProviderKey {
    try ProviderKey(file: file, id: "ABC123DEFG", team: "DEF123GHIJ")
  }

  private func error(of file: URL) throws -> ProviderKeyError {
    try #require(throws: ProviderKeyError.self) { try read(file) }
  }

  @Test(
    "a provider key in a .p8 file that only its owner can read is accepted, also through a link",
    arguments: [0o600, 0o400])
  func good(mode: Int) throws {
    try inFolder { folder in
      let file = folder.appending(path: "AuthKey_ABC123DEFG.p8")
      try write(Data(Self.pem.utf8), mode, to: file)
      let link = folder.appending(path: "link.p8")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      let expected = try P256.Signing.PrivateKey(pemRepresentation: Self.pem).publicKey.rawRepresentation
      #expect(try read(file).publicKey.rawRepresentation == expected)
      #expect(try read(link).publicKey.rawRepresentation == expected)
    }
  }

  @Test(
    "a provider key that others can read is refused, and the error names the command to run",
    arguments: [0o644, 0o640, 0o604, 0o660])
  func readableByOthers(mode: Int) throws {
    try inFolder { folder in
      let file = folder.appending(path: "key.p8")
      try write(Data(Self.pem.utf8), mode, to: file)
      let error = try error(of: file)
      #expect(error.code == .readableByOthers)
      #expect(
        error.description == "\(file.path): The provider key can be read by other users. Run this, and try again: "
          + "chmod 600 '\(file.path)'")
      // The mode of a link says nothing; that of the file behind it counts.
      let link = folder.appending(path: "link.p8")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      #expect(try self.error(of: link).code == .readableByOthers)
    }
  }

  @Test("a missing file, a folder and a dangling link are errors, because no provider key can be read")
  func unreadable() throws {
    try inFolder { folder in
      let link = folder.appending(path: "link.p8")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending(path: "none"))
      for file in [folder.appending(path: "none.p8"), folder, link] {
        #expect(try error(of: file).code == .unreadable)
      }
    }
  }

  @Test("the lines of a provider key may have any length and any line breaks")
  func lines() throws {
    let key = try ProviderKey(pem: Self.pem, id: "ABC123DEFG", team: "DEF123GHIJ")
    let lines = Self.pem.split(separator: "\n")
    let body = lines.dropFirst().dropLast().joined()
    for pem in [
      "\(lines[0])\n\(body)\n\(lines.last ?? "")", lines.joined(), lines.joined(separator: " "),
      lines.joined(separator: "\r\n"), "\u{FEFF}" + Self.pem, Self.pem + "\n\n  \r\n",
      "\(lines[0])\r\n\(body)\r\n\(lines.last ?? "")\r\n\r\n",
      "\(lines[0])\n\(body.prefix(76))\n\(body.dropFirst(76))\n\(lines.last ?? "")\n",
    ] {
      let read = try ProviderKey(pem: pem, id: "ABC123DEFG", team: "DEF123GHIJ")
      #expect(read.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
    }
    for (pem, problem) in [
      (body, "has no text from -----BEGIN PRIVATE KEY-----"), ("\(lines[0])\n\(body)", "has no text from"),
      ("\(lines[0])\n\(body.dropLast(4))\n\(lines.last ?? "")", "a part of it is missing"),
      ("\(lines[0])\n*\(body)\n\(lines.last ?? "")", "is damaged"),
    ] {
      let error = #expect(throws: ProviderKeyError.self) {
        try ProviderKey(pem: pem, id: "ABC123DEFG", team: "DEF123GHIJ")
      }
      #expect(error?.code == .notAKey)
      #expect(error?.description.contains(problem) == true && error?.description.contains(body.prefix(20)) == false)
    }
  }

  @Test("a provider key's file without a P-256 private key is refused")
  func notAKey() throws {
    let other = P384.Signing.PrivateKey().pemRepresentation
    let publicKey = P256.Signing.PrivateKey().publicKey.pemRepresentation
    let contents = [
      Data(), Data("key".utf8), Data([0xFF, 0xFE, 0x00]), Data(other.utf8), Data(publicKey.utf8),
      Data(Self.pem.dropLast(40).utf8), Data(repeating: 0x20, count: 20_000),
    ]
    try inFolder { folder in
      for (index, content) in contents.enumerated() {
        let file = folder.appending(path: "\(index).p8")
        try write(content, to: file)
        let error = try error(of: file)
        #expect(error.code == .notAKey)
        #expect(error.file == file.path)
      }
    }
  }

  @Test(
    "a key id or team id in another form than Apple's is refused",
    arguments: ["", "ABC", "ABC123DEF", "ABC123DEFGH", "ABC123DEF-", "ÄBC123DEF", "ABC123DE\"\n"])
  func ids(id: String) throws {
    let key = try #require(throws: ProviderKeyError.self) {
      try ProviderKey(pem: Self.pem, id: id, team: "DEF123GHIJ")
    }
    #expect(key.code == .keyIDInvalid)
    let team = try #require(throws: ProviderKeyError.self) {
      try ProviderKey(pem: Self.pem, id: "ABC123DEFG", team: id)
    }
    #expect(team.code == .teamInvalid)
  }

  @Test("no description of the provider key contains a part of the key")
  func secret() async throws {
    let key = try ProviderKey(pem: Self.pem, id: "ABC123DEFG", team: "DEF123GHIJ")
    let tokens = ProviderTokens(key: key)
    let token = try await tokens.token()
    var texts = ["\(key)", String(reflecting: key), "\(tokens)", "\(token)", String(reflecting: token)]
    for value in [key, tokens, token, [key], PushClientBox(key: key)] as [Any] {
      var text = ""
      dump(value, to: &text)
      texts.append(text)
    }
    let material = Self.pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let bytes = try P256.Signing.PrivateKey(pemRepresentation: Self.pem).rawRepresentation
    let hexadecimal = bytes.map { String(format: "%02x", $0) }.joined()
    for text in texts {
      for start in stride(from: 60, to: material.count - 12, by: 4) {
        let part = material.dropFirst(start).prefix(12)
        #expect(!text.contains(part))
      }
      #expect(!text.lowercased().contains(hexadecimal.prefix(16)))
      #expect(!text.contains("eyJ"))
    }
    #expect(Mirror(reflecting: key).children.compactMap(\.label) == ["id", "team"])
  }

  private struct PushClientBox {
    var key: ProviderKey
  }

  @Test("a provider token is a JSON web token with Apple's fields, signed by the key")
  func token() throws {
    let key = try ProviderKey(pem: Self.pem, id: "ABC123DEFG", team: "DEF123GHIJ")
    let parts = try key.token(issuedAt: Date(timeIntervalSince1970: 1_800_000_000.9)).split(
      separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    let data = try parts.map { try #require(Self.decode($0)) }
    let header = try #require(try JSONSerialization.jsonObject(with: data[0]) as? [String: String])
    #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
    let claims = try #require(try JSONSerialization.jsonObject(with: data[1]) as? [String: Any])
    #expect(claims.count == 2)
    #expect(claims["iss"] as? String == "DEF123GHIJ")
    #expect(claims["iat"] as? Int == 1_800_000_000)
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: data[2])
    let signed = Data("\(parts[0]).\(parts[1])".utf8)
    let publicKey = try P256.Signing.PrivateKey(pemRepresentation: Self.pem).publicKey
    #expect(publicKey.isValidSignature(signature, for: signed))
    #expect(!publicKey.isValidSignature(signature, for: signed + Data([0])))
  }

  /// Decodes base64url without padding.
  static func decode(_ text: some StringProtocol) -> Data? {
    guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
    let base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
  }
}
