// SPDX-License-Identifier: Apache-2.0

import Announcements
import Waveforms

/// Where the segments of a run are heard, from the engine's word events. A pure value.
enum SegmentMarks {
  /// - Parameter words: in the order of speaking. The engine gives no event for a word that it draws into the one
  ///   before it, and for Chinese one for each character.
  /// - Returns: a mark for each segment that has letters; one without an event of its own shares its neighbour's mark.
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

  /// Text from outside is one segment of many words: each word is a piece, so that a long note can be followed. A segment
  /// whose respelling has another number of words is one piece.
  private static func pieces(of segments: [Script.Segment]) -> [(text: String, spelling: String)] {
    segments.flatMap { segment -> [(text: String, spelling: String)] in
      let texts = words(of: segment.text)
      guard let respelled = segment.respelled else { return texts.map { ($0, $0) } }
      let spellings = words(of: respelled)
      return texts.count == spellings.count ? Array(zip(texts, spellings)) : [(segment.text, respelled)]
    }
  }

  /// The words of a text, each with the white space behind it.
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
  /// Without what is not a letter at both ends.
  fileprivate var trimmingToWords: String {
    String(drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed())
  }
}
