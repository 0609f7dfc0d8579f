// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

extension ProviderMapping {
  /// The placeholder for the signature in the body of a sample, until the signature is computed.
  package static let signaturePlaceholder = "SIGNATURE"

  /// Returns a request with the provider's signature or token, for samples and tests. A signature or token that the
  /// request already has stays.
  ///
  /// - Parameter now: The signed time, if the request has none.
  /// - Returns: nil if the request cannot be signed, because RSA needs the provider's private key, or because a part of
  ///   the message is missing.
  package func signed(_ request: ProviderRequest, with secret: ProviderSecret, at now: Date) -> ProviderRequest? {
    var request = request
    switch verification.scheme {
    case .none: return request
    case .token, .url:
      let isPlain = verification.secret != .sha256
      let digest = SignatureEncoding.hex.text(of: SignatureChecks.digest(of: secret.bytes, .sha256))
      verification.add(verification.prefix + (isPlain ? secret.text : digest), to: &request, body)
      return request
    case .rsa: return nil
    case .hmac, .digest: break
    }
    guard let key = verification.key(secret) else { return nil }
    var time = verification.time.map { "\(Int64(now.timeIntervalSince1970) * $0.unitsPerSecond)" }
    if case .header(let name) = verification.time?.place {
      if let sent = try? request.header(name) {
        time = sent
      } else if let time {
        request.headers.append((name, time))
      }
    }
    let root = try? body.fields(of: request.body)
    let place = RequestPlace(request: request, root: root, element: root)
    guard let message = try? verification.signedMessage(place, time: time, secret: key) else { return nil }
    let code =
      verification.scheme == .hmac
      ? SignatureChecks.code(of: message, key: key, verification.hash)
      : SignatureChecks.digest(of: message, verification.hash)
    var text = verification.prefix + verification.encoding.text(of: code)
    if verification.list == .pairs {
      text = "\(verification.signatureNames.first ?? "")=\(text)"
      if case .pair(let name) = verification.time?.place, let time { text = "\(name)=\(time),\(text)" }
    }
    verification.add(text, to: &request, body)
    return request
  }
}

extension MappingVerification {
  private static let unreserved = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
    .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-._~"))

  fileprivate func add(
    _ text: String, to request: inout ProviderRequest, _ format: ProviderMapping.BodyFormat
  ) {
    let encoded = text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    switch place {
    case .header(let name):
      guard !request.headers.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return }
      request.headers.append((name, text))
    case .query(let key):
      let pairs = FormFields((request.query ?? "").utf8, plusIsSpace: false)?.pairs ?? []
      guard !pairs.contains(where: { $0.key == key }) else { return }
      request.query = (request.query.map { $0 + "&" } ?? "") + "\(key)=\(encoded)"
    case .body:
      request.body.replace(ProviderMapping.signaturePlaceholder, with: format == .json ? text : encoded)
    case nil: return
    }
  }
}

extension MappingProvider {
  /// Returns a request about a payment that was never made, signed with the endpoint's first secret. It is the first
  /// sample of the mapping file that gives one payment for this endpoint, but with another id and the present time.
  ///
  /// - Parameter id: The id of the payment: letters, digits, `-` and `_`. If the sample's id is a number, the time in
  ///   milliseconds is used instead.
  /// - Returns: nil if there is no such sample, or if it cannot be signed.
  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    guard let mapping = endpoint.mapping else { return nil }
    let secret = endpoint.secrets.first ?? ProviderSecret("")
    return mapping.samples.lazy.compactMap { sample in
      guard case .payments(let payments) = sample.expectation, let old = payments.first?.identity ?? payments.first?.id
      else { return nil }
      var request = sample.request
      let isNumber = old.utf8.allSatisfy { (0x30...0x39).contains($0) }
      request.body.replace(old, with: isNumber ? "\(Int64(now.timeIntervalSince1970 * 1_000))" : id)
      if let time = mapping.payment.time, let root = JSONFields(request.body),
        let text = try? time.source.value(in: RequestPlace(request: request, root: root, element: root))?.characters
      {
        request.body.replace(text, with: time.format.text(of: now))
      }
      guard let signed = mapping.signed(request, with: secret, at: now),
        endpoint.judge(signed, at: now).payments.count == 1
      else { return nil }
      return signed
    }.first
  }
}

extension Data {
  /// Replaces the first occurrence of a text.
  fileprivate mutating func replace(_ text: String, with other: String) {
    guard let range = range(of: Data(text.utf8)) else { return }
    replaceSubrange(range, with: Data(other.utf8))
  }
}

extension PaymentFields.TimeFormat {
  fileprivate func text(of date: Date) -> String {
    switch self {
    case .rfc3339: return date.formatted(.iso8601)
    case .seconds: return "\(Int64(date.timeIntervalSince1970))"
    case .milliseconds: return "\(Int64(date.timeIntervalSince1970 * 1_000))"
    case .local(let offset):
      let zone = Timestamp.date("1970-01-01T00:00:00" + offset) ?? Date(timeIntervalSince1970: 0)
      let local = date.addingTimeInterval(-zone.timeIntervalSince1970).formatted(.iso8601)
      return String(local.prefix(19)).replacing("T", with: " ")
    }
  }
}
