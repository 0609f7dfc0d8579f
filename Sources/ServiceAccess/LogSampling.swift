// SPDX-License-Identifier: Apache-2.0

/// Which of many lines alike are written to a log: the first of each kind in a second, and then how many more there were.
///
/// A pure value, with the time passed in.
public struct LogSampling<Kind: Hashable & Sendable>: Sendable {
  private let most: Int
  private var second: Int64 = .min
  private var counts: [Kind: Int] = [:]

  /// - Parameter most: lines of a kind that are written in a second.
  public init(most: Int = 10) { self.most = most }

  /// Whether a line is written; and the lines of each kind that were not written in a second that is over.
  public mutating func take(_ kind: Kind, at now: Duration) -> (isWritten: Bool, leftOut: [Kind: Int]) {
    let leftOut = finish(at: now)
    second = now.components.seconds
    counts[kind, default: 0] += 1
    return (counts[kind, default: 0] <= most, leftOut)
  }

  /// The lines of each kind that were not written, once their second is over.
  public mutating func finish(at now: Duration) -> [Kind: Int] {
    guard now.components.seconds != second else { return [:] }
    defer { counts = [:] }
    return counts.compactMapValues { $0 > most ? $0 - most : nil }
  }
}
