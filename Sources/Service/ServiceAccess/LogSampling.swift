// SPDX-License-Identifier: Apache-2.0

/// A filter for repeated log lines: it admits the first lines of each kind in every second, and counts the others.
///
/// A pure value; the caller passes the time.
public struct LogSampling<Kind: Hashable & Sendable>: Sendable {
  private let most: Int
  private var second: Int64 = .min
  private var counts: [Kind: Int] = [:]

  /// Creates the filter.
  ///
  /// - Parameter most: The number of lines of each kind that are written per second.
  public init(most: Int = 10) { self.most = most }

  /// Whether ``finish(at:)`` must still return a number of lines that were left out.
  public var isLeavingOut: Bool { counts.values.contains { $0 > most } }

  /// Counts a line. Returns whether to write the line, and how many lines of each kind were left out in a second that
  /// is over.
  public mutating func take(_ kind: Kind, at now: Duration) -> (isWritten: Bool, leftOut: [Kind: Int]) {
    let leftOut = finish(at: now)
    second = now.components.seconds
    counts[kind, default: 0] += 1
    return (counts[kind, default: 0] <= most, leftOut)
  }

  /// Returns how many lines of each kind were left out, once their second is over.
  public mutating func finish(at now: Duration) -> [Kind: Int] {
    guard now.components.seconds != second else { return [:] }
    defer { counts = [:] }
    return counts.compactMapValues { $0 > most ? $0 - most : nil }
  }
}
