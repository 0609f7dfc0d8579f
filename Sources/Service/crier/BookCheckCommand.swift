// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ArgumentParser
import Foundation
import PhraseBookChecks
import SpeechEngine

extension Book {
  struct Check: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Checks a locale: that each amount is said and understood as the amount paid.",
      discussion: """
        It looks for amounts that are not read back as the amount paid (1 to 99,999 minor units of the locale's own \
        currency, some of the others, and random ones), amounts with the same words, small amounts with the same \
        sounds, words that can be left out or doubled unnoticed, sums that can be said as a payer's name, words that \
        the voice reads in another language, sentences left in another language, and differences from the signed sheet.

        Each finding is a line that begins with "problem:" or "note:". A note is for a speaker of the language to judge.

        Exit status: 0 without a problem, else 65.
        """)

    @Argument(help: "The locale, such as sv-SE.")
    var locale: String

    @Flag(help: "Do not ask the speech engine.")
    var noSound = false

    @OptionGroup(title: "Files") var files: DataOptions

    func perform() async throws {
      let installation = files.installation
      let books = try PhraseBooks(directory: installation.templates)
      try Book.requireBook(locale, books)
      var found: [BookFinding] = []
      var check: BookCheck?
      do {
        let writer = try books.writer(for: locale)
        let reader = try AmountReaders(directory: installation.readers).reader(for: locale)
        check = BookCheck(writer: writer, reader: reader)
        let progress = StepProgress(name: "Currencies")
        defer { progress.end() }
        try check?.checkAmounts { progress.show($0, of: $1) }
        try check?.checkDamage()
        try check?.checkNames()
        found += signedSheet(writer, installation.templates)
        if !noSound { found += try await soundFindings(writer) }
      } catch let error where error is AnnouncementError || error is AmountReadbackError {
        // The error is about a file that cannot be read, or an amount that cannot be written in words.
        found.append(BookFinding(.problem, "\(error)"))
      }
      found += try foreignTexts(books, installation.templates)
      let examples = check?.findings ?? []
      try write(examples)
      let hidden = (check?.problemCount ?? 0) - examples.count { $0.kind == .problem }
      if hidden > 0 { try StandardOutput.write("problem: and \(hidden) more like these") }
      try write(found)
      let problems = (examples + found).count { $0.kind == .problem } + hidden
      try StandardOutput.write(
        "\(locale): \(check?.amountCount ?? 0) amounts, \(problems) \(problems == 1 ? "problem" : "problems").")
      if problems > 0 { throw ExitCode(65) }
    }

    private func write(_ findings: [BookFinding]) throws {
      for finding in findings {
        try StandardOutput.write((finding.kind == .problem ? "problem: " : "note: ") + finding.text)
      }
    }

    /// Asks the engine how it says the words. Without the engine, the other findings are printed all the same.
    private func soundFindings(_ writer: ScriptWriter) async throws -> [BookFinding] {
      do {
        return try await BookSounds(writer: writer, engine: files.engine(speakers: 1)).findings()
      } catch let error as SpeechEngineError where error.code == .engineUnavailable {
        return [BookFinding(.problem, "The sounds were not checked. \(error)")]
      }
    }

    /// Compares the words with the sheet that a native speaker signed.
    private func signedSheet(_ writer: ScriptWriter, _ templates: URL) -> [BookFinding] {
      let file = Book.sheetFile(locale, in: templates)
      guard let text = try? String(contentsOf: file, encoding: .utf8) else {
        return [
          BookFinding(.note, "No native speaker has signed the words. Print a sheet with crier book sheet \(locale).")
        ]
      }
      guard let sheet = BookSheet(text: text, locale: locale) else {
        let path = file.path(percentEncoded: false)
        return [
          BookFinding(.problem, "\(path): a line must be an amount, a currency and words, with tabs between them.")
        ]
      }
      return sheet.findings(writer)
    }

    /// Compares the book's sentences with the sentences of all books in other languages.
    private func foreignTexts(_ books: PhraseBooks, _ templates: URL) throws -> [BookFinding] {
      func data(_ locale: String) throws -> Data { try Data(contentsOf: templates.appending(path: "\(locale).json")) }
      func language(_ locale: String) -> Substring { locale.prefix { $0 != "-" } }
      var foreign = ForeignTexts()
      for other in books.locales where language(other) != language(locale) {
        foreign.add(try data(other), locale: other)
      }
      return foreign.findings(in: try data(locale))
    }
  }
}

/// Asks the engine how it says the words of a book.
struct BookSounds {
  let writer: ScriptWriter
  let engine: SpeechEngine

  /// Returns the words that the voice reads in another language, and the amounts that sound alike.
  ///
  /// - Throws: `SpeechEngineError`, `AnnouncementError`.
  func findings() async throws -> [BookFinding] {
    guard let voice = writer.book.voice else {
      return [
        BookFinding(
          .note, "No voice of espeak-ng speaks this language, so its sounds are not compared. It needs recordings.")
      ]
    }
    var findings: [BookFinding] = []
    var seen: Set<String> = []
    for word in try writer.vocabulary(currencies: writer.bookCurrencies).words where seen.insert(word.text).inserted {
      let run = Script.Run(
        language: writer.book.locale, voice: voice, segments: [Script.Segment(word.text, .phrase)])
      let phonemes = try await phonemes(writer.respelled(run))
      guard phonemes.contains("(") else { continue }
      // The name of a payment channel may come from another language, and may be said in that language.
      findings.append(
        BookFinding(
          word.role == .channel ? .note : .problem,
          "The voice \(voice) reads “\(word.text)” in another language: \(phonemes). Respell it in "
            + "pronunciation/."))
    }
    guard let currency = BookCheck.currencies(of: writer).first else { return findings }
    var heard: [String: String] = [:]
    let scale = currency.minorUnitsPerMajor
    let whole = Array(Int64(1)...120) + [200, 201, 300, 1_000, 1_001, 10_000, 100_000, 1_000_000]
    let minor = scale > 1 ? Array(1..<min(scale, 100)) : []
    for minorUnits in minor + whole.map({ $0 * scale }) {
      let money = try Money(minorUnits: minorUnits, currency: currency)
      let script = try writer.script(for: .payment(Payment(amount: money)), shortenings: [.amountOnly])
      var sounds = ""
      for run in script.amountAlone.runs { sounds += try await phonemes(run) }
      // Stress and pauses are hard to hear, so amounts that differ only in these sound alike.
      let name = "\(money.decimalText) \(currency.code)"
      if let other = heard.updateValue(name, forKey: sounds.filter { !" ',%|_:".contains($0) }) {
        findings.append(BookFinding(.problem, "\(other) and \(name) sound alike: \(sounds)."))
      }
    }
    return findings
  }

  private func phonemes(_ run: Script.Run) async throws -> String {
    try await engine.phonemes(Utterance(run, rate: writer.book.rate))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
