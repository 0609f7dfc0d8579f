// SPDX-License-Identifier: Apache-2.0

/// The reason why a key, a signature or a limit was refused.
///
/// The error contains no part of the request: no key, no signature and no path.
public struct AccessError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text does not have the form of an ``APIKey``.
    case keyMalformed = "key_malformed"
    /// The values of a ``RateLimit`` are out of range.
    case rateLimitInvalid = "rate_limit_invalid"
    /// The signing secret has fewer than 32 bytes.
    case secretTooShort = "secret_too_short"
    /// The path to sign is not an absolute path of visible ASCII without a query, or the time is before 1970.
    case notSignable = "not_signable"
    /// The signature or its time is missing.
    case signatureMissing = "signature_missing"
    /// The signature or its time is not in the expected format.
    case signatureMalformed = "signature_malformed"
    /// The signature does not match the content, or was made with another key.
    case signatureInvalid = "signature_invalid"
    /// The signature's version does not cover everything that the request contains.
    case signatureOutdated = "signature_outdated"
    /// The signed URL has expired.
    case signatureExpired = "signature_expired"
    /// The signed request is too old, or its time is too far in the future.
    case timestampOutsideWindow = "timestamp_outside_window"
    /// The same signed request was already received.
    case replayed
    /// Too many signed requests came within a short time. No more can be remembered.
    case tooManyRemembered = "too_many_remembered"
  }

  public let code: Code

  public init(_ code: Code) { self.code = code }

  /// The refused item, the reason, and the next step.
  public var description: String {
    switch code {
    case .keyMalformed:
      "The key is incomplete or has a typing error. Keys start with crier_ and have \(APIKey.length) characters. Copy the "
        + "whole key."
    case .rateLimitInvalid:
      "The rate limit is out of range. Give \(RateLimit.rates.lowerBound) to \(Int(RateLimit.rates.upperBound)) "
        + "requests a second and a burst of \(RateLimit.bursts.lowerBound) to \(RateLimit.bursts.upperBound)."
    case .secretTooShort: "The signing secret is too short. It must have at least \(SignedURL.secretBytes) bytes."
    case .notSignable:
      "The path cannot be signed. Give an absolute, percent-encoded path without a query, and a time after 1970."
    case .signatureMissing: "The signature or its time is missing. Send both."
    case .signatureMalformed:
      "The signature or its time is malformed. Send both exactly as they were created; in a link, & must not have become "
        + "&amp;, nor = %3D."
    case .signatureInvalid:
      "The signature does not match this request and key. Sign the request exactly as you send it."
    case .signatureOutdated:
      "The signature has version 1, which covers neither an Idempotency-Key nor a Content-Type other than "
        + "application/json. Sign with version 2."
    case .signatureExpired: "The signed URL has expired. Request the announcement again for a new one."
    case .timestampOutsideWindow:
      "The timestamp is too far from the service's clock. Set your clock, and sign each attempt anew."
    case .replayed: "The signed request was already received. Sign each attempt anew, with its own timestamp."
    case .tooManyRemembered: "Too many signed requests came within a short time. Try again in a moment."
    }
  }
}
