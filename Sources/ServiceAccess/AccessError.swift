// SPDX-License-Identifier: Apache-2.0

/// Why a key, a signature or a limit was refused.
///
/// It has nothing of what was sent: neither a key nor a signature nor a path.
public struct AccessError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text is no ``APIKey``.
    case keyMalformed = "key_malformed"
    /// A ``RateLimit`` is out of its range.
    case rateLimitInvalid = "rate_limit_invalid"
    /// The secret that is to sign has less than 32 bytes.
    case secretTooShort = "secret_too_short"
    /// A path to be signed is no absolute path of visible ASCII without a query, or its time is before 1970.
    case notSignable = "not_signable"
    /// There is no signature, or no time beside it.
    case signatureMissing = "signature_missing"
    /// The signature or its time is not written as it should be.
    case signatureMalformed = "signature_malformed"
    /// The signature is of something else, or by somebody else.
    case signatureInvalid = "signature_invalid"
    /// The signature is of a version that does not cover all that the request says.
    case signatureOutdated = "signature_outdated"
    /// A signed URL's time is over.
    case signatureExpired = "signature_expired"
    /// A signed request is too old, or from too far in the future.
    case timestampOutsideWindow = "timestamp_outside_window"
    /// The same signed request came before.
    case replayed
    /// So many signed requests came within a short time that no more can be remembered.
    case tooManyRemembered = "too_many_remembered"
  }

  public let code: Code

  public init(_ code: Code) { self.code = code }

  /// Says what was refused, why, and what to do next.
  public var description: String {
    switch code {
    case .keyMalformed:
      "The key is not one: it begins with crier_ and has \(APIKey.length) letters. Copy the whole of it."
    case .rateLimitInvalid:
      "The rate limit is out of range: give \(RateLimit.rates.lowerBound) to \(Int(RateLimit.rates.upperBound)) requests "
        + "a second and a burst of \(RateLimit.bursts.lowerBound) to \(RateLimit.bursts.upperBound)."
    case .secretTooShort: "The signing secret is too short: it must have at least \(SignedURL.secretBytes) bytes."
    case .notSignable:
      "The path cannot be signed: give an absolute path, percent-encoded and without a query, and a time after 1970."
    case .signatureMissing: "The signature or its time is missing: send both."
    case .signatureMalformed: "The signature or its time cannot be read: send both as they were made."
    case .signatureInvalid: "The signature does not belong to this request and key: sign exactly what is sent."
    case .signatureOutdated:
      "The signature is of version 1: it covers no Idempotency-Key and no other Content-Type than application/json. "
        + "Sign with version 2."
    case .signatureExpired: "The signed URL's time is over: ask for a new one."
    case .timestampOutsideWindow:
      "The signed request's time is too far from the service's: set the clock, and sign each attempt anew."
    case .replayed: "The signed request came before: sign each attempt anew, with its own time."
    case .tooManyRemembered: "Too many signed requests came within a short time: try again in a moment."
    }
  }
}
