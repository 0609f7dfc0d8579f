// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// The words of a waveform. Each word begins in the column that corresponds to its start time.
///
/// A word that would overlap the previous word moves to the second row, and if necessary to the third. A word that fits
/// on no row is placed on the third. On the third row, a word that would overlap the next word is cut and ends with
/// `…`. If the last word would cross the right edge, it begins earlier, as far as there is room.
struct WordRows {
  static let rowLimit = 3

  let columns: Int

  private struct Word {
    var text: TerminalText
    var column: Int

    /// The first column after the word and the space that follows it.
    var next: Int { column + text.width + 1 }
  }

  func lines(_ waveform: Waveform) -> [String] {
    rows(waveform).filter { !$0.isEmpty }.map(line)
  }

  private func rows(_ waveform: Waveform) -> [[Word]] {
    let duration = waveform.durationMilliseconds
    var rows = [[Word]](repeating: [], count: Self.rowLimit)
    for mark in waveform.marks.sorted(by: { $0.startMilliseconds < $1.startMilliseconds }) {
      let text = TerminalText(mark.text)
      guard text.width > 0 else { continue }
      let start = Waveform.column(ofMilliseconds: mark.startMilliseconds, duration: duration, columns: columns)
      let column = min(start, columns - text.width)
      if let row = rows.indices.first(where: { column >= (rows[$0].last?.next ?? 0) }) {
        rows[row].append(Word(text: text, column: column))
      } else {
        rows[Self.rowLimit - 1].append(Word(text: text, column: start))
      }
    }
    rows[Self.rowLimit - 1] = cut(rows[Self.rowLimit - 1])
    return rows
  }

  /// Returns the words, each cut at the beginning of the next word, and the last word cut at the right edge. A word is
  /// left out if there is no column for it.
  private func cut(_ words: [Word]) -> [Word] {
    var kept: [Word] = []
    var end = columns
    for word in words.reversed() {
      let text = word.text.cut(to: end - word.column)
      guard text.width > 0 else { continue }
      kept.append(Word(text: text, column: word.column))
      end = word.column - 1
    }
    return kept.reversed()
  }

  private func line(_ words: [Word]) -> String {
    var line = ""
    var column = 0
    for word in words {
      line += String(repeating: " ", count: word.column - column) + word.text.string
      column = word.column + word.text.width
    }
    return line
  }
}
