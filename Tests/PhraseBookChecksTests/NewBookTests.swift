// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PhraseBookChecks
import TestSupport
import Testing

@Suite("The files of a new locale")
struct NewBookTests {
  /// Rules in the form of CLDR's files, for a language with two genders.
  private static let rules = """
    <rbnf>
      <ruleset type="lenient-parse" access="private">
        <rbnfrule value="0">&amp;[last];</rbnfrule>
      </ruleset>
      <ruleset type="spellout-numbering-year">
        <rbnfrule value="0">=%spellout-numbering=;</rbnfrule>
      </ruleset>
      <ruleset type="spellout-numbering">
        <rbnfrule value="-x">minus →→;</rbnfrule>
        <rbnfrule value="0">=%spellout-cardinal-neuter=;</rbnfrule>
      </ruleset>
      <ruleset type="spellout-cardinal-common">
        <rbnfrule value="0">nul;</rbnfrule>
        <rbnfrule value="1">en;</rbnfrule>
        <rbnfrule value="2">to;</rbnfrule>
        <rbnfrule value="20">[→→­og­]tyve;</rbnfrule>
        <rbnfrule value="100" radix="100">←%spellout-cardinal-neuter←­hundrede[ →%%and→];</rbnfrule>
        <rbnfrule value="1000000000000000000">=#,##0=;</rbnfrule>
      </ruleset>
      <ruleset type="spellout-cardinal-neuter">
        <rbnfrule value="0">nul;</rbnfrule>
        <rbnfrule value="1">et;</rbnfrule>
        <rbnfrule value="2">=%spellout-cardinal-common=;</rbnfrule>
      </ruleset>
      <ruleset type="and" access="private">
        <rbnfrule value="0">og =%spellout-cardinal-common=;</rbnfrule>
      </ruleset>
      <ruleset type="spellout-ordinal">
        <rbnfrule value="0">nulte;</rbnfrule>
      </ruleset>
    </rbnf>
    """

  private static let plurals = """
    <pluralRules locales="bm ja">
      <pluralRule count="other"> @integer 0~15</pluralRule>
    </pluralRules>
    <pluralRules locales="da de">
      <pluralRule count="one">n = 1 or  t != 0 and i = 0,1 @integer 1 @decimal 0.1</pluralRule>
      <pluralRule count="other"> @integer 0, 2~16</pluralRule>
    </pluralRules>
    """

  private func book(_ locale: String, like base: String) throws -> NewBook {
    let text = try String(contentsOf: Copy.templates.appending(path: "\(base).json"), encoding: .utf8)
    return NewBook(locale: locale, base: base, baseText: text)
  }

  /// Returns the books of the checkout with the new one.
  private func books(with new: NewBook) throws -> PhraseBooks {
    let folder = FileManager.default.temporaryDirectory.appending(path: "books-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: Copy.templates, to: folder)
    try Data(new.text.utf8).write(to: folder.appending(path: "\(new.locale).json"))
    return try PhraseBooks(directory: folder)
  }

  @Test("a new phrase book can be used at once, with CLDR's number rules and currency names in its language")
  func anotherLanguage() throws {
    var new = try book("da-DK", like: "en-US")
    new.spelloutRules = SpelloutRules(cldr: Self.rules)
    new.plurals = SpelloutRules.plurals(of: "da", cldr: Self.plurals)
    #expect(new.plurals == ["one": "n = 1 or t != 0 and i = 0,1"])
    let writer = try books(with: new).writer(for: "da-DK")
    let usd = try Currency(code: "USD").orThrow("USD is a currency")
    func words(_ amount: String) throws -> String {
      try writer.script(for: .payment(Payment(amount: Money(decimalText: amount, currency: usd)))).amountText
    }
    #expect(try words("21") == "enogtyve dollars")
    #expect(try words("101") == "ethundrede og en dollars")
    // The name stands in the list of the guard, so it is not spoken as a part of a name.
    let payment = Payment(amount: try Money(minorUnits: 500, currency: usd), payer: "Anna 5 svensk krone")
    let (script, remarks) = try writer.writing(of: .payment(payment))
    #expect(!script.text.contains("krone"))
    #expect(remarks.warnings.count == 1)
    // 12,50 has a decimal comma.
    #expect(try writer.script(for: .text("12,50", locale: nil)).text.contains("point"))
  }

  @Test("the texts of a new phrase book that still need a translation are found")
  func waiting() throws {
    let new = try book("da-DK", like: "en-US")
    var foreign = ForeignTexts()
    foreign.add(Data(new.baseText.utf8), locale: "en-US")
    #expect(foreign.findings(in: Data(new.text.utf8)).count > 10)
  }

  @Test("a new phrase book for another country of the same language only extends the existing book")
  func sameLanguage() throws {
    let new = try book("es-AR", like: "es-MX")
    #expect(new.text == "{\n  \"locale\": \"es-AR\",\n  \"extends\": \"es-MX\"\n}\n")
    #expect(try books(with: new).book(for: "es-AR").locale == "es-AR")
  }

  /// The books that stand alone.
  private static let bases = ((try? Copy.books("en-US", []).locales) ?? []).filter { locale in
    let text = try? String(contentsOf: Copy.templates.appending(path: "\(locale).json"), encoding: .utf8)
    return text?.contains("\"extends\"") == false
  }

  @Test("a phrase book for a new language can begin with every book that extends no other book", arguments: bases)
  func everyBase(base: String) throws {
    #expect(try books(with: book("eo-US", like: base)).book(for: "eo-US").locale == "eo-US")
  }

  @Test("a new phrase book has its country's currency, and no other language's words for powers of ten")
  func countryOnly() throws {
    let text = try book("da-DK", like: "de-DE").text
    #expect(text.contains(#""DKK": { "major": { "other": "dansk krone" }, "minor": [] }"#))
    #expect(text.contains(#""decimalSeparator": ",""#))
    #expect(!text.contains("\"scales\"") && !text.contains("\"ambiguousUnits\""))
  }

  @Test("a new reader file is a JSON object without words, and its source is still empty")
  func reader() throws {
    let text = try book("da-DK", like: "en-US").readerText
    let reader = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(reader["language"] as? String == "da")
    #expect(reader["source"] as? String == "")
    #expect((reader["units"] as? [[String: Any]])?.first?["currencies"] as? [String] == ["DKK"])
  }

  @Test("a CLDR file without cardinal numbers gives no number rules, and an unknown language has no plural rules")
  func none() {
    #expect(SpelloutRules(cldr: "<ruleset type=\"spellout-ordinal\">\n</ruleset>") == nil)
    #expect(SpelloutRules(cldr: "") == nil)
    #expect(SpelloutRules.plurals(of: "xx", cldr: Self.plurals) == nil)
    #expect(SpelloutRules.plurals(of: "ja", cldr: Self.plurals) == [:])
  }
}
