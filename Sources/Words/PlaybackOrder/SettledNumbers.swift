// SPDX-License-Identifier: Apache-2.0

/// Sequence numbers that have arrived, but that no waiting announcement of money has. The order does not wait for these
/// numbers. Their announcements were cancelled or are not about money.
///
/// Consecutive numbers are stored as one range, so the storage stays small even if many are cancelled after a gap.
struct SettledNumbers: Sendable {
  private struct Run {
    var numbers: ClosedRange<Int64>
    /// The time when the earliest accepted announcement of the range was accepted, in ms.
    var since: Int64
  }

  /// The ranges in ascending order, with at least one other number between two ranges.
  private var runs: [Run] = []

  var lowest: Int64? { runs.first?.numbers.lowerBound }
  var earliestAcceptance: Int64? { runs.lazy.map(\.since).min() }
  /// The number of stored ranges.
  var runCount: Int { runs.count }

  mutating func insert(_ number: Int64, acceptedAt: Int64) {
    let start = runs.firstIndex { $0.numbers.upperBound >= number.plus(-1) } ?? runs.endIndex
    let end = runs[start...].firstIndex { $0.numbers.lowerBound > number.plus(1) } ?? runs.endIndex
    var run = Run(numbers: number...number, since: acceptedAt)
    for other in runs[start..<end] {
      let (lower, upper) = (other.numbers.lowerBound, other.numbers.upperBound)
      run.numbers = min(run.numbers.lowerBound, lower)...max(run.numbers.upperBound, upper)
      run.since = min(run.since, other.since)
    }
    runs.replaceSubrange(start..<end, with: [run])
  }

  /// Forgets the numbers up to the given one, and the numbers that follow it without a gap.
  ///
  /// - Returns: The last forgotten number, or the given number if none follows.
  mutating func passing(_ number: Int64) -> Int64 {
    var last = number
    let passed = runs.prefix { run in
      guard run.numbers.lowerBound <= last.plus(1) else { return false }
      last = max(last, run.numbers.upperBound)
      return true
    }
    runs.removeFirst(passed.count)
    return last
  }

  /// Returns the numbers from `first` up to, but not including, `number` that are not settled.
  func missing(from first: Int64, before number: Int64) -> [ClosedRange<Int64>] {
    var missing: [ClosedRange<Int64>] = []
    var start = first
    for run in runs.prefix(while: { $0.numbers.lowerBound < number }) {
      if run.numbers.lowerBound > start { missing.append(start...run.numbers.lowerBound - 1) }
      start = max(start, run.numbers.upperBound.plus(1))
    }
    if start < number { missing.append(start...number - 1) }
    return missing
  }
}

extension Int64 {
  /// Returns the sum, clamped to the range of `Int64`. Numbers and times come from outside and must not crash the
  /// player.
  func plus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
