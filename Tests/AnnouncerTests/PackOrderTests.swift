// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import SpeechEngine
import Testing
import VoicePackMaking
import Waveforms

@Suite("The default voice")
struct PackOrderTests {
  @Test("auto prefers a recorded pack to a built pack, whatever their order")
  func recordedFirst() async throws {
    let workshop = try Workshop()
    try await workshop.writePack("a-built", in: "zh-CN", isSynthesized: true)
    try await workshop.writePack("b-recorded", in: "zh-CN", isSynthesized: false)
    let clip = try await workshop.packAnnouncer().render(try Workshop.payment(), into: nil)
    #expect(clip.report.voice == "b-recorded")
    #expect(clip.report.method == "clips")
  }

  @Test("auto prefers the engine to a built pack")
  func engineBeforeBuilt() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", isSynthesized: true)
    #expect(try await announcer.render(try Workshop.payment(), into: nil).report.method == "speech")
  }

  @Test("auto uses the engine if a recorded pack lacks words and a built pack has them")
  func incompleteRecording() async throws {
    let workshop = try Workshop()
    try await workshop.writePack("built", in: "zh-CN", isSynthesized: true)
    try await workshop.writePack("recorded", in: "zh-CN", isSynthesized: false) { clips in
      clips.filter { $0.tokens != ["五"] }
    }
    let announcer = workshop.packAnnouncer()
    #expect(try await announcer.render(try Workshop.payment("5"), into: nil).report.method == "speech")
    #expect(try await announcer.render(try Workshop.payment("4"), into: nil).report.voice == "recorded")
  }

  @Test("a requested built pack speaks")
  func askedFor() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", isSynthesized: true)
    var preferring = RenderOptions()
    preferring.preferredPack = "voice"
    for options in [RenderOptions(method: .clips), RenderOptions(pack: "voice"), preferring] {
      let clip = try await announcer.render(try Workshop.payment(), options: options, into: nil)
      #expect(clip.report.method == "clips")
      #expect(clip.report.voice == "voice")
    }
  }

  @Test("without an engine, a built pack speaks and omits the names")
  func withoutEngine() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", isSynthesized: true, engine: NoEngine())
    let clip = try await announcer.render(try Workshop.payment("5", payer: "王小明"), into: workshop.library)
    #expect(clip.report.method == "clips")
    #expect(clip.report.text == "到账五元")
    #expect(clip.report.shortened == ["payer"])
  }

  @Test("a built pack speaks if the engine ends while speaking")
  func engineEnds() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(
      in: "zh-CN", isSynthesized: true, engine: EndingEngine(engine: workshop.engine))
    let clip = try await announcer.render(try Workshop.payment(), into: workshop.library)
    #expect(clip.report.method == "clips")
    #expect(clip.report.voice == "voice")
  }

  @Test(
    "a built pack does not replace a requested method, voice or rate",
    arguments: [
      RenderOptions(method: .speech), RenderOptions(voice: "cmn-latn-pinyin+f5"), RenderOptions(rate: 200),
    ])
  func noSubstitute(options: RenderOptions) async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", isSynthesized: true, engine: NoEngine())
    let error = await #expect(throws: SpeechEngineError.self) {
      try await announcer.render(try Workshop.payment(), options: options, into: nil)
    }
    #expect(error?.code == .engineUnavailable)
  }
}

/// An engine that starts, and ends at the first request.
private struct EndingEngine: Speaking {
  let engine: any Speaking

  private var error: SpeechEngineError {
    SpeechEngineError(.speakerDied, "speaking", "the speaker program ended", remedy: "try again")
  }

  func identity() async throws(SpeechEngineError) -> EngineIdentity { try await engine.identity() }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) { throw error }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String { throw error }
}
