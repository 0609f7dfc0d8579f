// SPDX-License-Identifier: Apache-2.0

import Announcements
import CryptoExtras
import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("Secrets and keys in providers.yaml")
struct ProviderKeysTests {
  private func endpoint(_ provider: String, _ lines: String...) throws -> ProviderEndpoint {
    try endpoint(provider, lines)
  }

  private func endpoint(_ provider: String, _ lines: [String]) throws -> ProviderEndpoint {
    let lines = ["  - id: a", "    provider: \(provider)"] + lines.map { "    \($0)" }
    let yaml = "endpoints:\n" + lines.joined(separator: "\n") + "\n"
    let file = try ProvidersFile(yaml: Data(yaml.utf8), file: "providers.yaml") {
      (name) throws(ProviderSettingsError) in
      throw ProviderSettingsError(.fileUnreadable, file: name, "is not read here", remedy: "leave it out")
    }
    return try #require(file.endpoints.first)
  }

  /// Returns the error for a secret, after a check that it does not contain the secret.
  private func error(_ provider: String, secret: String) -> ProviderSettingsError? {
    do {
      let url = provider == "square" ? "url: https://a.example" : "live: true"
      _ = try endpoint(provider, "secrets: [\"\(secret)\"]", url)
      return nil
    } catch {
      if secret.count > 6 { #expect(!"\(error)".contains(secret)) }
      return error as? ProviderSettingsError
    }
  }

  @Test(
    "white space around a provider's secret is an error, for every provider",
    arguments: ["stripe", "razorpay", "square", "adyen", "standard-webhooks"])
  func whiteSpace(provider: String) {
    for secret in [" 0a0b0c", "0a0b0c ", "0a0b0c\\n", "\\t0a0b0c"] {
      #expect(error(provider, secret: secret)?.code == .valueInvalid)
    }
  }

  @Test("white space inside a secret is an error for Stripe, and is allowed for Razorpay and Square")
  func inside() {
    #expect(error("stripe", secret: "whsec_ab cd")?.problem == "endpoints[0].secrets[0] contains white space")
    #expect(error("razorpay", secret: "my own words") == nil && error("square", secret: "a b") == nil)
  }

  @Test("a secret of Adyen consists of hexadecimal digits")
  func adyen() {
    #expect(error("adyen", secret: "00ffAB") == nil)
    for secret in ["0", "0g", "whsec_0a", "00 ff"] { #expect(error("adyen", secret: secret)?.code == .valueInvalid) }
  }

  @Test("a secret of Standard Webhooks is a key of 24 to 64 bytes, or a public key")
  func standardWebhooks() {
    func base64(_ count: Int) -> String { Data(repeating: 9, count: count).base64EncodedString() }
    for secret in ["whsec_" + base64(24), base64(64), "whpk_" + base64(32)] {
      #expect(error("standard-webhooks", secret: secret) == nil)
    }
    for secret in ["whsec_" + base64(23), base64(65), "whpk_" + base64(31), "whsec_", "my-secret"] {
      #expect(error("standard-webhooks", secret: secret)?.code == .valueInvalid)
    }
  }

  @Test("a single secret needs no list, and a list may have 8 secrets at most")
  func counts() throws {
    #expect(try endpoint("stripe", "secrets: whsec_a").secrets.map(\.text) == ["whsec_a"])
    #expect(try endpoint("stripe", "secrets: [a, b, c, d, e, f, g, h]").secrets.count == 8)
    #expect(throws: ProviderSettingsError.self) { try endpoint("stripe", "secrets: [a, b, c, d, e, f, g, h, i]") }
  }

  private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey
  private static let apiV3Key = "api_v3_key: 0123456789abcdef0123456789abcdef"

  @Test("a public key of WeChat Pay or Alipay is read as PEM or as bare base64")
  func publicKeys() throws {
    let key = try #require(Self.key)
    let pem = key.pemRepresentation.split(separator: "\n").joined(separator: "\\n")
    let bare = key.derRepresentation.base64EncodedString()
    let one = try endpoint("wechatpay", "public_keys: {\"7F00\": \"\(pem)\", PUB_KEY_ID_1: \"\(bare)\"}", Self.apiV3Key)
    #expect(one.publicKeys.keys.sorted() == ["7F00", "PUB_KEY_ID_1"])
    #expect(one.apiV3Key?.text == "0123456789abcdef0123456789abcdef")
    let block = key.pemRepresentation.split(separator: "\n").map { "    \($0)" }
    #expect(try endpoint("alipay", ["public_keys:", "  any: |"] + block).publicKeys.keys.first == "any")
  }

  @Test("a provider's public key that is unreadable or short is an error, and the error does not contain the key")
  func badPublicKeys() throws {
    let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)).publicKey.derRepresentation
    let key = try #require(Self.key).derRepresentation.base64EncodedString()
    for text in [short.base64EncodedString(), String(key.dropLast(8)), "my-key", "-----BEGIN PUBLIC KEY-----"] {
      let error = #expect(throws: ProviderSettingsError.self) {
        try endpoint("alipay", "public_keys: {a: \"\(text)\"}")
      }
      #expect(error?.code == .valueInvalid && error?.line == 4 && error?.description.contains(text) == false)
    }
    for lines in ["public_keys: {}", "public_keys: []", "public_keys: {a: }"] {
      #expect(throws: ProviderSettingsError.self) { try endpoint("alipay", lines) }
    }
  }

  @Test("an API v3 key of WeChat Pay has 32 ASCII characters, or 16 as in the examples of client libraries")
  func apiV3() throws {
    let bare = try #require(Self.key).derRepresentation.base64EncodedString()
    for (key, isRight) in [
      (String(repeating: "k", count: 32), true), (String(repeating: "k", count: 16), true),
      (String(repeating: "k", count: 31), false), (String(repeating: "é", count: 16), false),
      (String(repeating: "k", count: 31) + " ", false), ("", false),
    ] {
      let read = try? endpoint("wechatpay", "public_keys: {a: \"\(bare)\"}", "api_v3_key: \"\(key)\"")
      #expect((read != nil) == isRight, "\(key.utf8.count)")
    }
    #expect(throws: ProviderSettingsError.self) { try endpoint("wechatpay", "public_keys: {a: \"\(bare)\"}") }
  }

  // MARK: Mapping files

  private func endpoint(_ mapping: ProviderMapping, id: String = "a", _ lines: String...) throws -> ProviderEndpoint {
    let lines = ["  - id: \(id)", "    provider: mapping", "    mapping: a.yaml"] + lines.map { "    \($0)" }
    let yaml = "endpoints:\n" + lines.joined(separator: "\n") + "\n"
    let file = try ProvidersFile(yaml: Data(yaml.utf8), file: "providers.yaml") { (_) throws(ProviderSettingsError) in
      mapping
    }
    return try #require(file.endpoints.first)
  }

  private func mapping(_ scheme: MappingVerification.Scheme, _ form: MappingVerification.SecretForm = .text) throws
    -> ProviderMapping
  {
    var verification = MappingVerification(scheme)
    verification.secret = form
    let source = ValueSource.text("1")
    return ProviderMapping(
      name: "x", verification: verification,
      payment: PaymentFields(id: [source], amount: .major(source), currency: source))
  }

  @Test("an endpoint needs the secrets or public keys that its mapping file uses, and may have no others")
  func mappingNeeds() throws {
    let key = try #require(Self.key).derRepresentation.base64EncodedString()
    #expect(try endpoint(try mapping(.hmac), "secrets: [a]").mapping != nil)
    #expect(try endpoint(try mapping(.rsa), "public_keys: {a: \"\(key)\"}").publicKeys.count == 1)
    for (scheme, line) in [(.hmac, "live: true"), (.rsa, "live: true")] as [(MappingVerification.Scheme, String)] {
      let error = #expect(throws: ProviderSettingsError.self) { try endpoint(try mapping(scheme), line) }
      #expect(error?.code == .keyMissing)
    }
    for scheme in [MappingVerification.Scheme.rsa, .token] {
      let error = #expect(throws: ProviderSettingsError.self) {
        try endpoint(try mapping(scheme), "secrets: [a]", "public_keys: {a: \"\(key)\"}")
      }
      #expect(error?.problem.hasSuffix("is not used by the mapping file") == true)
    }
  }

  @Test("a secret must have the form that the mapping file names", arguments: [("bm8=", true), ("no", false)])
  func mappingSecrets(secret: String, isRight: Bool) throws {
    #expect(((try? endpoint(try mapping(.hmac, .base64), "secrets: [\"\(secret)\"]")) != nil) == isRight)
  }

  @Test("an endpoint without signatures needs a long id, because the id is its only protection")
  func secretID() throws {
    #expect(throws: ProviderSettingsError.self) { try endpoint(try mapping(.none), id: "till") }
    #expect(try endpoint(try mapping(.none), id: "k3jx90vbq2m8wz5t7c1d").id.count == 20)
  }
}
