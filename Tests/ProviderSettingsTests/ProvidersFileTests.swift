// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("providers.yaml")
struct ProvidersFileTests {
  private func endpoints(_ yaml: String) throws -> [ProviderEndpoint] {
    try ProvidersFile(yaml: Data(yaml.utf8), file: "providers.yaml") { (name) throws(ProviderSettingsError) in
      throw ProviderSettingsError(.fileUnreadable, file: name, "there is no such mapping file", remedy: "add it")
    }.endpoints
  }

  /// Reads one endpoint from its lines.
  private func endpoint(_ lines: String...) throws -> ProviderEndpoint {
    try #require(try endpoints(Self.yaml(lines)).first)
  }

  private static func yaml(_ lines: [String]) -> String {
    "endpoints:\n" + lines.enumerated().map { ($0 == 0 ? "  - " : "    ") + $1 + "\n" }.joined()
  }

  private func error(_ lines: String...) -> ProviderSettingsError? {
    do {
      _ = try endpoints(Self.yaml(lines))
      return nil
    } catch {
      return error as? ProviderSettingsError
    }
  }

  private static let stripe = ["id: till", "provider: stripe", "secrets: [whsec_a]"]

  private func stripeError(_ line: String) -> ProviderSettingsError? {
    error(Self.stripe[0], Self.stripe[1], Self.stripe[2], line)
  }

  @Test("an endpoint needs an id, a provider and a secret, and each of its other keys has a default")
  func defaults() throws {
    let endpoint = try endpoint("id: till", "provider: stripe", "secrets: [whsec_a]")
    #expect(endpoint.id == "till" && endpoint.provider == .stripe && endpoint.account == "default")
    #expect(endpoint.secrets.map(\.text) == ["whsec_a"] && endpoint.isLive && !endpoint.speaksPayer)
    #expect(endpoint.kinds == [.received, .refunded] && endpoint.deliver == [.play] && endpoint.maximumAge == 3_600)
    #expect(endpoint.merchants.isEmpty && endpoint.locale == nil && endpoint.device == nil)
    #expect(endpoint.path == "/v1/providers/stripe/till")
  }

  @Test("each key of an endpoint in providers.yaml is read")
  func everything() throws {
    let endpoint = try endpoint(
      "id: till-2_b", "provider: square", "account: shop 7", "secrets: [a, b]", "url: https://shop.example/x?y=1",
      "payer: true", "kinds: [received, failed]", "live: false", "max_age: 60", "deliver: [play, push]",
      "device: phone-1", "locale: zh-CN", "merchants: [M1, M2]", "till_entries: true")
    #expect(endpoint.id == "till-2_b" && endpoint.account == "shop 7" && endpoint.secrets.map(\.text) == ["a", "b"])
    #expect(endpoint.url == "https://shop.example/x?y=1" && endpoint.speaksPayer && !endpoint.isLive)
    #expect(endpoint.kinds == [.received, .failed] && endpoint.maximumAge == 60 && endpoint.deliver == [.play, .push])
    #expect(endpoint.device == "phone-1" && endpoint.locale == "zh-CN" && endpoint.merchants == ["M1", "M2"])
    #expect(endpoint.takesTillEntries && !endpoint.awaitsCapture)
  }

  @Test("an Adyen endpoint can wait for the capture")
  func capture() throws {
    let key = String(repeating: "0A", count: 32)
    #expect(try endpoint("id: a", "provider: adyen", "secrets: [\(key)]", "capture: true").awaitsCapture)
  }

