// SPDX-License-Identifier: Apache-2.0

/// Sequence numbers that came and are not waited for, though none of the line has them: they were cancelled, or belong
/// to an announcement that is not about money.
///
/// Numbers that follow one another are kept as one, so that it stays small however many are cancelled behind a gap.
struct SettledNumbers: Sendable {
  private struct Run {
    var numbers: ClosedRange<Int64>
    /// When the first of them was accepted, in ms.
    var since: Int64
  }

  /// Rising, with a number or more between one and the next.
  private var runs: [Run] = []

  var lowest: Int64? { runs.first?.numbers.lowerBound }
  var earliestAcceptance: Int64? { runs.lazy.map(\.since).min() }
  /// How much is kept.
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

  /// Forgets the numbers up to this one and those that follow it without a gap.
  /// - Returns: the last of them, which is the number itself when none follows.
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

  /// The numbers from one up to, and without, another that are not settled.
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
  /// The sum, or the bound that it would exceed: numbers and times come from outside, and none may stop the player.
  func plus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
