// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import ProviderSettings

/// Mapping files of the tests.
enum MappingTexts {
  static let secret = ProviderSecret("a secret of the tests")
  static let now = Date(timeIntervalSince1970: 1_700_000_000)
  static let payment = "{id: /id, amount: {major: /sum}, currency: /currency}"
  static let body = #"{"id":"p1","sum":"12.50","currency":"EUR"}"#

  /// Returns an endpoint with a mapping file that consists of the parts.
  static func endpoint(
    _ verification: String, payment: String = payment, kinds: String = "[{kind: received}]", more: String = "",
    secrets: [ProviderSecret] = [secret]
  ) throws -> ProviderEndpoint {
    let yaml = "name: Test\nverification: \(verification)\nkinds: \(kinds)\npayment: \(payment)\n\(more)\n"
    var endpoint = ProviderEndpoint(id: "till", provider: .mapping, account: "shop")
    endpoint.mapping = try MappingFile(yaml: Data(yaml.utf8), file: "test.yaml").mapping
    endpoint.secrets = secrets
    return endpoint
  }

  static let signed = "{scheme: hmac, hash: sha256, encoding: hex, header: X-Sig, message: [body]}"

  /// Returns the outcomes of an endpoint for a body with a valid signature.
  static func outcomes(
    _ body: String, payment: String = payment, kinds: String = "[{kind: received}]", more: String = "",
    headers: [(name: String, value: String)] = []
  ) throws -> [ProviderOutcome] {
    let endpoint = try endpoint(signed, payment: payment, kinds: kinds, more: more)
    let request = ProviderRequest(headers: headers, body: Data(body.utf8))
    guard let signedRequest = endpoint.mapping?.signed(request, with: secret, at: now) else { return [] }
    return endpoint.judge(signedRequest, at: now).outcomes
  }
}

extension ProviderEndpoint {
  /// Returns why a request is rejected; nil if it is verified.
  func rejection(
    _ headers: [(name: String, value: String)], _ body: String = MappingTexts.body, query: String? = nil
  ) -> ProviderRejection.Code? {
    judge(ProviderRequest(headers: headers, body: Data(body.utf8), query: query), at: MappingTexts.now).rejection?.code
  }
}
