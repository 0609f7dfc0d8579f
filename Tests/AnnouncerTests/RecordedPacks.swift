// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import SpeechServers
import VoicePackMaking
import VoicePacks
import Waveforms

/// Packs of single words that the engine spoke, made once for all tests. Each test copies its pack into a folder of its
/// own.
actor RecordedPacks {
  static let shared = RecordedPacks()

  private var clips: [String: Task<[PackClip], any Error>] = [:]

  /// Returns the clips of a locale: amounts in its own currency, sentences and channels. Each word has a clip, and
  /// words that can end an announcement have a second one.
  func clips(for locale: String) async throws -> [PackClip] {
    let task = clips[locale] ?? Task { try await Self.make(locale) }
    clips[locale] = task
    return try await task.value
  }

  private static func make(_ locale: String) async throws -> [PackClip] {
    let workshop = try Workshop()
    let writer = try workshop.announcer.phraseBooks.writer(for: locale)
    var vocabulary = try writer.vocabulary()
    vocabulary.blocks.removeAll { $0.coverage.hasPrefix("every amount in") && !$0.isRequired }
    var clips: [PackClip] = []
    for word in vocabulary.words {
      for position in word.mayEnd ? [ClipPosition.plain, .final] : [.plain] {
        let segment = Script.Segment(word.text + (position == .final ? "." : ","), word.role)
        let run = Script.Run(language: locale, voice: writer.book.voice, segments: [segment])
        let spoken = try await workshop.engine.waveform(of: run, rate: writer.book.rate).waveform
        let clip = try ClipPreparation().prepare(Recording(spoken))
        clips.append(PackClip(tokens: [word.token], position: position, text: word.text, waveform: clip.waveform))
      }
    }
    return clips
  }
}

extension Workshop {
  /// Returns an announcer with this workshop's engine and one voice pack.
  ///
  /// - Parameters:
  ///   - isSynthesized: Whether the pack's manifest says that an engine spoke it.
  ///   - change: Changes the pack's clips.
  func recordedAnnouncer(
    in locale: String, id: String = "voice", isSynthesized: Bool = false, engine: (any Speaking)? = nil,
    change: ([PackClip]) -> [PackClip] = { $0 }
  ) async throws -> Announcer {
    try await writePack(id, in: locale, isSynthesized: isSynthesized, change: change)
    return packAnnouncer(engine: engine)
  }

  /// Writes a pack beside the existing ones.
  func writePack(
    _ id: String, in locale: String, isSynthesized: Bool, speechServer: String? = nil,
    change: ([PackClip]) -> [PackClip] = { $0 }
  ) async throws {
    let clips = change(try await RecordedPacks.shared.clips(for: locale))
    let facts = PackFacts(
      id: id, locale: locale, speaker: "test", licence: "CC0-1.0", isSynthesized: isSynthesized,
      speechServer: speechServer)
    _ = try PackWriter(directory: voices).write(facts, clips: clips)
  }

  /// Returns an announcer with all packs written so far.
  ///
  /// - Parameters:
  ///   - books: The phrase books, if they are not those of the project.
  ///   - choices: The file of chosen packs.
  ///   - settled: Choices that take precedence over the file.
  ///   - speechServers: The speech servers; none by default.
  func packAnnouncer(
    books: PhraseBooks? = nil, engine: (any Speaking)? = nil, choices: URL? = nil, settled: ChosenPacks = ChosenPacks(),
    speechServers: SpeechServerVoices = .none
  ) -> Announcer {
    Announcer(
      phraseBooks: books ?? announcer.phraseBooks, readers: announcer.readers, engine: engine ?? self.engine,
      packs: VoicePackShelf(
        folders: [voices], storage: .copied, choices: choices, settled: settled, interval: .zero),
      speechServers: speechServers)
  }

  var voices: URL { directory.appending(path: "Voices", directoryHint: .isDirectory) }
}

/// An engine that always fails, for tests that must not need it.
struct NoEngine: Speaking {
  private var error: SpeechEngineError {
    SpeechEngineError(.engineUnavailable, "speaking", "there is no engine", remedy: "none")
  }

  func identity() async throws(SpeechEngineError) -> EngineIdentity { throw error }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) { throw error }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String { throw error }
}
