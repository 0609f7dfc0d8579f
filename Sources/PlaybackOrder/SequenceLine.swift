// SPDX-License-Identifier: Apache-2.0

/// The money of a lane that has a sequence number, in its order, and how long a missing number is waited for.
struct SequenceLine: Sendable {
  /// The highest number that was said or passed over; `nil` before the first.
  private(set) var last: Int64?

  /// In ms.
  private let patience: Int64

  private var line = Line(isBySequence: true)
  private var settled = SettledNumbers()

  init(last: Int64?, patience: Int64) {
    self.last = last
    self.patience = patience
  }

  var items: ArraySlice<PlaybackItem> { line.items }
  var first: PlaybackItem? { line.first }

  mutating func insert(_ item: PlaybackItem) { line.insert(item) }

  /// A number that came and will not be said here is not waited for.
  mutating func settle(_ sequence: Int64, acceptedAt: Int64) {
    guard sequence > last ?? .min, !line.items.contains(where: { $0.sequence == sequence }) else { return }
    settled.insert(sequence, acceptedAt: acceptedAt)
    if last != nil || settled.lowest.map({ $0 <= 1 }) == true { last = settled.passing(last ?? 0) }
  }

  /// Whether the first may be said now.
  ///
  /// A number that is next, or late, may. Behind a gap it may when the missing number was waited for since the first of
  /// those behind the gap was accepted. The very first number of a lane may have had others before it, and waits the
  /// same, unless it is 1.
  func isDue(at now: Int64) -> Bool {
    guard let first = line.first else { return false }
    return isNextOrLate(first) || first.acceptedAt.plus(patience) <= now || gapEnd <= now
  }

  /// When the first may be said, in ms, if that is to be waited for.
  func waitsUntil(at now: Int64) -> Int64? { line.first == nil || isDue(at: now) ? nil : gapEnd }

  /// Takes the first out, due or not: it is said now.
  mutating func takeFirst() -> (item: PlaybackItem, turn: PlaybackOrder.SequenceTurn)? {
    guard let item = line.takeFirst() else { return nil }
    let sequence = item.sequence ?? 0
    if let last, sequence <= last { return (item, .late) }
    // What came before the first number that was ever seen is not known to be missing.
    let firstExpected = last.map { $0.plus(1) } ?? min(sequence, settled.lowest ?? sequence)
    let missing = settled.missing(from: firstExpected, before: sequence)
    last = settled.passing(sequence)
    return (item, missing.isEmpty ? .inOrder : .afterMissing(missing))
  }

  /// Takes out what will not be said.
  mutating func remove(_ number: Int64) -> PlaybackItem? {
    guard let item = line.remove(number) else { return nil }
    if let sequence = item.sequence { settle(sequence, acceptedAt: item.acceptedAt) }
    return item
  }

  mutating func update(_ number: Int64, _ change: (inout PlaybackItem) -> Void) { line.update(number, change) }

  private func isNextOrLate(_ item: PlaybackItem) -> Bool {
    let (sequence, last) = (item.sequence ?? 0, last ?? 0)
    return sequence <= last || sequence - 1 == last
  }

  /// All that came and was not passed is behind the gap, and the first of it tells when the gap was seen.
  private var gapEnd: Int64 {
    let waiting = line.items.lazy.map(\.acceptedAt).min() ?? .max
    return min(waiting, settled.earliestAcceptance ?? .max).plus(patience)
  }
}
