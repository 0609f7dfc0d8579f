// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder

extension PlaybackItem {
  /// An item, accepted at 0 ms by default.
  static func a(
    _ category: PlaybackItem.Category, _ number: Int64, sequence: Int64? = nil, at acceptedAt: Int64 = 0,
    expires: Int64? = nil, lasts: Int64? = nil
  ) -> PlaybackItem {
    PlaybackItem(
      number: number, category: category, sequence: sequence, acceptedAt: acceptedAt, expiresAt: expires,
      durationMilliseconds: lasts)
  }
}

extension PlaybackOrder {
  /// A lane that has accepted the items.
  static func of(_ items: PlaybackItem..., settings: Settings = Settings(), last: Int64? = nil) -> PlaybackOrder {
    var order = PlaybackOrder(settings: settings, lastSequence: last)
    for item in items { order.accept(item) }
    return order
  }

  /// Plays the next announcement to its end and returns its number, or `nil` if nothing plays.
  mutating func hear(at now: Int64 = 0) -> Int64? {
    guard case .play(let item, _) = next(at: now) else { return nil }
    finished()
    return item.number
  }

  /// Plays all announcements that can play at that moment and returns their numbers.
  mutating func hearAll(at now: Int64 = 0) -> [Int64] {
    var numbers: [Int64] = []
    while let number = hear(at: now) { numbers.append(number) }
    return numbers
  }

  /// Plays the next announcement to its end and returns the state of its sequence number.
  mutating func turn(at now: Int64 = 0) -> SequenceTurn? {
    guard case .play(_, let turn) = next(at: now) else { return nil }
    finished()
    return turn
  }

  /// Returns the numbers of the payments to summarise.
  mutating func summarised(at now: Int64 = 0) -> [Int64]? {
    guard case .summarise(let payments) = next(at: now) else { return nil }
    return payments.map(\.number)
  }
}
