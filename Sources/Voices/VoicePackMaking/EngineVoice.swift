// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import SpeechEngine
import Waveforms

/// The speech engine as the voice of a pack. A pack with this voice needs no recordings by a person.
///
/// The words are cut out of whole announcements, so that they sound as they do in a sentence. A number is cut out
/// together with its unit, both in the middle of a sentence and at its end. A word that occurs in none of these
/// announcements is spoken by itself.
public struct EngineVoice: Sendable {
  private let engine: any Speaking
  private let writer: ScriptWriter
  private let voice: String
  private let rate: Int

  /// Creates the voice.
  ///
  /// - Parameters:
  ///   - voice: the engine's name of the voice.
  ///   - rate: the speaking rate in words per minute; by default the phrase book's rate.
  public init(engine: any Speaking, writer: ScriptWriter, voice: String, rate: Int? = nil) {
    self.engine = engine
    self.writer = writer
    self.voice = voice
    self.rate = rate ?? writer.book.rate
  }

  /// The speaker's name, as written into the manifest.
  public var speaker: String { "espeak-ng \(voice), \(rate) words a minute" }

  /// Returns clips of numbers with their units, and clips of each word for each position in which the word may stand.
  /// The same engine always gives the same clips.
  ///
  /// - Parameter progress: a function that is called after each announcement and each word, with the number of finished
  ///   items and the total.
  /// - Throws: `AnnouncementError`; `SpeechEngineError`; `PackMakingError` for a word that the engine does not speak.
  public func clips(
    for vocabulary: Vocabulary, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [PackClip] {
    let sentences = try SpokenContexts(writer: writer).sentences
    let tokens = Set(vocabulary.words.map(\.token))
    var clips: [PackClip] = []
    var isSaid: [String: Set<ClipPosition>] = [:]
    for (index, sentence) in sentences.enumerated() {
      let wanted = sentence.contexts.filter { tokens.isSuperset(of: $0.tokens) }
      if !wanted.isEmpty {
        for clip in try await cut(wanted, from: sentence.run) {
          clips.append(clip)
          if clip.tokens.count == 1 { isSaid[clip.tokens[0], default: []].insert(clip.position) }
        }
      }
      progress(index + 1, sentences.count + vocabulary.words.count)
    }
    for (index, word) in vocabulary.words.enumerated() {
      for position in word.mayEnd ? [ClipPosition.plain, .final] : [.plain]
      where isSaid[word.token]?.contains(position) != true {
        clips.append(try await alone(word, position, vocabulary.locale))
      }
      progress(sentences.count + index + 1, sentences.count + vocabulary.words.count)
    }
    return clips
  }

  /// Returns the clips of one announcement. Two kinds of words have no clip here and are spoken by themselves: words
  /// that the engine merges with adjacent words, and words that are too short for a clip.
  private func cut(_ contexts: [SpokenContext], from run: Script.Run) async throws -> [PackClip] {
    var run = run
    run.voice = voice
    let spoken = try await engine.waveform(of: run, rate: rate).waveform
    let recording = try Recording(spoken)
    // The positions in the sound, in samples. The key is the length of the text before the position.
    var places: [Int: Int] = [:]
    var length = 0
    for mark in spoken.marks {
      places[length] = mark.startMilliseconds * Recording.sampleRate / 1000
      length += mark.text.spokenLength
    }
    places[length] = recording.samples.count
    let preparation = ClipPreparation(loudnessLUFS: ClipPreparation.runningSpeechLUFS)
    return contexts.compactMap { context in
      guard let start = places[context.extent.lowerBound], let end = places[context.extent.upperBound],
        start < end, end <= recording.samples.count,
        let clip = try? preparation.prepare(recording.part(start..<end))
      else { return nil }
      return PackClip(
        tokens: context.tokens, position: context.position, text: context.text, waveform: clip.waveform)
    }
  }

  /// Returns a clip of a word that is spoken by itself.
  private func alone(_ word: Vocabulary.Word, _ position: ClipPosition, _ locale: String) async throws -> PackClip {
    do {
      let clip = try await saying(word.text, word.role, position, locale)
      return PackClip(tokens: [word.token], position: position, text: word.text, waveform: clip.waveform)
    } catch let error as PackMakingError {
      throw PackMakingError(
        error.code, word.token, "cannot be spoken by the voice \(voice) (\(error.problem))",
        remedy: "choose another voice, or another word in the phrase book")
    }
  }

  /// Returns words that are spoken by themselves: either before a comma, where the engine keeps its pitch up, or before
  /// a full stop. The rate is a fifth higher, because a word by itself takes longer than in a sentence.
  ///
  /// - Throws: `SpeechEngineError`; `PackMakingError` for words that the engine does not speak.
  func saying(
    _ text: String, _ role: Script.Role, _ position: ClipPosition, _ locale: String
  ) async throws -> PreparedClip {
    let segment = Script.Segment(text + (position == .final ? "." : ","), role)
    let run = writer.respelled(Script.Run(language: locale, voice: voice, segments: [segment]))
    let spoken = try await engine.waveform(of: run, rate: min(rate * 6 / 5, Self.fastest))
    return try ClipPreparation().prepare(Recording(spoken.waveform))
  }

  /// The highest rate that the engine accepts, in words per minute.
  private static let fastest = 450
}
