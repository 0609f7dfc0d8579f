// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PhraseBookChecks
import TestSupport
import Testing

@Suite("The sheet of a phrase book")
struct BookSheetTests {
  private static let locales = (try? Copy.books("en-US", []).locales) ?? []

  @Test("the sheet of a phrase book has 60 amounts, and reading its file gives the same sheet", arguments: locales)
  func file(locale: String) throws {
    let writer = try Copy.books(locale, []).writer(for: locale)
    var sheet = try BookSheet(writer)
    sheet.confirmedBy = "Åsa, 2026-11-29"
    #expect(sheet.lines.count == BookSheet.lineCount)
    #expect(BookSheet(text: sheet.text, locale: locale) == sheet)
    #expect(sheet.findings(writer) == [])
  }

  @Test("a sheet contains at least 95 percent of the words for the whole amounts below a thousand", arguments: locales)
  func words(locale: String) throws {
    let writer = try Copy.books(locale, []).writer(for: locale)
    let currency = try #require(writer.ownCurrency)
    func words(_ money: Money) throws -> [String] {
      try writer.script(for: .payment(Payment(amount: money)), shortenings: [.amountOnly]).pieces
        .compactMap(\.token?.name)
    }
    let scale = currency.minorUnitsPerMajor
    let sheet = try BookSheet(writer)
    let said = Set(
      try sheet.lines.flatMap { line in
        try words(Money(decimalText: line.amount, currency: try #require(Currency(code: line.currency))))
      })
    let needed = Set(
      try (Int64(1)...999).flatMap { try words(Money(minorUnits: $0 * scale, currency: currency)) })
    let missing = needed.subtracting(said)
    #expect(missing.count * 20 <= needed.count, "\(missing)")
  }

  @Test("the check of a signed sheet reports each amount that the phrase book now says differently")
  func changed() throws {
    let sheet = try BookSheet(try Copy.books("en-US", []).writer(for: "en-US"))
    let book = try Copy.books("en-US", [("100: << hundred", "100: << hundert")]).writer(for: "en-US")
    let findings = sheet.findings(book)
    #expect(findings.count { $0.kind == .problem && $0.text.contains("hundert") } > 3)
    #expect(findings.last?.text == "The sheet has no name behind “Confirmed by:”, so nobody has signed the words.")
  }

  @Test("the signed sheets of the project agree with the phrase books", arguments: locales)
  func signed(locale: String) throws {
    let file = Copy.templates.appending(path: "sheets/\(locale).tsv")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
    let sheet = try #require(BookSheet(text: text, locale: locale))
    #expect(sheet.findings(try Copy.books(locale, []).writer(for: locale)) == [])
  }

  @Test(
    "a sheet with a line that does not have three columns is refused",
    arguments: ["1.00\tUSD\n", "1.00 USD one dollar\n", "1\tUSD\tone\tmore\n"])
  func invalid(text: String) {
    #expect(BookSheet(text: text, locale: "en-US") == nil)
  }

  @Test("an amount of a sheet that the phrase book cannot say is reported as a problem")
  func unwritable() throws {
    let writer = try Copy.books("en-US", []).writer(for: "en-US")
    let sheet = try #require(BookSheet(text: "1.005\tUSD\tone\n1\tQQQ\tone\n", locale: "en-US"))
    #expect(
      sheet.findings(writer).map(\.text).prefix(3) == [
        "1.005 USD of the sheet cannot be written by the book.", "1 QQQ of the sheet cannot be written by the book.",
        "The sheet has 2 amounts instead of 60. Print it again.",
      ])
  }
}
