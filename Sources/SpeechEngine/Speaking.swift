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
  /// - Returns: the waveform, with a mark for each segment, empty where the engine says nothing; and its whole length in
  ///   ms, which is more than the waveform's where the engine was cut at 31 s.
  /// - Throws: as ``SpeechEngine/speak(_:)``, and `.speechMismatch` when the sound is not the run's by its word events
  ///   (``SpokenWords``).
  public func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let speech = try await speak(Utterance(voice: run.voice, rate: rate, text: run.spelling))
    guard SpokenWords(of: run).fit(speech) else { throw SpokenWords.mismatch }
    var waveform = Waveform(samples: speech.samples, sampleRate: max(1, speech.sampleRate))
    waveform.marks = SegmentMarks.marks(
      of: run.segments, words: speech.words, endMilliseconds: waveform.durationMilliseconds)
    return (waveform, speech.totalMilliseconds)
  }
}
