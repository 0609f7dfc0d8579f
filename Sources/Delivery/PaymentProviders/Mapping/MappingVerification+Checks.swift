// SPDX-License-Identifier: Apache-2.0

import Foundation

extension MappingVerification {
  /// The largest body that is parsed before it is verified, in bytes.
  private static let largestUnverifiedBody = 65_536
  /// The most signatures that are tried. Providers send two while a secret is replaced.
  private static let mostSignatures = 8

  /// Verifies a request.
  ///
  /// - Parameters:
  ///   - format: The form of the body, for a scheme that signs parts of it.
  ///   - pathSuffix: The text that the provider appends to the URL. If the secret is in the query, this text follows
  ///     it.
  /// - Returns: The time that the signature covers; nil if it covers none.
  /// - Throws: ``ProviderRejection``.
  func check(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, _ format: ProviderMapping.BodyFormat,
    pathSuffix: String?,
    at now: Date
  ) throws(ProviderRejection) -> Date? {
    switch scheme {
    case .none: return nil
    case .token, .url:
      try checkToken(of: request, endpoint.secrets, pathSuffix)
      return nil
    case .hmac, .rsa, .digest:
      let place = try place(in: request, format)
      let (signatures, pairs) = try signatures(in: place)
      let time = try timeText(in: request, pairs)
      try checkSignatures(signatures, place, time, endpoint)
      guard let time, let rule = self.time else { return nil }
      return try SignedTime.date(time, within: rule.window, unitsPerSecond: rule.unitsPerSecond, of: now)
    }
  }

  private func checkToken(
    of request: ProviderRequest, _ secrets: [ProviderSecret], _ pathSuffix: String?
  ) throws(ProviderRejection) {
    let token: String
    var withoutSuffix: String?
    switch place {
    case .header(let name): token = try request.requiredHeader(name)
    case .query(let key):
      guard let value = try request.queryValue(of: key) else {
        throw ProviderRejection(.signatureMissing, "The key \(key) is missing in the URL's query.")
      }
      token = value
      if let pathSuffix, token.hasSuffix(pathSuffix) { withoutSuffix = String(token.dropLast(pathSuffix.count)) }
    case .body, nil: throw ProviderRejection(.malformed, "The mapping file does not say where the token is.")
    }
    guard token.hasPrefix(prefix) else {
      throw ProviderRejection(.signatureMissing, "The token does not begin with \(prefix).")
    }
    let tokens = [String(token.dropFirst(prefix.count)), withoutSuffix].compactMap(\.self)
    let fits = tokens.contains { token in secrets.contains { isToken(token, of: $0) } }
    guard fits else {
      throw ProviderRejection(.signatureInvalid, "The token does not match. Check the endpoint's secret.")
    }
  }

  private func isToken(_ token: String, of secret: ProviderSecret) -> Bool {
    guard !secret.text.isEmpty else { return false }
    guard self.secret == .sha256 else { return SignatureChecks.areEqual(token, secret.text) }
    let token = token.lowercased()
    let digest = SignatureChecks.digest(of: secret.bytes, .sha256)
    return SignatureChecks.areEqual(token, SignatureEncoding.hex.text(of: digest))
      || isDigest(secret.text) && SignatureChecks.areEqual(token, secret.text.lowercased())
  }

  private func isDigest(_ text: String) -> Bool { SignatureEncoding.hex.bytes(of: text)?.count == 32 }

  /// Returns the request with its body, which is parsed only if a part of it is signed.
  private func place(
    in request: ProviderRequest, _ format: ProviderMapping.BodyFormat
  ) throws(ProviderRejection) -> RequestPlace {
    var needsBody = coverage == .parts
    if case .body = place { needsBody = true }
    guard needsBody else { return RequestPlace(request: request, root: nil) }
    guard request.body.count <= Self.largestUnverifiedBody, let root = try format.fields(of: request.body)
    else {
      throw ProviderRejection(
        .malformed, "The signature covers parts of the body, which is not a \(format.rawValue) of at most 64 KiB.")
    }
    return RequestPlace(request: request, root: root, element: root)
  }

