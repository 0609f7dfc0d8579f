// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Phrase books are data")
struct PhraseBookTests {
  @Test(
    "a locale without a phrase book uses a book of its language",
    arguments: [
      ("zh-CN", "zh-CN"), ("zh", "zh-CN"), ("zh-Hans-SG", "zh-CN"), ("ZH-cn", "zh-CN"), ("en-GB", "en-GB"),
      ("en_IN", "en-IN"), ("en", "en-US"), ("en-AU", "en-GB"), ("en-CA", "en-US"), ("en-XX", "en-US"),
      ("zh-Hant", "zh-TW"), ("zh-Hant-TW", "zh-TW"), ("es", "es-ES"), ("es-GQ", "es-ES"), ("pt-PT", "pt-BR"),
      ("fr-CA", "fr-FR"), ("ja", "ja-JP"), ("es-AR", "es-MX"), ("cmn", "zh-CN"), ("cmn-Hans-CN", "zh-CN"),
      ("zh-cmn-Hans-CN", "zh-CN"),
    ])
  func fallback(asked: String, found: String) throws {
    #expect(try Books.all().book(for: asked).locale == found)
  }

  @Test(
    "a locale that no phrase book has is an error that names the choices",
    arguments: [
      "tlh", "", "zhx-CN", "en US", "../en-US", String(repeating: "a", count: 99), "zh--CN", "-zh", "zh-",
      "zh-abcdefghi",
    ])
  func unknown(locale: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.all().book(for: locale) }
    #expect(error?.code == .localeUnknown)
    #expect(error?.remedy.hasPrefix("choose one of bn-BD, bn-IN, cs-CZ, de-DE, ") == true)
  }

  private static let frenchNumbers = [
    "0: zéro; un; deux; trois; quatre; cinq; six; sept; huit; neuf; dix; onze; douze; treize; quatorze; quinze; seize;",
    "dix-sept; dix-huit; dix-neuf; vingt; vingt-et-un; vingt->>; 30: trente; trente-et-un; trente->>;",
    "40: quarante; quarante-et-un; quarante->>; 50: cinquante; cinquante-et-un; cinquante->>;",
    "60: soixante; soixante-et-un; 62/20: soixante->>; 71: soixante-et-onze; 72/20: soixante->>;",
    "80: quatre-vingts; 81/20: quatre-vingt->>; 100: cent[ >>]; 200: << cents; 201: << cent >>;",
    "1000: mille[ >>]; 2000: << mille[ >>]; 1000000: << millions[ >>]; 1000000000: << milliards[ >>];",
  ]

  @Test("a new locale needs only a new phrase book file")
  func newLocale() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: Books.directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    var book = try String(contentsOf: folder.appending(path: "en-US.json"), encoding: .utf8)
    book = book.replacing("\"en-US\"", with: "\"fr-FR\"")
      .replacing("\"dollars\"", with: "\"dollars américains\"")
      // Cent is a hundred in French.
      .replacing("\"cent\"", with: "\"centime\"").replacing("\"cents\"", with: "\"centimes\"")
      .replacing("\"Received {amount}", with: "\"Reçu {amount}")
    var content = try JSONSerialization.jsonObject(with: Data(book.utf8)) as? [String: Any] ?? [:]
    content["numbers"] = ["rules": Self.frenchNumbers]
    try JSONSerialization.data(withJSONObject: content).write(to: folder.appending(path: "fr-FR.json"))
    let script = try PhraseBooks(directory: folder).writer(for: "fr")
      .script(for: .payment(Payment(amount: try Books.money("21", "USD"))))
    #expect(script.text == "Reçu vingt-et-un dollars américains")
  }

  @Test(
    "the error for an invalid phrase book names the fault",
    arguments: [
      ("0: zero; one;", "1: one;", "numbers.rules has no rule for 0"),
      ("\"rate\": 160", "\"rate\": 20", "rate is not between 80 and 450 words per minute"),
      ("\"zero\", ", "", "digits has 9 words instead of ten"),
      ("\"USD\": {", "\"USX\": {", "currencies.USX is not a currency in use (ISO 4217)"),
      (
        "\"other\": \"fils\", \"value\": 1", "\"other\": \"fils\", \"value\": 7",
        "currencies.KWD.minor has an invalid value"
      ),
      ("\"other\": \"yen\"", "\"other\": \"yuan\"", "currencies.JPY and currencies.CNY have the same name"),
      ("\"VED\": {", "\"VEX\": {", "currencyNames.VEX is not a currency in use (ISO 4217)"),
      ("\"VED\": {", "\"USD\": {", "currencyNames.USD has an entry in currencies too"),
      ("[\"NGN\"]", "[\"NGX\"]", "minorUnits has NGX, which is not a currency in use (ISO 4217)"),
      ("[\"NGN\"]", "[\"VUV\"]", "minorUnits has VUV, which has no minor unit"),
      ("[\"NGN\"]", "[\"THB\"]", "minorUnits has THB twice"),
      ("[\"NGN\"]", "[\"USD\"]", "minorUnits has USD, which has minor units in currencies"),
      ("\"kobo\"", "\"ten\"", "minorUnits has a unit, ten, that is a number"),
      ("\"only\": \"only \"", "\"only\": \"1 \"", "only must consist of words, without digits and brackets"),
      ("\"Received {amount}", "\"Received", "sentences.received must have {amount} exactly once"),
      ("\"Received {amount}", "\"Received 2 {amount}", "sentences.received has a digit; write it as a word"),
      (
        "[ {channel}]", " {channel}",
        "sentences.failed has {channel} outside brackets, although it is optional"
      ),
      (
        "[, from {payer}]", "[, from {text}]",
        "sentences.failed has the place {text}, which does not exist in a payment"
      ),
      ("[, from {payer}]", "[, from {payer}", "sentences.failed has unbalanced brackets"),
      (
        "{amount}[ {channel}][, from {payer}]", "[{payer}: ]{amount}[ {channel}]",
        "sentences.failed has {payer} before {amount}; text from outside must follow the amount"
      ),
      (
        "{amount}[ {channel}][, from {payer}]", "[{channel}: ]{amount}[, from {payer}]",
        "sentences.failed has {channel} before {amount}, but no {otherChannel} after it for channels that the book "
          + "does not know"
      ),
      (
        "[ {channel}][, from {payer}]", "[ {channel}][ {otherChannel}][, from {payer}]",
        "sentences.failed has {otherChannel}, but no {channel} before {amount}"
      ),
      ("{payer}", "{buyer}", "sentences.failed has a brace outside a place like {amount}"),
      (
        "\"numbers\": {", "\"numbers\": { \"counted\": \"%counted\",",
        "numbers.counted contains “%counted”, but numbers.rules has no such set"
      ),
      (
        "\"numbers\": {",
        "\"numbers\": { \"genders\": { \"f\": { \"rules\": \"%\", \"currencies\": [\"GPB\"] } },",
        "numbers.genders.f: GPB is not a currency in use (ISO 4217)"
      ),
      (
        "\"CNY\": { \"major\": {", "\"CNY\": { \"major\": { \"gender\": \"common\",",
        "currencies.CNY has the gender “common”, which numbers.genders does not contain"
      ),
      (
        "\"summary\": {\n    \"one\"", "\"summary\": {\n    \"gender\": \"common\", \"one\"",
        "summary has the gender “common”, which numbers.genders does not contain"
      ),
      ("\"rate\": 160,", "", "is not a valid phrase book (no rate)"),
      ("\"guard\": {", "\"guards\": {", "is not a valid phrase book (no guard)"),
      ("\"text\": {", "\"text\": { \"decimalSeparator\": \"'\",", "text.decimalSeparator is neither . nor ,"),
      (
        "\"text\": {", "\"text\": { \"scales\": { \"dozen\": -1 },",
        "text.scales.dozen is not a power of ten from 0 to 18"
      ),
      (
        "[\"GBP\", \"KRW\"]", "[\"GBP\", \"XXY\"]",
        "text.ambiguousUnits has XXY, which is not a currency in use (ISO 4217)"
      ),
      ("{", "", "is not a valid phrase book (not JSON)"),
    ])
  func faults(good: String, bad: String, problem: String) throws {
    let text = try String(contentsOf: Books.directory.appending(path: "en-US.json"), encoding: .utf8)
    let error = #expect(throws: AnnouncementError.self) {
      try PhraseBook(data: Data(text.replacing(good, with: bad).utf8), name: "en-US.json")
    }
    #expect(error?.code == .phraseBookInvalid)
    // Sentences are checked in the order of the kinds, so the error names the first of several faults.
    #expect(
      error?.problem.replacing("sentences.received", with: "sentences.failed")
        == problem.replacing("sentences.received", with: "sentences.failed"))
  }

  @Test("an invalid phrase book affects only requests for that book")
  func oneFault() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: Books.directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("{".utf8).write(to: folder.appending(path: "zh-CN.json"))
    let books = try PhraseBooks(directory: folder)
    #expect(try books.book(for: "en-US").locale == "en-US")
    let error = #expect(throws: AnnouncementError.self) { try books.book(for: "zh") }
    #expect(error?.code == .phraseBookInvalid)
  }

  @Test("the error for a folder without phrase books says how to choose a folder")
  func missing() {
    let error = #expect(throws: AnnouncementError.self) {
      try PhraseBooks(directory: URL(filePath: "/nonexistent-folder"))
    }
    #expect(error?.code == .phraseBooksMissing)
    #expect(error?.remedy.contains("--data") == true)
  }
}
