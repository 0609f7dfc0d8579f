// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import TestSupport
import Testing

/// Checks names and notes of all scripts in every locale. The engine's own trace shows whether a voice named a letter,
/// read a code point, spelled a word or changed its language.
@Suite("Names and notes are heard as written")
struct NamesAndNotesChecks {
  private struct Case {
    var text: String
    var announcement: Announcement
  }

  @Test("500 payers' names are heard as written in every locale")
  func names() throws {
    let names = try Self.lines(of: "names.tsv")
    #expect(names.count == 500)
    let amount = try Money(minorUnits: 500, currency: try Currency(code: "USD").orThrow("USD"))
    try check(names.map { Case(text: $0, announcement: .payment(Payment(amount: amount, payer: $0))) })
  }

  @Test("300 notes are heard as written in every locale")
  func notes() throws {
    let notes = try Self.lines(of: "notes.tsv")
    #expect(notes.count == 300)
    let amount = try Money(minorUnits: 500, currency: try Currency(code: "USD").orThrow("USD"))
    try check(notes.map { Case(text: $0, announcement: .payment(Payment(amount: amount, note: $0))) })
  }

  private static func lines(of file: String) throws -> [String] {
    let url = Checkout.installation.data.appending(path: "Tests/Fixtures/heard/\(file)")
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
      .map { String($0.split(separator: "\t", omittingEmptySubsequences: false)[0]) }
  }

  private func check(_ cases: [Case]) throws {
    let books = try Checkout.phraseBooks()
    var runs: [(locale: String, text: String, run: Script.Run)] = []
    var unaccounted: [String] = []
    for locale in books.locales {
      let writer = try books.writer(for: locale)
      for item in cases {
        let (script, remarks) = try writer.writing(of: item.announcement)
        for run in script.runs where run.voice != nil { runs.append((locale, item.text, run)) }
        if !Self.isAccounted(item.text, script, remarks) { unaccounted.append("\(locale): \(item.text)") }
      }
    }
    #expect(unaccounted == [])
    let faults = try Self.faults(of: runs.map(\.run))
    print("\(runs.count) runs of \(cases.count) texts in \(books.locales.count) locales, \(faults.count) at fault")
    #expect(
      faults.map {
        "\(runs[$0.index].locale) \(runs[$0.index].run.voice ?? "") '\(runs[$0.index].run.spelling)' \($0.fault)"
      }
        == [])
  }

  /// Returns whether every letter of the text is either spoken or reported as unspoken.
  private static func isAccounted(_ text: String, _ script: Script, _ remarks: Remarks) -> Bool {
    func letters(_ text: String) -> Set<Unicode.Scalar> {
      Set(
        text.precomposedStringWithCompatibilityMapping.lowercased().decomposedStringWithCanonicalMapping.unicodeScalars
          .filter { $0.properties.isAlphabetic && $0.properties.generalCategory != .nonspacingMark })
    }
    let told = remarks.unspoken.map(\.text).joined(separator: " ")
    let said = letters(script.text + " " + told)
    return letters(text).subtracting(said).allSatisfy { letter in
      // These letters are spoken in other words: a form of address, a unit, a sign such as Rs, am and pm, masked
      // digits.
      letters(Self.respoken).contains(letter)
    }
  }

  private static let respoken = """
    rs am pm usd mxn inr cny krw jpy st nd rd th h t p w x k m b n lakh crore million thousand https www 万 千 百 億 亿 만 천 円 元 원 \
    角 分 年 月 日 時 时 点 分 杯 本 つ 個 枚 人 名 件 回 さん 様 さま 님 씨 殿 号 歳 台 冊 階 番 週 間 皿 匹 枝 令 和 レ ヶ か ºª वां वाँ वें ला रा रुपये लाख हज़ार
    """

  /// Returns the faults that scripts/find-spelled finds, which traces the engine.
  private static func faults(of runs: [Script.Run]) throws -> [(index: Int, fault: String)] {
    let script = Process()
    script.executableURL = URL(filePath: "/usr/bin/env")
    script.arguments = ["python3", Checkout.installation.data.appending(path: "scripts/find-spelled").path]
    let (input, output) = (Pipe(), Pipe())
    script.standardInput = input
    script.standardOutput = output
    let file = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let lines = runs.map { "\($0.voice ?? "")\t\($0.spelling.replacing("\n", with: " "))" }
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
    script.standardInput = try FileHandle(forReadingFrom: file)
    try script.run()
    let answer = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    script.waitUntilExit()
    try #require(script.terminationStatus == 0)
    return answer.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", maxSplits: 1)
      return Int(parts[0]).map { ($0, String(parts[1])) }
    }
  }
}
