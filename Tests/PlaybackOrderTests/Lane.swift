// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder

extension PlaybackItem {
  /// Accepted at 0 ms unless said.
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
  /// A lane on which these have been accepted.
  static func of(_ items: PlaybackItem..., settings: Settings = Settings(), last: Int64? = nil) -> PlaybackOrder {
    var order = PlaybackOrder(settings: settings, lastSequence: last)
    for item in items { order.accept(item) }
    return order
  }

  /// The number of what plays next, heard to its end at once; `nil` when nothing plays.
  mutating func hear(at now: Int64 = 0) -> Int64? {
    guard case .play(let item, _) = next(at: now) else { return nil }
    finished()
    return item.number
  }

  /// The numbers of all that can be heard at that moment.
  mutating func hearAll(at now: Int64 = 0) -> [Int64] {
    var numbers: [Int64] = []
    while let number = hear(at: now) { numbers.append(number) }
    return numbers
  }

  /// What the next one, heard to its end, was told of its sequence number.
  mutating func turn(at now: Int64 = 0) -> SequenceTurn? {
    guard case .play(_, let turn) = next(at: now) else { return nil }
    finished()
    return turn
  }

  /// The numbers that are to be summarised.
  mutating func summarised(at now: Int64 = 0) -> [Int64]? {
    guard case .summarise(let payments) = next(at: now) else { return nil }
    return payments.map(\.number)
  }
}
