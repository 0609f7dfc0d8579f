// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import Testing
import VoicePackMaking
import Waveforms

@Suite("The understanding of amounts is measured")
struct UnderstandingTests {
  private static let silence = Waveform(samples: [0], sampleRate: 22_050)

  private func measure(_ count: Int, hearing: @escaping @Sendable (Int, String) -> String) throws -> Understanding {
    let writer = try Templates.writer("en-US")
    let payments = try UnderstandingMeasure(writer: writer, recognizer: StandInRecognizer { _ in [] }, count: count)
      .payments
    let said = try payments.map { try writer.script(for: .payment($0)).text }
    let recognizer = StandInRecognizer { sounds in
      sounds.indices.map { hearing($0, said[$0].lowercased().replacing("-", with: " ")) }
    }
    return try UnderstandingMeasure(writer: writer, recognizer: recognizer, count: count)
      .measure(Array(repeating: Self.silence, count: count))
  }

  @Test("an amount counts as understood with or without the sentence, the word “and”, and the plural of a unit")
  func understood() throws {
    let understanding = try measure(20) { index, said in
      switch index % 4 {
      case 1: said.replacing("received ", with: "")
      case 2: said.replacing(" and ", with: " ")
      case 3: said.replacing("dollars", with: "dollar").replacing("cents", with: "cent")
      default: said
      }
    }
    #expect((understanding.understood, understanding.amounts) == (20, 20))
    #expect(understanding.misunderstood.isEmpty)
  }

  @Test("an amount counts as misunderstood if another number, another unit, or no words are recognised")
  func misunderstood() throws {
    let understanding = try measure(4) { index, said in
      switch index {
      case 0: said + " one"
      case 1: said.replacing("dollars", with: "cents")
      case 2: ""
      default: said
      }
    }
    #expect(understanding.understood == 1)
    #expect(understanding.misunderstood.count == 3)
    #expect(understanding.misunderstood[2].heard == "")
    #expect(understanding.misunderstood[0].amount.hasSuffix(" USD"))
    #expect(understanding.misunderstood[0].said.hasPrefix("Received "))
  }

  @Test(
    "below 96 % understood, each of the first ten misunderstood amounts is a warning, and below 80 % there is an error",
    arguments: [(59, 11), (79, 11), (80, 11), (89, 11), (90, 10), (95, 5), (96, 0)])
  func bar(understood: Int, warnings: Int) throws {
    let understanding = try measure(100) { index, said in index < understood ? said : "received one dollar" }
    let pack = try CheckedPack("ko-KR")
    var report = pack.check()
    let before = report.warningCount
    report.add(understanding)
    #expect(report.understanding == understanding)
    #expect(report.warningCount == before + warnings)
    #expect(report.isUsable == (understood >= 80))
    #expect(report.errorCount == (understood < 80 ? 1 : 0))
    #expect(
      report.text.contains(
        "error    misunderstood  tones: only \(understood) of 100 amounts were understood; listen to the pack")
        == (understood < 80))
    #expect(report.text.contains("  and \(90 - understood) more: ") == (understood < 90))
    #expect(report.text.contains("\nunderstood: \(understood) of 100 amounts\n"))
    #expect(report.text.contains("misunderstood") == (understood < 96))
    #expect(String(decoding: try report.json, as: UTF8.self).contains("\"understood\" : \(understood)"))
  }

  @Test("if there is no recogniser, the report says why nothing was measured")
  func notMeasured() throws {
    var report = try CheckedPack("ko-KR").check()
    report.add(understandingNote: "how well amounts are understood; install pocketsphinx")
    #expect(report.text.contains("\nnot measured: how well amounts are understood; install pocketsphinx\n"))
    #expect(String(decoding: try report.json, as: UTF8.self).contains("\"understanding_note\""))
  }

  @Test("the report says so if a pack can speak none of the amounts")
  func noAmounts() throws {
    var report = try CheckedPack("ko-KR").check()
    report.add(try measure(0) { _, said in said })
    #expect(report.understanding == nil)
    #expect(report.text.contains("\nnot measured: how well amounts are understood; record the words of more amounts\n"))
  }

  @Test("the test amounts for a recogniser are always the same, and the recogniser accepts any number")
  func amounts() throws {
    let writer = try Templates.writer("en-US")
    let grammars = Locked<[String]>([])
    let recognizer = StandInRecognizer {
      [""] + Array(repeating: "", count: $0.count - 1)
    } seen: { grammar in
      grammars.withLock { $0.append(grammar) }
    }
    let measure = try UnderstandingMeasure(writer: writer, recognizer: recognizer, count: 3)
    _ = try measure.measure(Array(repeating: Self.silence, count: 3))
    let grammar = try #require(grammars.withLock { $0.first })
    for line in [
      "<major> = <number> (dollar | dollars);", "<minor> = <number> (cent | cents);",
      "public <announcement> = [received] (<major> | <minor> | <major> [and] <minor>)",
    ] {
      #expect(grammar.contains(line), "\(line)")
    }
    #expect(
      try UnderstandingMeasure(writer: writer, recognizer: recognizer, count: 3).payments == measure.payments)
  }

  @Test("for a recogniser that is not installed, the result is nil")
  func notInstalled() {
    #expect(PocketSphinx(environment: ["PATH": "/nowhere"]) == nil)
    #expect(PocketSphinx(model: URL(filePath: "/nowhere")) == nil)
    #expect(UnderstandingMeasure.serves("en-GB") && !UnderstandingMeasure.serves("es-MX"))
  }
}

/// A recogniser that returns given words.
private struct StandInRecognizer: SpeechRecognizing {
  var hears: @Sendable ([Waveform]) -> [String]
  var seen: @Sendable (String) -> Void = { _ in }

  func words(in sounds: [Waveform], grammar: String) throws(PackMakingError) -> [String] {
    seen(grammar)
    return hears(sounds)
  }
}
