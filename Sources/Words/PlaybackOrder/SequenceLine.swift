// SPDX-License-Identifier: Apache-2.0

/// The queue of a lane's money announcements that have sequence numbers, in the order of these numbers. It also manages
/// the waiting time for missing numbers.
struct SequenceLine: Sendable {
  /// The highest number that was played or skipped; `nil` before the first.
  private(set) var last: Int64?

  /// The waiting time for a missing number, in ms.
  private let patience: Int64

  private var line = Line(isBySequence: true)
  private var settled = SettledNumbers()
  /// The announcements that were removed and came back. In the meantime, their sequence numbers counted as arrived.
  private var restored: Set<Int64> = []

  init(last: Int64?, patience: Int64) {
    self.last = last
    self.patience = patience
  }

  var items: ArraySlice<PlaybackItem> { line.items }
  var first: PlaybackItem? { line.first }

  mutating func insert(_ item: PlaybackItem) { line.insert(item) }

  /// Records that a waiting announcement was removed before and came back.
  mutating func restore(_ number: Int64) { restored.insert(number) }

  /// Records a number that arrived but will not be played here, so that the queue does not wait for it.
  mutating func settle(_ sequence: Int64, acceptedAt: Int64) {
    guard sequence > last ?? .min, !line.items.contains(where: { $0.sequence == sequence }) else { return }
    settled.insert(sequence, acceptedAt: acceptedAt)
    if last != nil || settled.lowest.map({ $0 <= 1 }) == true { last = settled.passing(last ?? 0) }
  }

  /// Whether the first announcement may be played now.
  ///
  /// The next number and late numbers may be played at once. A number after a gap may be played when the waiting time
  /// has passed since the first announcement after the gap was accepted. If the first number of a lane is not 1, it
  /// waits in the same way, because earlier numbers may still arrive.
  func isDue(at now: Int64) -> Bool {
    guard let first = line.first else { return false }
    return isNextOrLate(first) || first.acceptedAt.plus(patience) <= now || gapEnd <= now
  }

  /// If the first announcement has to wait, the time in ms when it may be played; otherwise `nil`.
  func waitsUntil(at now: Int64) -> Int64? { line.first == nil || isDue(at: now) ? nil : gapEnd }

  /// Removes and returns the first announcement, even if it would have to wait.
  mutating func takeFirst() -> (item: PlaybackItem, turn: PlaybackOrder.SequenceTurn)? {
    guard let item = line.takeFirst() else { return nil }
    let sequence = item.sequence ?? 0
    let wasRemoved = restored.remove(item.number) != nil
    if let last, sequence <= last { return (item, wasRemoved ? .inOrder : .late) }
    // Numbers before the first number ever seen are not known to be missing.
    let firstExpected = last.map { $0.plus(1) } ?? min(sequence, settled.lowest ?? sequence)
    let missing = settled.missing(from: firstExpected, before: sequence)
    last = settled.passing(sequence)
    return (item, missing.isEmpty ? .inOrder : .afterMissing(missing))
  }

  /// Removes an announcement that will not be played.
  mutating func remove(_ number: Int64) -> PlaybackItem? {
    guard let item = line.remove(number) else { return nil }
    restored.remove(number)
    if let sequence = item.sequence { settle(sequence, acceptedAt: item.acceptedAt) }
    return item
  }

  mutating func update(_ number: Int64, _ change: (inout PlaybackItem) -> Void) { line.update(number, change) }

  private func isNextOrLate(_ item: PlaybackItem) -> Bool {
    let (sequence, last) = (item.sequence ?? 0, last ?? 0)
    return sequence <= last || sequence - 1 == last
  }

  /// The time when the wait for missing numbers ends. All waiting announcements come after the gap, so the gap was
  /// noticed when the earliest of them was accepted.
  private var gapEnd: Int64 {
    let waiting = line.items.lazy.map(\.acceptedAt).min() ?? .max
    return min(waiting, settled.earliestAcceptance ?? .max).plus(patience)
  }
}
