// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechEngine
import Testing

@Suite("The engine speaks")
struct SpeechEngineTests {
  @Test("spoken words become mono samples at 22,050 Hz, with a time for each word")
  func speech() async throws {
    let speech = try await BuiltSpeaker.engine().speak(BuiltSpeaker.english)
    #expect(speech.sampleRate == 22_050)
    #expect(speech.isComplete)
    #expect((2_000...4_500).contains(speech.totalMilliseconds))
    #expect(speech.words.map(\.textPosition) == [0, 9, 16, 24, 28, 34])
    let starts = speech.words.map(\.startMilliseconds)
    #expect(starts == starts.sorted())
    let loudest = try #require(speech.samples.map { abs(Int($0)) }.max())
    #expect(loudest > 8_000)
  }

  @Test("the same words give the same samples in any speaker, whatever was spoken before")
  func reproducible() async throws {
    let first = try await BuiltSpeaker.engine(speakers: 1).speak(BuiltSpeaker.chinese)
    let engine = BuiltSpeaker.engine(speakers: 2)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<24 {
        group.addTask {
          if index % 3 == 0 { _ = try await engine.speak(BuiltSpeaker.english) }
          return try await engine.speak(BuiltSpeaker.chinese) == first
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }

  @Test("a text that crashes the engine is an error, and the next text is spoken")
  func deadlyText() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1)
    let good = try await engine.speak(BuiltSpeaker.english)
    for _ in 0..<3 {
      await #expect(throws: SpeechEngineError.self) { try await engine.speak(BuiltSpeaker.deadly) }
      #expect(try await engine.speak(BuiltSpeaker.english) == good)
    }
  }

  @Test(
    "a text that cannot be spoken has an error of its own",
    arguments: [
      ("no-such-voice", 160, "hello", .voiceUnknown), ("en-us+nobody", 160, "hello", .voiceUnknown),
      ("../../etc/passwd", 160, "hello", .voiceUnknown), ("en-us+f2", 20, "hello", .requestRefused),
      ("en-us+f2", 160, "a\u{0}b", .requestRefused),
    ] as [(String, Int, String, SpeechEngineError.Code)])
  func refused(voice: String, rate: Int, text: String, code: SpeechEngineError.Code) async throws {
    let engine = BuiltSpeaker.engine(speakers: 1)
    let error = await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(Utterance(voice: voice, rate: rate, text: text))
    }
    #expect(error?.code == code)
    #expect(try await engine.speak(BuiltSpeaker.english).isComplete)
  }

  @Test("text and voice names beyond the protocol's limits do not affect other requests")
  func oversized() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1)
    let long = String(repeating: "long ", count: 20_000)
    await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(Utterance(voice: "en-us+f2", rate: 160, text: long))
    }
    await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(Utterance(voice: String(repeating: "v", count: 99), rate: 160, text: "hello"))
    }
    #expect(try await engine.speak(BuiltSpeaker.english).isComplete)
  }

  @Test("speech that is longer than any clip is cut, and its full length is reported")
  func longSpeech() async throws {
    let text = String(repeating: "received twelve dollars and fifty cents, ", count: 40)
    let speech = try await BuiltSpeaker.engine(deadlineMilliseconds: 20_000).speak(
      Utterance(voice: "en-us+f2", rate: 160, text: text))
    #expect(!speech.isComplete)
    #expect(speech.samples.count == 31 * 22_050)
    #expect(speech.totalMilliseconds > 60_000)
  }

  @Test("an utterance that exceeds its deadline is an error")
  func deadline() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1, deadlineMilliseconds: 1)
    let text = String(repeating: "received twelve dollars and fifty cents, ", count: 200)
    let error = await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(Utterance(voice: "en-us+f2", rate: 160, text: text))
    }
    #expect(error?.code == .textUnspeakable)
  }

  @Test("markup and phoneme escapes in a text are read as text")
  func markup() async throws {
    let engine = BuiltSpeaker.engine()
    let bracketed = try await engine.phonemes(Utterance(voice: "en-us+f2", rate: 160, text: "[[h@loU]]"))
    let obeyed = try await engine.phonemes(Utterance(voice: "en-us+f2", rate: 160, text: "hello"))
    // The letter h is read by its name, as in any text.
    #expect(bracketed.contains("'eItS"))
    #expect(bracketed != obeyed)
    let escaped = try await engine.speak(Utterance(voice: "en-us+f2", rate: 160, text: "[[h@loU]] <break time='60s'/>"))
    #expect(escaped.totalMilliseconds < 10_000)
  }

  @Test("a phoneme trace shows a change to another language")
  func phonemes() async throws {
    let engine = BuiltSpeaker.engine()
    let own = try await engine.phonemes(Utterance(voice: "hi+f2", rate: 160, text: "पेटीएम"))
    #expect(!own.contains("("))
    let foreign = try await engine.phonemes(Utterance(voice: "hi+f2", rate: 160, text: "PhonePe"))
    #expect(foreign.contains("(en)"))
  }
}
