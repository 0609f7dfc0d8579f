// SPDX-License-Identifier: Apache-2.0

/// A queue of waiting announcements, ordered by acceptance, or by sequence number and then by acceptance.
///
/// Taking the first item is fast for any length. Memory of taken items is released once they are half of the storage.
struct Line: Sendable {
  private let isBySequence: Bool
  private var kept: [PlaybackItem] = []
  private var start = 0

  init(isBySequence: Bool = false) { self.isBySequence = isBySequence }

  var items: ArraySlice<PlaybackItem> { kept[start...] }
  var first: PlaybackItem? { start < kept.count ? kept[start] : nil }
  var count: Int { kept.count - start }

  /// Inserts an item at its place. An item that is already in the queue stays unchanged.
  mutating func insert(_ item: PlaybackItem) {
    let place = place(of: item)
    if place < kept.count, key(kept[place]) == key(item) { return }
    kept.insert(item, at: place)
  }

  mutating func takeFirst() -> PlaybackItem? {
    guard let first else { return nil }
    start += 1
    if start > 64, start * 2 > kept.count {
      kept.removeFirst(start)
      start = 0
    }
    return first
  }

  mutating func remove(_ number: Int64) -> PlaybackItem? {
    guard let index = index(of: number) else { return nil }
    return kept.remove(at: index)
  }

  mutating func update(_ number: Int64, _ change: (inout PlaybackItem) -> Void) {
    if let index = index(of: number) { change(&kept[index]) }
  }

  mutating func removeExpired(at now: Int64) -> [PlaybackItem] {
    let expired = items.filter { $0.hasExpired(at: now) }
    guard !expired.isEmpty else { return [] }
    kept = items.filter { !$0.hasExpired(at: now) }
    start = 0
    return expired
  }

  private func key(_ item: PlaybackItem) -> (Int64, Int64) { (isBySequence ? item.sequence ?? 0 : 0, item.number) }

  /// Returns the index of the first item that is not before the given item.
  private func place(of item: PlaybackItem) -> Int {
    guard let last = kept.last, start < kept.count, key(last) >= key(item) else { return kept.count }
    var range = start..<kept.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = key(kept[middle]) < key(item) ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  private func index(of number: Int64) -> Int? {
    guard !isBySequence else { return items.firstIndex { $0.number == number } }
    let place = place(of: PlaybackItem(number: number, category: .information, acceptedAt: 0))
    return place < kept.count && kept[place].number == number ? place : nil
  }
}
