// SPDX-License-Identifier: Apache-2.0

import PaymentProviders

extension ProviderEndpoint {
  private static let mostSecrets = 8
  private static let mostPublicKeys = 32
  /// The fewest characters of an id that is the only secret: 20 letters and digits have 103 bits.
  private static let shortestSecretID = 20

  /// Reads the secrets and keys, and checks that they have the provider's form. Without this check, only the first
  /// webhook would show a mistake. No error contains a part of a secret.
  ///
  /// - Throws: ``ProviderSettingsError``.
  mutating func readKeys(_ fields: SettingsFields) throws(ProviderSettingsError) {
    if let secrets = fields["secrets"] {
      let nodes = try secrets.listOrOne()
      guard nodes.count <= Self.mostSecrets else {
        throw secrets.error("has more than \(Self.mostSecrets) secrets", remedy: "remove those that are no longer used")
      }
      for node in nodes { self.secrets.append(try secret(node)) }
    }
    if let key = fields["api_v3_key"] {
      let text = try key.text()
      // WeChat Pay gives 32 characters. The examples of its libraries have 16, and AES-GCM takes both.
      guard [16, 32].contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw key.error(
          "is not 32 ASCII characters",
          remedy: "copy the API v3 key from WeChat Pay's merchant platform, without spaces")
      }
      apiV3Key = ProviderSecret(text)
    }
    if let keys = fields["public_keys"] { try readPublicKeys(keys) }
    if let verification = mapping?.verification { try check(verification, fields) }
  }

  /// Checks that the endpoint has the secrets or keys that its mapping file needs, and no others.
  private func check(
    _ verification: MappingVerification, _ fields: SettingsFields
  ) throws(ProviderSettingsError) {
    for (key, isNeeded) in [("secrets", verification.needsSecrets), ("public_keys", verification.needsPublicKeys)] {
      if let value = fields[key] {
        guard isNeeded else { throw value.error("is not used by the mapping file", remedy: "remove it") }
      } else if isNeeded {
        throw fields.node.error(
          "has no key '\(key)', which the mapping file needs", .keyMissing,
          remedy: "add \(key): with what the provider's dashboard shows")
      }
    }
    guard verification.scheme == .none, id.utf8.count < Self.shortestSecretID else { return }
    throw fields.node.error(
      "has an id that can be guessed, and the provider signs nothing",
      remedy: "make the id at least \(Self.shortestSecretID) random letters and digits, and keep the URL secret")
  }

  private mutating func readPublicKeys(_ keys: SettingsNode) throws(ProviderSettingsError) {
    let entries = try keys.entries()
    guard (1...Self.mostPublicKeys).contains(entries.count) else {
      throw keys.error(
        "must have 1 to \(Self.mostPublicKeys) keys",
        remedy: "add the provider's key, and remove those that are no longer used")
    }
    for (name, node) in entries {
      let text = try node.text()
      guard RSAPublicKey(text, allowsShortKeys: mapping?.verification.allowsShortKeys == true) != nil else {
        throw node.error(
          "is not an RSA public key or certificate of at least 2,048 bits",
          remedy: "paste it with its lines BEGIN and END, or its base64 alone; a private key does not belong here")
      }
      publicKeys[name] = text
    }
  }

  private func secret(_ node: SettingsNode) throws(ProviderSettingsError) -> ProviderSecret {
    let secret = ProviderSecret(try node.text())
    func fault(_ problem: String, _ remedy: String) -> ProviderSettingsError { node.error(problem, remedy: remedy) }
    guard secret.text.first?.isWhitespace == false, secret.text.last?.isWhitespace == false else {
      throw fault("begins or ends with white space", "copy the secret again, without spaces and line breaks")
    }
    switch provider {
    case .stripe where secret.text.contains(where: \.isWhitespace):
      throw fault(
        "contains white space", "copy the secret of the endpoint again; it is whsec_ followed by letters and digits")
    case .adyen where SignatureEncoding.hex.bytes(of: secret.text) == nil:
      throw fault("is not hexadecimal digits", "copy the HMAC key of the webhook again")
    case .standardWebhooks where StandardWebhooksKey(secret) == nil:
      throw fault(
        "is not a key of Standard Webhooks",
        "give whsec_ and 24 to 64 bytes in base64, or whpk_ and the 32 bytes of a public key in base64")
    case .mapping where mapping?.verification.accepts(secret) == false:
      throw fault("is not written as the mapping file says", "copy the secret again; the mapping file names its form")
    default: return secret
    }
  }
}
