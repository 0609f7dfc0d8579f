// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The result of admitting a signed request.
  public enum SignedRequestOutcome: Sendable, Hashable {
    /// The request came for the first time and is now remembered.
    case admitted
    /// The request came before.
    case replayed
    /// Requests signed at that time have been forgotten, so this one may have come before.
    case forgotten
    /// The key has reached its limit of remembered requests.
    case tooMany
  }

  /// The maximum number of signed requests that are remembered for one key, at about 150 bytes each.
  public static let mostSignedRequests: Int64 = 100_000
}
