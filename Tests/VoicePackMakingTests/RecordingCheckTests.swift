// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import SpeechEngine
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("RecordingCheck: the engine says the words that recordings should say")
struct RecordingCheckTests {
  private let speaker = SyllableVoice(height: 1.15, pace: 150)
  private let engine = SyllableEngine()

  private var clips: [PackClip] { SyllableVoice.words.map { speaker.clip($0.text, $0.syllables) } }

  private func check() throws -> RecordingCheck {
    try RecordingCheck(engine: engine, writer: try Templates.writer("en-US"))
  }

  @Test("a new clip is compared with its pack, and only suspicions about the new clip are returned")
  func oneClip() async throws {
    let check = try check()
    var pack = clips
    // The pack's own swapped pair does not concern the new clip.
    (pack[1].waveform, pack[2].waveform) = (pack[2].waveform, pack[1].waveform)
    #expect(try await check.suspicions(of: clips[7], in: pack) == [])
    var wrong = clips[7]
    wrong.waveform = speaker.word(SyllableVoice.words[3].syllables)
    let found = try await check.suspicions(of: wrong, in: pack)
    #expect(found.allSatisfy { $0.clip == pack.count || $0.soundsLike == pack.count })
    // The pack's word is still right, so the two are not a swapped pair, unless its clip is the new clip's word.
    pack[3].waveform = speaker.word(SyllableVoice.words[7].syllables)
    #expect(
      try await check.suspicions(of: wrong, in: pack)
        == [RecordingSuspicion(kind: .swapped, clip: 3, soundsLike: pack.count)])
  }

  @Test("a new clip is compared only with single words and not with phrases, on a thread for work that blocks")
  func oneClipAmongPhrases() async throws {
    let comparisons = Locked<[Bool]>([])
    let check = try RecordingCheck(engine: engine, writer: try Templates.writer("en-US")) { first, second in
      let isWaiting = withUnsafeCurrentTask { task in
        unsafe task?.unownedTaskExecutor == WaitingThreads.shared.asUnownedTaskExecutor()
      }
      comparisons.withLock { $0.append(isWaiting) }
      return TimeWarping.distance(first, second)
    }
    let words = clips
    // Each pair of words is also a phrase, as in a pack that a program made.
    let phrases = words.flatMap { first in
      words.map { PackClip(tokens: [first.text, $0.text], text: first.text, waveform: first.waveform) }
    }
    #expect(try await check.suspicions(of: words[7], in: words + phrases) == [])
    #expect(engine.calls == 2 * words.count)
    let waiting = comparisons.withLock { $0 }
    #expect(!waiting.isEmpty && waiting.allSatisfy { $0 })
    #expect(waiting.count <= 2 * words.count * words.count, "the phrases are compared with nothing")
    #expect(try await check.suspicions(of: phrases[0], in: words + phrases) == [])
    #expect(engine.calls == 2 * words.count)
  }

  @Test("a new clip that the engine cannot say is not suspected")
  func oneUnsayableClip() async throws {
    #expect(try await check().suspicions(of: speaker.clip("unsayable", [1, 1]), in: clips) == [])
  }

  @Test("clips that the engine cannot say are left out of the comparison, and the other clips keep their index")
  func unsayable() async throws {
    var clips = clips
    clips.insert(speaker.clip("unsayable", [1, 1]), at: 0)
    (clips[4].waveform, clips[9].waveform) = (clips[9].waveform, clips[4].waveform)
    let found = try await check().suspicions(in: clips)
    #expect(found == [RecordingSuspicion(kind: .swapped, clip: 4, soundsLike: 9)])
  }

  @Test("the engine says each word once in each voice, however often it is compared, and progress counts the clips")
  func sayings() async throws {
    let check = try check()
    let steps = Locked<[Int]>([])
    _ = try await check.suspicions(in: clips) { done, total in
      steps.withLock { $0.append(done) }
      #expect(total == 12)
    }
    #expect(steps.withLock { $0 } == Array(1...12))
    #expect(engine.calls == 24)
    _ = try await check.suspicions(in: clips)
    #expect(engine.calls == 24)
  }

  @Test("if the engine cannot run, the check of recordings is an error")
  func noEngine() async throws {
    engine.isMissing = true
    let check = try check()
    let error = await #expect(throws: SpeechEngineError.self) { try await check.suspicions(in: clips) }
    #expect(error?.code == .engineUnavailable)
  }
}

/// An engine that says the words of ``SyllableVoice``, lower in the voice `m3`.
private final class SyllableEngine: Speaking {
  private let state = Locked((calls: 0, isMissing: false))

  /// The number of utterances.
  var calls: Int { state.withLock { $0.calls } }

  var isMissing: Bool {
    get { state.withLock { $0.isMissing } }
    set { state.withLock { $0.isMissing = newValue } }
  }

  func identity() async throws(SpeechEngineError) -> EngineIdentity { throw Self.error(.engineUnavailable) }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String { throw Self.error(.requestRefused) }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    state.withLock { $0.calls += 1 }
    guard !isMissing else { throw Self.error(.engineUnavailable) }
    let text = (run.segments.first?.text ?? "").filter(\.isLetter)
    guard let word = SyllableVoice.words.first(where: { $0.text == text }) else { throw Self.error(.textUnspeakable) }
    let voice = run.voice?.hasSuffix("m3") == true ? SyllableVoice(height: 0.9, pace: 100) : SyllableVoice()
    let waveform = voice.word(word.syllables)
    return (waveform, waveform.durationMilliseconds)
  }

  private static func error(_ code: SpeechEngineError.Code) -> SpeechEngineError {
    SpeechEngineError(code, "speaking", "failed", remedy: "nothing")
  }
}
