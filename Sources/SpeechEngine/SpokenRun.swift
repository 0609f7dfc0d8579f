// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Waveforms

extension SpeechEngine {
  /// Speaks one run of a script.
  ///
  /// - Returns: the waveform, with a mark for each segment; and its whole length in ms, which is more than the
  ///   waveform's where the engine was cut at 31 s.
  public func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let speech = try await speak(Utterance(voice: run.voice, rate: rate, text: run.text))
    guard speech.sampleRate > 0, !speech.samples.isEmpty else {
      throw SpeechEngineError(
        .textUnspeakable, "speaking", "the engine made no sound of a run of words", remedy: "write it another way")
    }
    var waveform = Waveform(samples: speech.samples, sampleRate: speech.sampleRate)
    waveform.marks = SegmentMarks.marks(
      of: run.segments, words: speech.words, endMilliseconds: waveform.durationMilliseconds)
    return (waveform, speech.totalMilliseconds)
  }
}

/// Where the segments of a run are heard, from the engine's word events. A pure value.
enum SegmentMarks {
  /// - Parameter words: in the order of speaking. The engine gives no event for a word that it draws into the one
  ///   before it, and for Chinese one for each character.
  /// - Returns: a mark for each segment that has letters; one without an event of its own shares its neighbour's mark.
  static func marks(of segments: [Script.Segment], words: [Speech.Word], endMilliseconds: Int) -> [Waveform.Mark] {
    var marks: [Waveform.Mark] = []
    var position = 0
    var isSpaced = false
    for segment in pieces(of: segments) {
      let range = position..<position + segment.unicodeScalars.count
      position = range.upperBound
      let space = isSpaced || segment.first?.isWhitespace == true ? " " : ""
      isSpaced = segment.last?.isWhitespace == true
      let text = segment.trimmingWhitespace
      guard text.contains(where: \.isLetter) else { continue }
      let start = words.first { range.contains($0.textPosition) }?.startMilliseconds
      if let start, start <= endMilliseconds, start >= marks.last?.startMilliseconds ?? 0 {
        if let last = marks.indices.last { marks[last].endMilliseconds = start }
        marks.append(Waveform.Mark(text: text, startMilliseconds: start, endMilliseconds: endMilliseconds))
      } else if let last = marks.indices.last {
        marks[last].text += space + text
      } else {
        marks.append(Waveform.Mark(text: text, startMilliseconds: 0, endMilliseconds: endMilliseconds))
      }
    }
    return marks
  }

  /// Text from outside is one segment of many words: each word is a piece, so that a long note can be followed.
  private static func pieces(of segments: [Script.Segment]) -> [String] {
    segments.flatMap { segment in
      var pieces = [""]
      for character in segment.text {
        if !character.isWhitespace, pieces[pieces.count - 1].last?.isWhitespace == true { pieces.append("") }
        pieces[pieces.count - 1].append(character)
      }
      return pieces
    }
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
