// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Finds the sounds in a long recording that are probably no words, or the rows that probably were not read.
///
/// The sounds and the rows are in the same order. A long text takes longer to say than a short one, so the sounds are
/// aligned with the rows by their lengths (dynamic programming), and the sounds or rows left over are the probable
/// ones. The result is a hint for a person; nothing is imported by it.
struct UtteranceAlignment {
  /// The indices of the sounds that match no row.
  private(set) var extraSounds: [Int] = []
  /// The indices of the rows that match no sound, each with the index of the next sound.
  private(set) var missingRows: [(row: Int, before: Int)] = []

  /// The length of the silence in every word's time, in letters: a short word takes longer for each letter.
  private static let lead = 3.0

  /// Aligns sounds with rows.
  ///
  /// - Parameters:
  ///   - durations: the length of each sound, in any unit.
  ///   - texts: the text of each row.
  init(durations: [Double], texts: [String]) {
    let lengths = texts.map { Double($0.spokenLength) + Self.lead }
    guard !durations.isEmpty, !lengths.isEmpty else { return }
    // The pace of the speaker is the ratio of the medians, which a few wrong sounds do not change.
    let pace = Self.median(durations) / Self.median(lengths)
    func cost(_ sound: Int, _ row: Int) -> Double {
      let difference = log(max(durations[sound], .leastNonzeroMagnitude) / (pace * lengths[row]))
      return difference * difference
    }
    // Only as many sounds or rows are left over as there must be.
    let spare = durations.count - lengths.count
    let (sounds, rows) = (durations.count, lengths.count)
    var best = [[Double]](repeating: [Double](repeating: .infinity, count: rows + 1), count: sounds + 1)
    best[0][0] = 0
    for sound in 0...sounds {
      let lowest = spare >= 0 ? sound - spare : sound
      let highest = spare >= 0 ? sound : sound - spare
      for row in max(0, lowest)...max(0, min(rows, highest)) where sound + row > 0 {
        var value = Double.infinity
        if sound > 0, row > 0 { value = best[sound - 1][row - 1] + cost(sound - 1, row - 1) }
        if spare > 0, sound > 0 { value = min(value, best[sound - 1][row]) }
        if spare < 0, row > 0 { value = min(value, best[sound][row - 1]) }
        best[sound][row] = value
      }
    }
    var (sound, row) = (sounds, rows)
    while sound > 0 || row > 0 {
      if sound > 0, row > 0, best[sound][row] == best[sound - 1][row - 1] + cost(sound - 1, row - 1) {
        (sound, row) = (sound - 1, row - 1)
      } else if spare > 0, sound > 0 {
        sound -= 1
        extraSounds.insert(sound, at: 0)
      } else if row > 0 {
        row -= 1
        missingRows.insert((row, sound), at: 0)
      } else {
        break
      }
    }
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
