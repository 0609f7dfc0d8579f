// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundMeasurement
import SpeechEngine
import Testing
import Waveforms

@Suite("A clip is shorter than 30 seconds")
struct ShorteningTests {
  /// Returns a text of single letters, which take about 0.45 s each at 80 words a minute. The letters differ, because
  /// the engine shortens repetitions of one letter to three.
  private static func letters(_ count: Int) -> String {
    (0..<count).map { String(Array("bcdfghjklmnp")[$0 % 12]) }.joined(separator: " ")
  }

  private let long = letters(100)
  private let longName = letters(40)
  private let largest = "9999999999999.99"

  private func report(_ announcement: Announcement, rate: Int? = nil) async throws -> ClipReport {
    let workshop = try Workshop()
    let clip = try await workshop.announcer.render(
      announcement, options: RenderOptions(rate: rate), into: workshop.library)
    #expect(try SoundReport.measure(file: clip.report.clip.path).durationMilliseconds < 30_000)
    return clip.report
  }

  @Test("an announcement that is short enough is not shortened")
  func fits() async throws {
    let report = try await report(try Workshop.payment("5", "USD", payer: "Ann", note: "Lunch", locale: "en-US"))
    #expect(report.shortened == [])
  }

  @Test("if a clip is too long, the note is the first part to be omitted")
  func note() async throws {
    let report = try await report(
      try Workshop.payment("5", "USD", payer: "Ann", note: long, locale: "en-US"), rate: 80)
    #expect(report.shortened == ["note"])
    #expect(report.text == "Received five dollars, from Ann")
  }

  @Test("if a clip is too long without the note, the payer is omitted too")
  func payer() async throws {
    let report = try await report(
      try Workshop.payment(
        largest, "USD", channel: "cash", payer: longName, note: long, locale: "en-US"), rate: 80)
    #expect(report.shortened == ["note", "payer"])
    #expect(report.text.hasSuffix("ninety-nine cents in cash"))
  }

  @Test("if a clip is too long without the payer, the announcement is spoken faster, but no faster than needed")
  func rate() async throws {
    let report = try await report(
      try Workshop.payment(
        largest, "USD", channel: Self.letters(30), payer: longName, locale: "en-US"), rate: 80)
    #expect(report.shortened == ["payer", "rate"])
    #expect(report.clip.durationMilliseconds > 26_000)
  }

  @Test("if a clip is too long even in faster speech, only the amount is spoken")
  func amountOnly() async throws {
    let report = try await report(
      try Workshop.payment(
        largest, "USD", channel: String(repeating: "qz.", count: 26), locale: "en-US"), rate: 80)
    #expect(report.shortened == ["amount_only"])
    #expect(report.text.hasPrefix("nine trillion"))
    #expect(report.text.hasSuffix("dollars and ninety-nine cents"))
  }

  @Test("free text that is too long even in faster speech is an error with its length and the limit")
  func freeText() async throws {
    let workshop = try Workshop()
    let text = String(repeating: "thank you very much ", count: 60)
    let error = await #expect(throws: AnnouncerError.self) {
      try await workshop.announcer.render(.text(text, locale: "en-US"), into: workshop.library)
    }
    #expect(error?.code == .tooLong)
    #expect(error?.problem.hasPrefix("takes ") == true)
    #expect(error?.remedy.contains("shorter than 30 s") == true)
    #expect(workshop.files.isEmpty)
  }

  @Test("free text that is a little too long is spoken faster")
  func fasterText() async throws {
    let workshop = try Workshop()
    let text = Self.letters(150)
    let clip = try await workshop.announcer.render(.text(text, locale: "en-US"), into: nil)
    #expect(clip.report.shortened == ["rate"])
    #expect(clip.report.clip.durationMilliseconds < 30_000)
  }

  @Test("a name or a note that makes the engine fail is omitted, and the payment is spoken")
  func deadlyName() async throws {
    let workshop = try Workshop()
    let engine = BrittleEngine(engine: workshop.engine, failsFor: "cmn-latn-pinyin+f2")
    let announcer = Announcer(
      phraseBooks: workshop.announcer.phraseBooks, readers: workshop.announcer.readers, engine: engine)
    let payer = try await announcer.render(
      try Workshop.payment("5", "USD", payer: "张三", note: "Lunch", locale: "en-US"), into: nil)
    #expect(payer.report.shortened == ["note", "payer"])
    #expect(payer.report.text == "Received five dollars")
    let note = try await announcer.render(
      try Workshop.payment("5", "USD", payer: "Ann", note: "午餐", locale: "en-US"), into: nil)
    #expect(note.report.text == "Received five dollars, from Ann")
    let channel = try await announcer.render(
      try Workshop.payment("5", "USD", channel: "钱包", locale: "en-US"), into: nil)
    #expect(channel.report.shortened == ["amount_only"])
    // A free text has no part that can be omitted.
    await #expect(throws: SpeechEngineError.self) {
      try await announcer.render(.text("Lunch 午餐", locale: "en-US"), into: nil)
    }
  }
}

/// An engine that fails at every text of one voice.
private struct BrittleEngine: Speaking {
  let engine: SpeechEngine
  let failsFor: String

  func identity() async throws(SpeechEngineError) -> EngineIdentity { try await engine.identity() }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    guard run.voice != failsFor else {
      throw SpeechEngineError(.textUnspeakable, "speaking", "the engine crashed on the text", remedy: "")
    }
    return try await engine.waveform(of: run, rate: rate)
  }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String {
    try await engine.phonemes(utterance)
  }
}
