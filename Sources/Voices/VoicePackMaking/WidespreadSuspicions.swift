// SPDX-License-Identifier: Apache-2.0

extension [RecordingSuspicion] {
  /// The largest number of swapped pairs that a person makes by mistake.
  private static var mostPairs: Int { 3 }

  /// Whether there are more swapped pairs than a person makes by mistake. The recordings are then probably shifted
  /// against the rows, or in another language.
  var hasManyPairs: Bool { pairs.count > Self.mostPairs }

  /// Whether the recordings are probably shifted against the rows, or in another language: there are many swapped
  /// pairs, or a chain of neighbours. If each recording says the next row's words, the pairs are (1, 2), (3, 4), (5, 6)
  /// and so on, and a row outside a pair sounds like the next row.
  ///
  /// The indices of the clips must be in the order of the rows.
  var areWidespread: Bool {
    let pairs = pairs
    if hasManyPairs { return true }
    let areChained =
      pairs.allSatisfy { $0.count == 2 }
      && zip(pairs.dropFirst(), pairs).contains { $0.lowerBound == $1.upperBound + 1 }
    // A person may well swap “one” with “two”, and also “three” with “four”, so a third sign is needed.
    return areChained && (pairs.count > 2 || contains { $0.kind == .otherWords && abs($0.clip - $0.soundsLike) == 1 })
  }

  /// The clip from which the recordings are shifted; `nil` if the suspicions do not have the pattern of a shift. In
  /// that pattern, most suspicions are about two consecutive rows.
  var firstShifted: Int? {
    let neighbours = filter { abs($0.clip - $0.soundsLike) == 1 }
    guard neighbours.count * 3 >= count * 2 else { return nil }
    return neighbours.map { Swift.min($0.clip, $0.soundsLike) }.min()
  }

  private var pairs: [ClosedRange<Int>] {
    filter { $0.kind == .swapped }
      .map { Swift.min($0.clip, $0.soundsLike)...Swift.max($0.clip, $0.soundsLike) }
      .sorted { $0.lowerBound < $1.lowerBound }
  }
}
