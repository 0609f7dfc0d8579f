// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Waveforms

/// Whoever turns the runs of a script into sound: the engine, or a stand-in for it in tests.
public protocol Speaking: Sendable {
  /// Which engine speaks; a part of every clip's recipe.
  func identity() async throws(SpeechEngineError) -> EngineIdentity

  /// See ``SpeechEngine/waveform(of:rate:)``.
  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int)

  /// See ``SpeechEngine/phonemes(_:)``.
  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String
}

extension SpeechEngine: Speaking {
  /// Speaks one run of a script.
  ///
  /// - Returns: the waveform, with a mark for each segment, empty where the engine says nothing; and its whole length in ms, which is more than the
  ///   waveform's where the engine was cut at 31 s.
  public func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let speech = try await speak(Utterance(voice: run.voice, rate: rate, text: run.text))
    var waveform = Waveform(samples: speech.samples, sampleRate: max(1, speech.sampleRate))
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
      let text = segment.trimmingToWords
      guard !text.isEmpty else { continue }
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
  /// Without what is not a letter at both ends.
  fileprivate var trimmingToWords: String {
    String(drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed())
  }
}
