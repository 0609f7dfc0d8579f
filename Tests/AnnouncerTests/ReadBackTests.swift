// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import SoundLibrary
import SpeakingPlans
import SpeechEngine
import Testing

@testable import Announcer

@Suite("Reading back the amount")
struct ReadBackTests {
  /// Returns an announcer whose phrase book has one wrong word.
  private func announcer(_ locale: String, replacing word: String, with other: String) throws -> (Announcer, URL) {
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let installation = Installation(data: nil, environment: [:], executable: executable)
    let folder = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    try FileManager.default.copyItem(at: installation.templates, to: folder)
    let file = folder.appending(path: "\(locale).json")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains(word))
    try Data(text.replacing(word, with: other).utf8).write(to: file)
    let books = try PhraseBooks(directory: folder)
    let announcer = Announcer(
      phraseBooks: books, readers: AmountReaders(directory: installation.readers),
      engine: SpeechEngine(.init(speaker: installation.speaker)))
    return (announcer, folder)
  }

  @Test(
    "words that say a different amount than the payment's, or no amount, are never spoken",
    arguments: [
      ("zh-CN", "\"五\", \"六\"", "\"六\", \"五\"", "5", "CNY"),
      ("zh-CN", "\"other\": \"角\"", "\"other\": \"分\"", "0.50", "CNY"),
      ("zh-CN", "\"other\": \"元\"", "\"other\": \"日圆\"", "5", "CNY"), ("en-US", "\"point\"", "\"and\"", "5.50", "CNY"),
      ("en-US", "\"cents\", \"value\": 1", "\"dollars\", \"value\": 1", "0.50", "USD"),
      ("ja-JP", "\"さんびゃく\"", "\"よんひゃく\"", "300", "JPY"), ("hi-IN", "\"रुपये\"", "\"डालर\"", "5", "INR"),
      ("ko-KR", "\"원\" }, \"minor\": []", "\"엔화\" }, \"minor\": []", "5", "KRW"),
    ])
  func wrongWords(locale: String, word: String, other: String, amount: String, code: String) async throws {
    let (announcer, folder) = try announcer(locale, replacing: word, with: other)
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = SoundLibrary(container: try GroupContainer(containers: folder, group: "group.crier"))
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(try Workshop.payment(amount, code, locale: locale), into: library)
    }
    #expect(error?.code == .amountMismatch)
    #expect(error?.description.contains(amount) == false)
    #expect(!FileManager.default.fileExists(atPath: library.soundsDirectory.path))
  }

  @Test(
    "if the reader file of the language is missing or invalid, nothing is spoken, and the error names the file",
    arguments: [(nil, "there is no Readers/zh.json"), ("{}", "Readers/zh.json is invalid: ")])
  func missingReaders(contents: String?, problem: String) throws {
    let workshop = try Workshop()
    if let contents { try Data(contents.utf8).write(to: workshop.directory.appending(path: "zh.json")) }
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let announcer = Announcer(
      phraseBooks: try PhraseBooks(
        directory: Installation(data: nil, environment: [:], executable: executable).templates),
      readers: AmountReaders(directory: workshop.directory), engine: workshop.engine)
    let money = try #require(Currency(code: "CNY").map { try Money(decimalText: "5", currency: $0) })
    let script = try announcer.script(for: try Workshop.payment("5"))
    let error = #expect(throws: AnnouncerError.self) {
      try announcer.readBack(money, in: SpeakingPlan(spoken: script), script.locale)
    }
    #expect(error?.code == .amountMismatch)
    #expect(error?.problem.hasPrefix(problem) == true, "\(error?.problem ?? "")")
    #expect(error?.remedy == "nothing was spoken; see docs/readers.md")
  }

  @Test(
    "words that say the payment's amount are accepted",
    arguments: [
      ("zh-CN", "CNY"), ("en-US", "USD"), ("ja-JP", "JPY"), ("ko-KR", "KRW"), ("hi-IN", "INR"), ("es-MX", "MXN"),
    ])
  func rightWords(locale: String, code: String) throws {
    let workshop = try Workshop()
    for amount in ["1", "12", "305", "10000", "123456789"] {
      let script = try workshop.announcer.script(for: try Workshop.payment(amount, code, locale: locale))
      let money = try #require(Currency(code: code).map { try Money(decimalText: amount, currency: $0) })
      try Workshop().announcer.readBack(money, in: SpeakingPlan(spoken: script), script.locale)
    }
  }

  @Test("the check of the amount reads the words that will be heard, and not the intended words")
  func heardWords() throws {
    let workshop = try Workshop()
    let script = try workshop.announcer.script(for: try Workshop.payment("5"))
    var plan = SpeakingPlan(spoken: script)
    plan.heard = [Script.Segment("六元", .amount)]
    let money = try #require(Currency(code: "CNY").map { try Money(decimalText: "5", currency: $0) })
    let error = #expect(throws: AnnouncerError.self) { try Workshop().announcer.readBack(money, in: plan, "zh-CN") }
    #expect(error?.code == .amountMismatch)
    #expect(error?.description.contains("六") == false)
  }

  private func summary(_ totals: [(count: Int, amount: String, currency: String)]) throws -> PaymentSummary {
    try PaymentSummary(
      locale: "zh-CN",
      totals: totals.map { total in
        let currency = try #require(Currency(code: total.currency))
        return try .init(count: total.count, amount: try Money(decimalText: total.amount, currency: currency))
      })
  }

  @Test("every count and sum of a summary is read back")
  func summaries() throws {
    let workshop = try Workshop()
    let summary = try summary([(5, "57.50", "CNY"), (2, "20", "USD")])
    let script = try workshop.announcer.script(for: .summary(summary))
    #expect(script.text == "收款五笔，合计五十七元五角。收款两笔，合计二十美元")
    try Workshop().announcer.readBack(summary, in: SpeakingPlan(spoken: script), script.locale)
  }

  @Test("a summary with a wrong count, a wrong sum, or a wrong number of totals is not spoken")
  func wrongSummaries() throws {
    let workshop = try Workshop()
    let said = try summary([(5, "57.50", "CNY"), (2, "20", "USD")])
    let plan = SpeakingPlan(spoken: try workshop.announcer.script(for: .summary(said)))
    for meant in [
      try summary([(6, "57.50", "CNY"), (2, "20", "USD")]), try summary([(5, "57.51", "CNY"), (2, "20", "USD")]),
      try summary([(5, "57.50", "CNY")]), try summary([(2, "20", "USD"), (5, "57.50", "CNY")]),
      try summary([(5, "57.50", "CNY"), (2, "20", "USD"), (1, "1", "EUR")]),
    ] {
      let error = #expect(throws: AnnouncerError.self) { try Workshop().announcer.readBack(meant, in: plan, "zh-CN") }
      #expect(error?.code == .amountMismatch)
    }
  }
}
