// SPDX-License-Identifier: Apache-2.0

/// The reason why a request does not prove that the provider sent it. It contains no secret, signature or part of the
/// body, except the name of a key.
package struct ProviderRejection: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The signature, or the token, is missing.
    case signatureMissing = "signature_missing"
    /// The signature, or the token, was not made with a secret or key of the endpoint.
    case signatureInvalid = "signature_invalid"
    /// A header on which the signature depends, or a key of a form, occurs twice.
    case headerRepeated = "header_repeated"
    /// The signed time is too far from now.
    case timestampOutsideWindow = "timestamp_outside_window"
    /// The request names a key that the endpoint does not have. It can be accepted as soon as the key is set.
    case keyUnknown = "key_unknown"
    /// The provider sends no requests of this form, so the request has nothing that a signature could cover.
    case malformed = "malformed"
    /// The provider tests the endpoint: with a signature that is wrong on purpose, or with a request that means
    /// nothing.
    case probe = "probe"
  }

  package let code: Code
  /// The fault and, if somebody can correct it, the remedy.
  package let message: String
  /// How many seconds the signed time is ahead of the service's clock, for `.timestampOutsideWindow`; negative if it is
  /// behind.
  package var skew: Int64?

  package init(_ code: Code, _ message: String, skew: Int64? = nil) {
    (self.code, self.message, self.skew) = (code, message, skew)
  }

  package var description: String { "\(code.rawValue): \(message)" }

  static func wrongSignature(_ what: String) -> ProviderRejection {
    ProviderRejection(
      .signatureInvalid,
      "\(what) does not match. Check the endpoint's secret or key, and that nothing changes the body.")
  }
}
