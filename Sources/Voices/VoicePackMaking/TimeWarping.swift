// SPDX-License-Identifier: Apache-2.0

/// Compares two sounds that say the same words at different speeds, by dynamic time warping: the frames of one sound
/// are assigned to frames of the other sound, in order, so that the assigned frames differ as little as possible.
///
/// A frame may be assigned several times. The assignment may leave the diagonal by at most 35 % of the length, because
/// no speaker says half of a word three times faster than the other half.
enum TimeWarping {
  typealias Frame = SpeechFeatures.Frame

  private static let reach: Float = 0.35

  /// Returns the mean distance of the assigned frames.
  static func distance(_ first: [Frame], _ second: [Frame]) -> Float {
    warp(first, second) { _, _, _ in }
  }

  /// Returns the assigned frames as pairs of indices, in order.
  static func path(_ first: [Frame], _ second: [Frame]) -> [(Int, Int)] {
    var steps = Array(repeating: Step.both, count: first.count * second.count)
    _ = warp(first, second) { row, column, step in steps[row * second.count + column] = step }
    var (row, column) = (first.count - 1, second.count - 1)
    var path = [(row, column)]
    while row > 0 || column > 0 {
      let step = steps[row * second.count + column]
      if step != .second { row -= 1 }
      if step != .first { column -= 1 }
      path.append((row, column))
    }
    return path.reversed()
  }

  /// The sound that advances by one frame.
  private enum Step { case both, first, second }

  private static func warp(
    _ first: [Frame], _ second: [Frame], _ note: (_ row: Int, _ column: Int, _ step: Step) -> Void
  ) -> Float {
    // Not from outside: the features of a sound have at least one frame, even if the sound has no samples.
    precondition(!first.isEmpty && !second.isEmpty, "A sound has at least one frame.")
    let columns = second.count
    var above = Array(repeating: Float.infinity, count: columns)
    var costs = above
    for row in first.indices {
      let middle = Float(row) / Float(first.count)
      // The diagonal's neighbours are always reachable, however short a sound is.
      let low = max(0, min(Int(((middle - reach) * Float(columns)).rounded(.up)), columns * row / first.count))
      let high = min(
        columns - 1,
        max(
          Int(((middle + reach) * Float(columns)).rounded(.down)),
          row == first.count - 1 ? columns - 1 : columns * (row + 1) / first.count))
      for column in costs.indices { costs[column] = .infinity }
      for column in low...high {
        let distance = first[row].distance(to: second[column])
        var best = row == 0 && column == 0 ? 2 * distance : Float.infinity
        var step = Step.both
        if row > 0, column > 0 { best = above[column - 1] + 2 * distance }
        if row > 0, above[column] + distance < best { (best, step) = (above[column] + distance, .first) }
        if column > 0, costs[column - 1] + distance < best { (best, step) = (costs[column - 1] + distance, .second) }
        costs[column] = best
        note(row, column, step)
      }
      swap(&above, &costs)
    }
    return above[columns - 1] / Float(first.count + columns)
  }
}
