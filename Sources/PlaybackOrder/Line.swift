// SPDX-License-Identifier: Apache-2.0

/// Announcements that wait, in the order of their acceptance, or of their sequence and then of their acceptance.
///
/// Taking the first is cheap however many wait; what was taken is let go once it is half of what is kept.
struct Line: Sendable {
  private let isBySequence: Bool
  private var kept: [PlaybackItem] = []
  private var start = 0

  init(isBySequence: Bool = false) { self.isBySequence = isBySequence }

  var items: ArraySlice<PlaybackItem> { kept[start...] }
  var first: PlaybackItem? { start < kept.count ? kept[start] : nil }
  var count: Int { kept.count - start }

  /// Puts an item where it belongs; one that is there already stays as it is.
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

  /// The index of the first that is not before the item.
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
