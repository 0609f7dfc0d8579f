// SPDX-License-Identifier: Apache-2.0

import Announcements
import Waveforms

/// Computes from the engine's word events (``Speech/Word``) when each segment of a run is heard. The result depends
/// only on the arguments.
enum SegmentMarks {
  /// Returns the marks of the segments.
  ///
  /// - Parameter words: the word events in speaking order. In Chinese, the engine reports an event for each character.
  ///   For a word that it merges with the previous word, it reports no event.
  /// - Returns: a mark for each segment that contains letters. A segment without an event shares the previous segment's
  ///   mark.
  static func marks(of segments: [Script.Segment], words: [Speech.Word], endMilliseconds: Int) -> [Waveform.Mark] {
    var marks: [Waveform.Mark] = []
    var position = 0
    var joint = ""
    for (segment, spelling) in pieces(of: segments) {
      let range = position..<position + spelling.unicodeScalars.count
      position = range.upperBound
      let before = segment.first?.isWhitespace == true ? " " : joint
      joint = segment.last.map { $0.isWhitespace ? " " : $0 == "-" ? "-" : "" } ?? ""
      let text = segment.trimmingToWords
      guard !text.isEmpty else { continue }
      let start = words.first { range.contains($0.textPosition) }?.startMilliseconds
      if let start, start <= endMilliseconds, start >= marks.last?.startMilliseconds ?? 0 {
        if let last = marks.indices.last { marks[last].endMilliseconds = start }
        marks.append(Waveform.Mark(text: text, startMilliseconds: start, endMilliseconds: endMilliseconds))
      } else if let last = marks.indices.last {
        marks[last].text += before + text
      } else {
        marks.append(Waveform.Mark(text: text, startMilliseconds: 0, endMilliseconds: endMilliseconds))
      }
    }
    return marks
  }

  /// Returns the pieces that get marks of their own. In a segment of text from outside, which can have many words, each
  /// word is a piece, so that a listener can follow a long note. If the respelling of a segment has a different number
  /// of words than its text, the whole segment is one piece.
  private static func pieces(of segments: [Script.Segment]) -> [(text: String, spelling: String)] {
    segments.flatMap { segment -> [(text: String, spelling: String)] in
      let texts = words(of: segment.text)
      guard let respelled = segment.respelled else { return texts.map { ($0, $0) } }
      let spellings = words(of: respelled)
      return texts.count == spellings.count ? Array(zip(texts, spellings)) : [(segment.text, respelled)]
    }
  }

  /// Returns the words of a text, each with the white space after it.
  private static func words(of text: String) -> [String] {
    var words = [""]
    for character in text {
      if !character.isWhitespace, words[words.count - 1].last?.isWhitespace == true { words.append("") }
      words[words.count - 1].append(character)
    }
    return words
  }
}

extension String {
  /// The text without any characters before its first letter and after its last.
  fileprivate var trimmingToWords: String {
    String(drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed())
  }
}
