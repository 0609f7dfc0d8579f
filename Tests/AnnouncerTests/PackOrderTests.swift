// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

@Suite("The default voice")
struct PackOrderTests {
  @Test("the method 'auto' prefers a recorded pack to a built pack, whatever the order of the packs")
  func recordedFirst() async throws {
    let workshop = try Workshop()
    try await workshop.writePack("a-built", in: "zh-CN", isSynthesized: true)
    try await workshop.writePack("b-recorded", in: "zh-CN", isSynthesized: false)
    let clip = try await workshop.packAnnouncer().render(try Workshop.payment(), into: nil)
    #expect(clip.report.voice == "b-recorded")
    #expect(clip.report.method == "clips")
  }

  @Test("the method 'auto' prefers the engine to a built pack")
  func engineBeforeBuilt() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(in: "zh-CN", isSynthesized: true)
    #expect(try await announcer.render(try Workshop.payment(), into: nil).report.method == "speech")
  }

  @Test("the method 'auto' uses the engine if a recorded pack lacks words and a built pack has all words")
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

  @Test("a built pack speaks if the request names it")
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

  @Test("a pack that was chosen speaks, whatever its name, even if it is built or lacks words")
  func chosen() async throws {
    let workshop = try Workshop()
    try await workshop.writePack("a", in: "zh-CN", isSynthesized: false)
    try await workshop.writePack("built", in: "zh-CN", isSynthesized: true)
    try await workshop.writePack("short", in: "zh-CN", isSynthesized: false) { $0.filter { $0.tokens != ["五"] } }
    let file = workshop.directory.appending(path: "packs.json")
    let announcer = workshop.packAnnouncer(choices: file)
    func report(_ options: RenderOptions = RenderOptions()) async throws -> ClipReport {
      try await announcer.render(try Workshop.payment("5"), options: options, into: nil).report
    }
    for (id, method) in [("built", "clips"), ("short", "mixed")] {
      try Data(#"{"packs": {"ZH-cn": "\#(id)"}}"#.utf8).write(to: file)
      let report = try await report()
      #expect(report.voice == id && report.method == method)
    }
    #expect(try await report(RenderOptions(method: .clips)).voice == "a", "the chosen pack cannot say all words")
    var preferring = RenderOptions()
    preferring.preferredPack = "a"
    for options in [RenderOptions(pack: "a"), preferring] { #expect(try await report(options).voice == "a") }
    #expect(try await report(RenderOptions(rate: 200)).method == "speech")
    try FileManager.default.removeItem(at: file)
    #expect(try await report().voice == "a")
  }

  @Test("a chosen pack that is missing, broken or of another language is skipped, and the report says so")
  func chosenInVain() async throws {
    let workshop = try Workshop()
    for id in ["a", "b"] { try await workshop.writePack(id, in: "zh-CN", isSynthesized: false) }
    let file = workshop.directory.appending(path: "packs.json")
    let announcer = workshop.packAnnouncer(choices: file)
    let clip = workshop.voices.appending(path: "b/0001.wav")
    try Data(try Data(contentsOf: clip).dropLast(2)).write(to: clip)
    for (choice, fault) in [
      (#""zh-CN": "gone""#, "the pack gone, which was chosen for zh-CN, is not installed"),
      (#""en-US": "a""#, "the pack a, which was chosen for en-US, speaks zh-CN"), (#""zh-CN": "b""#, nil),
    ] {
      try Data(#"{"packs": {\#(choice)}}"#.utf8).write(to: file)
      #expect(try await announcer.render(try Workshop.payment(), into: nil).report.voice == "a")
      #expect(await announcer.packChoiceFaults() == [fault].compactMap(\.self))
    }
    #expect(await announcer.packStates().map { $0.fault != nil } == [false, true])
  }

  @Test("a choice in the settings takes precedence over the file of choices, and a damaged file keeps the last choices")
  func settled() async throws {
    let workshop = try Workshop()
    for id in ["a", "b", "c"] { try await workshop.writePack(id, in: "zh-CN", isSynthesized: false) }
    let file = workshop.directory.appending(path: "packs.json")
    try Data(#"{"packs": {"zh-CN": "b"}}"#.utf8).write(to: file)
    var settled = ChosenPacks()
    settled["zh-CN"] = "c"
    let announcers = [workshop.packAnnouncer(choices: file), workshop.packAnnouncer(choices: file, settled: settled)]
    for content in [#"{"packs": {"zh-CN": "b"}}"#, "{"] {
      try Data(content.utf8).write(to: file)
      for (announcer, id) in zip(announcers, ["b", "c"]) {
        #expect(try await announcer.render(try Workshop.payment(), into: nil).report.voice == id)
      }
    }
    #expect(await announcers[0].packChoiceFaults().map { $0.hasPrefix("packs.json: ") } == [true])
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

  @Test("if the engine ends while it speaks, a built pack speaks instead")
  func engineEnds() async throws {
    let workshop = try Workshop()
    let announcer = try await workshop.recordedAnnouncer(
      in: "zh-CN", isSynthesized: true, engine: EndingEngine(engine: workshop.engine))
    let clip = try await announcer.render(try Workshop.payment(), into: workshop.library)
    #expect(clip.report.method == "clips")
    #expect(clip.report.voice == "voice")
  }

  @Test(
    "a built pack does not speak in place of a requested method, voice or rate",
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
