// SPDX-License-Identifier: Apache-2.0

import SpeechEngine
import Testing

/// A child process runs the code in each text, and can do whatever its sandbox permits.
@Suite("An answer belongs to its request, whatever a child does")
struct MisbehavingChildTests {
  private static let texts = [
    "Received five dollars", "Received one million dollars", "Received nine cents", "Refunded seven dollars",
    "Received two dollars", "Withdrew one dollar",
  ]

  /// Expects that every text gets its own sound, several times over, so that an answer that is late by one or two is
  /// detected.
  private func expectOwnSounds(_ engine: SpeechEngine) async throws {
    for text in Self.texts {
      let samples = try await engine.speak(StandInEngine.utterance(text)).samples
      #expect(samples == StandInEngine.sound(of: text), "received the wrong sound for: \(text)")
    }
  }

  @Test("each text gets its own sound if the children of the engine behave well")
  func honest() async throws {
    let engine = try StandInEngine.engine()
    for _ in 0..<3 { try await expectOwnSounds(engine) }
  }

  @Test(
    "after an invalid answer of a child, its text gets no sound, and all later texts get their own sound",
    arguments: [
      "answers with a byte before its answer", "answers with a byte behind its answer", "answers twice",
      "answers with a number of its own", "ends without an answer", "answers half", "crashes behind its answer",
      "claims more than there is", "opens a file", "reads what is not its own", "makes another child",
      "ends its parent", "writes beyond its memory", "ends as one that is not confined",
      "reports an error of the engine", "reports an error behind its answer",
    ])
  func answers(deed: String) async throws {
    let engine = try StandInEngine.engine()
    try await expectOwnSounds(engine)
    for _ in 0..<2 {
      let error = await #expect(throws: SpeechEngineError.self) {
        try await engine.speak(StandInEngine.utterance("child: \(deed)"))
      }
      #expect(error?.code == .textUnspeakable)
      try await expectOwnSounds(engine)
    }
  }

  @Test(
    "a child that does not end is killed, its text gets no sound, and all later texts get their own sound",
    // The texts run one after another, because some use all of their permitted processor time.
    .serialized,
    arguments: [
      "fills the pipe", "never ends", "reads the next request", "lives on and answers for others",
      "lives on and writes over what comes",
    ])
  func living(deed: String) async throws {
    let engine = try StandInEngine.engine(deadlineMilliseconds: 1_000)
    try await expectOwnSounds(engine)
    let error = await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(StandInEngine.utterance("child: \(deed)"))
    }
    #expect(error?.code == .textUnspeakable)
    try await expectOwnSounds(engine)
  }

  @Test("a child that ignores its limit of processor time is killed, and its text counts as failed")
  func processorTime() async throws {
    let engine = try StandInEngine.engine(deadlineMilliseconds: 60_000)
    let error = await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(StandInEngine.utterance("child: ignores the limit of its processor time"))
    }
    #expect(error?.code == .textUnspeakable)
    try await expectOwnSounds(engine)
  }

  @Test("a child that gets no more memory and aborts has exceeded its limit, whatever signal abort() raises")
  func memory() async throws {
    let engine = try StandInEngine.engine()
    let error = await #expect(throws: SpeechEngineError.self) {
      try await engine.speak(StandInEngine.utterance("child: uses all memory and aborts"))
    }
    #expect(error?.code == .textUnspeakable && error?.problem.contains("memory limit") == true)
    try await expectOwnSounds(engine)
  }

  @Test(
    "if no child process can be started or confined, the engine is unavailable, and no text counts as failed",
    arguments: ["without-processes", "without-confinement"])
  func noChild(voice: String) async throws {
    let engine = try StandInEngine.engine()
    for text in ["Received five dollars", "child: ends as one that is not confined"] {
      let error = await #expect(throws: SpeechEngineError.self) {
        try await engine.speak(StandInEngine.utterance(text, voice: voice))
      }
      #expect(error?.code == .engineUnavailable)
    }
    try await expectOwnSounds(engine)
  }

  @Test("a text is tried again, and does not count as failed, if a voice process ends before a child receives the text")
  func endBeforeRequest() async throws {
    let engine = try StandInEngine.engine()
    let last = "child: is the last one of its voice process"
    #expect(try await engine.speak(StandInEngine.utterance(last)).samples == StandInEngine.sound(of: last))
    try await expectOwnSounds(engine)
  }

  @Test("a child that writes to every possible file descriptor does not change the sound of any text")
  func everyDescriptor() async throws {
    let engine = try StandInEngine.engine()
    let text = "child: writes to everybody"
    #expect(try await engine.speak(StandInEngine.utterance(text)).samples == StandInEngine.sound(of: text))
    try await expectOwnSounds(engine)
  }

  @Test("a child's memory is erased before the next child could see it")
  func leftovers() async throws {
    let engine = try StandInEngine.engine()
    for _ in 0..<3 {
      _ = try await engine.speak(StandInEngine.utterance("child: leaves something everywhere"))
      // There are more requests than waiting children, so that at least one child gets the same memory.
      for _ in 0..<3 {
        let samples = try await engine.speak(StandInEngine.utterance("child: looks for what others left")).samples
        #expect(samples == StandInEngine.sound(of: "nothing"))
      }
    }
  }

  @Test("an invalid answer of a child to a request for phonemes is an error, and later texts get their own sound")
  func phonemes() async throws {
    let engine = try StandInEngine.engine()
    await #expect(throws: SpeechEngineError.self) {
      try await engine.phonemes(StandInEngine.utterance("child: answers twice"))
    }
    try await expectOwnSounds(engine)
  }
}
