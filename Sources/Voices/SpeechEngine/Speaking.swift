// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Waveforms

/// A type that turns the runs of a script into sound: the engine, or a test double.
public protocol Speaking: Sendable {
  /// Returns the identity of the engine, which is part of every clip's recipe.
  func identity() async throws(SpeechEngineError) -> EngineIdentity

  /// Speaks one utterance and returns its waveform; see ``SpeechEngine/waveform(of:rate:)``.
  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int)

  /// Returns the phonemes of an utterance; see ``SpeechEngine/phonemes(_:)``.
  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String
}

extension SpeechEngine: Speaking {
  /// Speaks one run of a script.
  ///
  /// - Returns: the waveform, with a mark for each segment, and its full length in ms. The waveform is empty if the
  ///   engine says nothing. If the sound was cut off at 31 s, the full length exceeds the waveform's length.
  /// - Throws: the errors of ``SpeechEngine/speak(_:)``; `.voiceUnknown` for a run without a voice; `.speechMismatch`
  ///   when the word events show that the sound does not match the run (``SpokenWords``).
  public func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let speech = try await speak(Utterance(run, rate: rate))
    guard SpokenWords(of: run).fit(speech) else { throw SpokenWords.mismatch }
    var waveform = Waveform(samples: speech.samples, sampleRate: max(1, speech.sampleRate))
    waveform.marks = SegmentMarks.marks(
      of: run.segments, words: speech.words, endMilliseconds: waveform.durationMilliseconds)
    return (waveform, speech.totalMilliseconds)
  }
}