  @Test("the list of endpoints in providers.yaml may be empty")
  func none() throws { #expect(try endpoints("endpoints: []\n").isEmpty) }

  @Test("two endpoints with the same id are an error that names both lines")
  func repeated() {
    let yaml = """
      endpoints:
        - {id: till, provider: stripe, secrets: [a]}
        - {id: shop, provider: stripe, secrets: [a]}
        - {id: till, provider: razorpay, secrets: [a]}
      """
    let error = #expect(throws: ProviderSettingsError.self) { try endpoints(yaml) }
    #expect(error?.line == 4 && error?.problem.contains("'till', which another endpoint has in line 2") == true)
  }

  @Test(
    "a misspelt key or word in providers.yaml is an error with its line and a suggestion",
    arguments: [
      ("secretss: [a]", 5, "did you mean 'secrets'?"), ("max-age: 5", 5, "did you mean 'max_age'?"),
      ("Payer: true", 5, "did you mean 'payer'?"), ("kinds: [recieved]", 5, "did you mean 'received'?"),
      ("deliver: [paly]", 5, "did you mean 'play'?"), ("merchant: x", 5, "did you mean 'merchants'?"),
      ("colour: red", 5, "the keys are id, provider"),
    ])
  func nearMiss(line: String, number: Int, remedy: String) {
    let error = stripeError(line)
    #expect(error?.line == number && error?.remedy.contains(remedy) == true, "\(String(describing: error))")
  }

  @Test(
    "a wrong value in providers.yaml is an error with its line",
    arguments: [
      "payer: yes", "payer: \"true\"", "live: 1", "max_age: 0", "max_age: 1h", "max_age: 99999999", "kinds: []",
      "kinds: [gone]", "deliver: []", "deliver: loud", "locale: \"en US\"", "locale:", "account: \"\"",
      "account: crier:files", "account: \"a\\nb\"", "merchants: []", "merchants: [\"a b\"]", "device: \"\"",
      "secrets: []", "kinds: {a: b}",
    ])
  func wrong(line: String) {
    let lines = line.hasPrefix("secrets") ? [Self.stripe[0], Self.stripe[1], "live: true", line] : Self.stripe + [line]
    let error = error(lines[0], lines[1], lines[2], lines[3])
    #expect(error?.code == .valueInvalid && error?.line == 5, "\(String(describing: error))")
  }

  @Test(
    "an endpoint's id that is not allowed in a URL is an error",
    arguments: ["Till", "my till", "till/2", "..", "kasse-ä", "\"\"", "a%20", String(repeating: "a", count: 65)])
  func ids(id: String) {
    #expect(error("id: \(id)", "provider: stripe", "secrets: [a]")?.code == .valueInvalid)
  }

  @Test("an endpoint's key that only another provider uses is an error, because it would have no effect")
  func foreignKeys() {
    for line in ["capture: true", "till_entries: true", "url: https://a.example", "api_v3_key: a", "mapping: a.yaml"] {
      let error = stripeError(line)
      #expect(error?.line == 5 && error?.problem.hasSuffix("is not a key of stripe") == true)
    }
    #expect(error("id: a", "provider: alipay", "secrets: [a]")?.problem.contains("secrets") == true)
  }

  @Test(
    "a missing key of an endpoint is an error that names the key to add",
    arguments: [
      ("stripe", "secrets"), ("razorpay", "secrets"), ("adyen", "secrets"), ("standard-webhooks", "secrets"),
      ("square", "secrets"), ("wechatpay", "public_keys"), ("alipay", "public_keys"), ("mapping", "mapping"),
    ])
  func missing(provider: String, key: String) {
    let error = error("id: a", "provider: \(provider)")
    #expect(error?.code == .keyMissing && error?.line == 2 && error?.remedy.hasPrefix("add \(key):") == true)
  }

  @Test("an endpoint without an id or a provider is an error")
  func noID() {
    #expect(error("provider: stripe", "secrets: [a]")?.code == .keyMissing)
    #expect(error("id: a", "secrets: [a]")?.code == .keyMissing)
    #expect(error("id: a", "provider: square", "secrets: [a]")?.remedy.hasPrefix("add url:") == true)
  }

  @Test("an endpoint that delivers pushes needs a device")
  func push() { #expect(stripeError("deliver: [push]")?.remedy.hasPrefix("add device:") == true) }

  @Test(
    "a provider that cannot be supported is an error with the reason and an alternative",
    arguments: [
      "mercadopago", "Mercado Pago", "portone", "mollie", "sumup", "gocardless", "paypal", "toss", "paypay", "line-pay",
      "LINE Pay", "btcpay", "casso", "wise",
    ])
  func unsupported(name: String) {
    let error = error("id: a", "provider: \(name)", "secrets: [a]")
    #expect(error?.code == .providerUnsupported && error?.line == 3)
    #expect(error?.problem.contains("whose webhooks cannot be announced: it") == true)
    #expect(error?.remedy.contains("POST /v1/announcements") == true)
  }

  @Test("the name of an unknown provider is an error that suggests a mapping file or the closest name")
  func otherProviders() {
    #expect(error("id: a", "provider: shopify")?.remedy.contains("provider: mapping") == true)
    #expect(error("id: a", "provider: strpie")?.remedy == "did you mean 'stripe'?")
    #expect(error("id: a", "provider: wechat-pay")?.code == .valueInvalid)
  }

  @Test(
    "the name of a mapping file contains no folder, and ends with .yaml",
    arguments: ["../x.yaml", "a/b.yaml", ".yaml", ".hidden.yaml", "shopify", "shopify.yml", "a b.yaml"])
  func mappingNames(name: String) {
    #expect(error("id: a", "provider: mapping", "mapping: \"\(name)\"")?.code == .valueInvalid)
  }

  @Test("a missing mapping file is an error that names the file")
  func noMapping() {
    let error = error("id: a", "provider: mapping", "mapping: mine.yaml", "secrets: [a]")
    #expect(error?.code == .fileUnreadable && error?.file == "mine.yaml")
  }

  @Test(
    "a providers.yaml that is not a list of endpoints is an error",
    arguments: ["", "a: 1", "endpoints:", "[a]", "endpoints: x", "endpoints: [x]", "a: ["])
  func shapes(yaml: String) {
    #expect(throws: ProviderSettingsError.self) { try endpoints(yaml) }
  }
}
