// SPDX-License-Identifier: Apache-2.0

/// The way in which requests are verified, as a mapping file describes it.
package struct MappingVerification: Sendable, Hashable {
  package enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// An HMAC of the message. Its key is the endpoint's secret.
    case hmac
    /// A signature with RSA and PKCS #1 v1.5 over the message, and the endpoint's public key.
    case rsa
    /// A plain hash of the message, with the secret as a part of the message (Midtrans).
    case digest
    /// The secret itself, in a header.
    case token
    /// The secret itself, in the URL's query.
    case url
    /// Nothing but the URL. Nobody can guess its last part.
    case none
  }

  /// The form of several signatures in one header.
  package enum List: String, Sendable, Hashable, CaseIterable {
    case comma, space
    /// `t=1,v1=ab`: names and values.
    case pairs
  }

  /// The form of a secret's text.
  package enum SecretForm: String, Sendable, Hashable, CaseIterable {
    /// Its own bytes.
    case text
    case base64, hex
    /// Only for tokens: the header has the SHA-256 of the secret in hexadecimal digits (PhonePe). An endpoint's secret
    /// may also be those 64 digits, so that the settings contain no password.
    case sha256
  }

  /// The place of the signature or the token.
  package enum Place: Sendable, Hashable {
    case header(String)
    case query(String)
    /// In the body, which is then parsed before it is verified, and must have at most 64 KiB.
    case body(JSONPointer)
  }

  /// A part of the message that is signed.
  package enum Part: Sendable, Hashable {
    /// The body's exact bytes.
    case body
    /// The signed time as it was sent.
    case time
    /// The secret itself, for ``Scheme/digest``.
    case secret
    case value(ValueSource)
  }

  /// The time that the signature covers.
  package struct Time: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
      case header(String)
      /// The name of a pair in the signature's header.
      case pair(String)
    }
    package var place: Place
    /// The greatest allowed difference from the service's clock, in seconds.
    package var window: Int64 = SignedTime.window
    /// 1 for seconds, 1,000 for milliseconds.
    package var unitsPerSecond: Int64 = 1

    package init(_ place: Place) { self.place = place }
  }

  package var scheme: Scheme
  package var hash = SignatureHash.sha256
  package var encoding = SignatureEncoding.hex
  /// The place of the signature; nil for ``Scheme/none``.
  package var place: Place?
  /// The text before each signature.
  package var prefix = ""
  package var list: List?
  /// The names of the pairs that are signatures, for ``List/pairs``.
  package var signatureNames: [String] = []
  package var message: [Part] = []
  /// The values that the second part of a ``Scheme/digest`` may have, if the parts have no separator. If the message of
  /// a payment could be divided into its parts with two of these values, the payment is refused, because another
  /// payment has the same hash (Midtrans).
  package var cuts: [String] = []
  package var secret = SecretForm.text
  /// Whether a key of 1,024 bits is accepted.
  package var allowsShortKeys = false
  package var time: Time?

  package init(_ scheme: Scheme) { self.scheme = scheme }

  /// The part of the body that the scheme protects from changes.
  package enum Coverage: Sendable, Hashable {
    case wholeBody
    /// Only the places that the message names.
    case parts
    case nothing
  }

  package var coverage: Coverage {
    guard [.hmac, .rsa, .digest].contains(scheme) else { return .nothing }
    if message.contains(.body) { return .wholeBody }
    return message.contains { if case .value(let source) = $0 { source.isInBody } else { false } } ? .parts : .nothing
  }

  /// Returns whether a text can be divided into a first part, one of ``cuts`` and a decimal number in more than one
  /// way.
  func isAmbiguous(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.dropFirst().reduce(0) { count, start in
      count
        + cuts.count { cut in
          bytes[start...].starts(with: cut.utf8)
            && Self.isDecimal(bytes[(start + cut.utf8.count)...])
        }
    } > 1
  }

  /// Whether bytes are a number such as 45000.00, without leading zeros.
  private static func isDecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } })
    else { return false }
    return parts[0].count == 1 || parts[0].first != UInt8(ascii: "0")
  }

  /// Returns whether the signature protects a value from changes.
  package func covers(_ source: ValueSource) -> Bool {
    if case .text = source { return true }
    guard coverage != .nothing else { return false }
    return source.isInBody && coverage == .wholeBody || message.contains(.value(source))
  }

  /// Whether the endpoint needs secrets.
  package var needsSecrets: Bool { ![.rsa, .none].contains(scheme) }
  /// Whether the endpoint needs public keys.
  package var needsPublicKeys: Bool { scheme == .rsa }
}
