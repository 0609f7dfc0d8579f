// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import SpeechEngine

/// The speech engine as the voice of a pack: it says a whole vocabulary, so that clips work with nothing recorded.
public struct EngineVoice: Sendable {
  private let engine: any Speaking
  private let voice: String
  private let rate: Int

  /// - Parameters:
  ///   - voice: the engine's name; the phrase book's by default.
  ///   - rate: words a minute; by default a fifth above the phrase book's. A word by itself takes longer than in a
  ///     sentence: at the book's own rate joined announcements lasted 1.21 (zh-CN, hi-IN) to 1.40 times (en-US) as long as
  ///     spoken ones.
  public init(engine: any Speaking, book: PhraseBook, voice: String? = nil, rate: Int? = nil) {
    self.engine = engine
    self.voice = voice ?? book.voice
    self.rate = rate ?? book.rate * 6 / 5
  }

  /// Who speaks, as the manifest says it.
  public var speaker: String { "espeak-ng \(voice), \(rate) words a minute" }

  /// A clip for each word, said before a comma, where the engine keeps its voice up; and one said before a full stop for
  /// each that may end an announcement. The same engine gives the same clips.
  ///
  /// - Parameter progress: called after each clip: how many are done, and of how many.
  /// - Throws: `SpeechEngineError`, and `PackMakingError` for a word that the engine passes over in silence.
  public func clips(
    for vocabulary: Vocabulary, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [PackClip] {
    let preparation = ClipPreparation()
    let readings = vocabulary.words.flatMap { word in
      word.mayEnd ? [(word, ClipPosition.plain), (word, .final)] : [(word, ClipPosition.plain)]
    }
    var clips: [PackClip] = []
    for (word, position) in readings {
      let segment = Script.Segment(word.text + (position == .final ? "." : ","), word.role)
      let run = Script.Run(language: vocabulary.locale, voice: voice, segments: [segment])
      let spoken = try await engine.waveform(of: run, rate: rate)
      do {
        let clip = try preparation.prepare(Recording(spoken.waveform))
        clips.append(PackClip(tokens: [word.token], position: position, text: word.text, waveform: clip.waveform))
      } catch {
        throw PackMakingError(
          error.code, word.token, "is not said by the voice \(voice) (\(error.problem))",
          remedy: "choose another voice, or another word in the phrase book")
      }
      progress(clips.count, readings.count)
    }
    return clips
  }
}
