// SPDX-License-Identifier: Apache-2.0

/// The pauses between attempts that fail one after another. The type only computes the pauses, and its owner waits.
///
/// The longest possible pause doubles with each failure. The pause itself is random, between half of the longest
/// possible pause and all of it, so that many clients do not come back to a server at the same moment.
public struct PostgreSQLBackOff: Sendable, Hashable {
  /// The longest pause after the first failure.
  public var first: Duration
  /// The longest pause after many failures.
  public var longest: Duration
  /// The number of failures since the last success.
  public private(set) var failures = 0

  public init(first: Duration = .milliseconds(100), longest: Duration = .seconds(10)) {
    self.first = first
    self.longest = longest
  }

  /// Counts a failure.
  ///
  /// - Returns: The pause before the next attempt.
  public mutating func failed(using generator: inout some RandomNumberGenerator) -> Duration {
    // More doublings than this exceed any longest pause, and the shift must not overflow.
    let bound = min(longest, first * (1 << min(failures, 30)))
    failures = min(failures + 1, 1 << 30)
    let milliseconds = max(1, Int64(bound / .milliseconds(1)))
    return .milliseconds(Int64.random(in: (milliseconds + 1) / 2...milliseconds, using: &generator))
  }

  /// Counts a success: the next pause is a short one again.
  public mutating func succeeded() { failures = 0 }
}
