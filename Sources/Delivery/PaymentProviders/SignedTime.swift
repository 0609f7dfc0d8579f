// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The rule for the time that a signature covers.
package enum SignedTime {
  /// The greatest difference between the signed time and the service's clock, in seconds, as in Stripe's libraries.
  /// Unlike these libraries, Crier also applies the limit to times in the future.
  package static let window: Int64 = 300

  /// Reads a time since 1970, as a whole number, and checks that it is close to the service's clock.
  ///
  /// - Parameters:
  ///   - window: The greatest difference in seconds.
  ///   - unitsPerSecond: 1 for seconds, 1,000 for milliseconds.
  /// - Throws: `.malformed` for a text that is not a whole number without sign and leading zeros;
  ///   `.timestampOutsideWindow`.
  package static func date(
    _ text: String, within window: Int64 = window, unitsPerSecond: Int64 = 1, of now: Date
  ) throws(ProviderRejection) -> Date {
    guard text.utf8.count <= 15, let time = Int64(text), time >= 0, String(time) == text else {
      throw ProviderRejection(.malformed, "The signed time is not a whole number.")
    }
    let seconds = time / unitsPerSecond
    let difference = seconds - Int64(now.timeIntervalSince1970.rounded(.down))
    guard abs(difference) <= window else {
      throw ProviderRejection(
        .timestampOutsideWindow,
        "The signed time is \(ClockSkew.text(of: abs(difference))) \(difference < 0 ? "behind" : "ahead of") our clock, and at "
          + "most \(window) seconds are allowed. Check the clock. A request that was saved earlier may be too old.",
        skew: difference)
    }
    return Date(timeIntervalSince1970: TimeInterval(time) / TimeInterval(unitsPerSecond))
  }
}

/// The difference between this clock and a provider's clock, in words.
package enum ClockSkew {
  /// Returns a time in words: `6 minutes`.
  package static func text(of seconds: Int64) -> String {
    switch seconds {
    case ..<120: "\(seconds) seconds"
    case ..<7_200: "\(seconds / 60) minutes"
    case ..<172_800: "\(seconds / 3_600) hours"
    default: "\(seconds / 86_400) days"
    }
  }

  /// Returns a sentence about this clock.
  package static func sentence(providerAheadBy skew: Int64) -> String {
    "Your clock is \(text(of: abs(skew))) \(skew > 0 ? "behind" : "ahead of") the provider's."
  }
}