  /// Returns the decoded signatures, and the other pairs of the header.
  private func signatures(
    in place: RequestPlace
  ) throws(ProviderRejection) -> (signatures: [Data], pairs: [(name: String, value: String)]) {
    let header: String
    switch self.place {
    case .header(let name): header = try place.request.requiredHeader(name)
    case .query(let key): header = try place.request.queryValue(of: key) ?? ""
    case .body(let pointer): header = place.root.flatMap(pointer.value)?.text ?? ""
    case nil: header = ""
    }
    var pairs: [(name: String, value: String)] = []
    let texts: [String]
    switch list {
    case nil: texts = [header]
    case .comma: texts = header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    case .space: texts = header.split(separator: " ").map(String.init)
    case .pairs:
      pairs = header.split(separator: ",").compactMap { entry in
        let parts = entry.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.count == 2 ? (parts[0], parts[1]) : nil
      }
      texts = pairs.filter { signatureNames.contains($0.name) }.map(\.value)
    }
    let written = texts.prefix(Self.mostSignatures).filter { $0.hasPrefix(prefix) && $0 != prefix }
    guard !written.isEmpty else {
      throw ProviderRejection(
        .signatureMissing, "The signature is missing, or does not begin as the mapping file says.")
    }
    return (written.compactMap { encoding.bytes(of: String($0.dropFirst(prefix.count))) }, pairs)
  }

  private func timeText(
    in request: ProviderRequest, _ pairs: [(name: String, value: String)]
  ) throws(ProviderRejection) -> String? {
    switch time?.place {
    case nil: return nil
    case .header(let name): return try request.requiredHeader(name)
    case .pair(let name):
      let times = pairs.filter { $0.name == name }
      guard let time = times.first else {
        throw ProviderRejection(.signatureMissing, "The signature has no time (\(name)=…).")
      }
      guard times.count == 1 else {
        throw ProviderRejection(.headerRepeated, "The signature has two times (\(name)=…).")
      }
      return time.value
    }
  }

  private func checkSignatures(
    _ signatures: [Data], _ place: RequestPlace, _ time: String?, _ endpoint: ProviderEndpoint
  ) throws(ProviderRejection) {
    let fits: Bool
    switch scheme {
    case .hmac:
      let message = try signedMessage(place, time: time, secret: Data())
      let keys = endpoint.secrets.compactMap(key)
      guard !keys.isEmpty else {
        throw ProviderRejection(
          .keyUnknown, "No secret of the endpoint can be read as \(secret.rawValue). Correct the secrets.")
      }
      fits = SignatureChecks.isAnyCode(signatures, of: message, keys: keys, hash)
    case .digest:
      var found = false
      for key in endpoint.secrets.compactMap(key) {
        let digest = SignatureChecks.digest(of: try signedMessage(place, time: time, secret: key), hash)
        found =
          found
          || signatures.contains { SignatureChecks.areEqual($0.base64EncodedString(), digest.base64EncodedString()) }
      }
      fits = found
    default:
      let message = try signedMessage(place, time: time, secret: Data())
      let keys = endpoint.rsaKeys.values
      guard !keys.isEmpty else {
        throw ProviderRejection(.keyUnknown, "The endpoint has no RSA public key that can be read. Set public_keys.")
      }
      fits = signatures.contains { signature in keys.contains { $0.isSignature(signature, of: message, hash) } }
    }
    guard fits else { throw .wrongSignature("The signature") }
  }

  /// Returns whether the signed text of a request can be divided into its parts in more than one way; see ``cuts``.
  func isAmbiguous(_ place: RequestPlace) throws(ProviderRejection) -> Bool {
    guard !cuts.isEmpty else { return false }
    return isAmbiguous(String(decoding: try signedMessage(place, time: nil, secret: Data()), as: UTF8.self))
  }

  /// Returns the key that a secret encodes; nil if the secret is empty, or not in the form that the mapping file names.
  func key(_ secret: ProviderSecret) -> Data? {
    let key =
      switch self.secret {
      case .text, .sha256: secret.bytes
      case .base64: SignatureEncoding.base64.bytes(of: secret.text)
      case .hex: SignatureEncoding.hex.bytes(of: secret.text)
      }
    return key?.isEmpty == false ? key : nil
  }

  /// Returns whether a secret can be used: a text that is not empty and is written as the mapping file says.
  package func accepts(_ secret: ProviderSecret) -> Bool { key(secret) != nil }

  /// Returns the bytes that are signed.
  ///
  /// - Throws: `.signatureInvalid` if a part is missing.
  func signedMessage(_ place: RequestPlace, time: String?, secret: Data) throws(ProviderRejection) -> Data {
    var message = Data()
    for part in self.message {
      switch part {
      case .body: message += place.request.body
      case .time: message += Data((time ?? "").utf8)
      case .secret: message += secret
      case .value(let source):
        guard let value = try source.value(in: place)?.characters else {
          throw ProviderRejection(.signatureInvalid, "The signed \(source.name) is missing.")
        }
        message += Data(value.utf8)
      }
    }
    return message
  }
}
