// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("A user's lexicon determines how names are pronounced")
struct LexiconTests {
  private func lexicon(_ csv: String) throws -> Lexicon { try Lexicon(data: Data(csv.utf8), name: "lexicon.csv") }

  private func script(_ csv: String, _ locale: String, channel: String? = nil, payer: String? = nil) throws -> Script {
    let books = try PhraseBooks(directory: Books.directory, lexicon: try lexicon(csv))
    let payment = Payment(amount: try Books.money("5", "USD"), channel: channel, payer: payer)
    return try books.writer(for: locale).script(for: .payment(payment))
  }

  @Test("a name is pronounced as in the lexicon, in any letter case, and the report's text keeps the name")
  func name() throws {
    let script = try script("locale,text,said\nen-US,Siobhán,Shivawn\n", "en-US", payer: "SIOBHÁN Murphy")
    #expect(script.text == "Received five dollars, from SIOBHÁN Murphy")
    #expect(script.runs.map(\.spelling) == ["Received five dollars, from Shivawn Murphy"])
  }

  @Test("an entry of a lexicon applies to its own language, to whole words, and also to channels")
  func scope() throws {
    let csv = "locale,text,said\r\nen-GB,Ann,Annie\r\nes,Ann,Ana\r\nen,Alipay,Ally pay\r\nja,田中,でんちゅう\r\n"
    #expect(try script(csv, "en-US", payer: "Ann Annabel").runs[0].spelling.hasSuffix("from Annie Annabel"))
    #expect(try script(csv, "en-US", channel: "alipay").runs[0].spelling.hasSuffix("through Ally pay"))
    #expect(try script(csv, "ja-JP", payer: "田中").runs[0].spelling.hasSuffix("でんちゅうさまより"))
  }

  @Test(
    "the error for an invalid line of a lexicon names the line and the remedy",
    arguments: [
      ("", 1, "is empty"), ("text,said\n", 1, "is not the header"),
      ("locale,text,said\nen-US,Ann\n", 2, "has 2 fields instead of three"),
      ("locale,text,said\n\"en US\",Ann,Annie\n", 2, "has a locale that is not a BCP 47 tag"),
      ("locale,text,said\nen-US,!!,Annie\n", 2, "has a text without a letter, or with more than 80 characters"),
      ("locale,text,said\nen-US,Ann,Ann13\n", 2, "has an invalid reading"),
      ("locale,text,said\nen-US,Ann,[[an]]\n", 2, "has an invalid reading"),
      ("locale,text,said\n\nen-US,\"Ann\n", 3, "field 2 begins with a quotation mark, but does not end with one"),
    ])
  func faults(csv: String, line: Int, problem: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try lexicon(csv) }
    #expect(error?.code == .lexiconInvalid)
    #expect(error?.subject == "lexicon.csv, line \(line)")
    #expect(error?.problem == problem)
    #expect(error?.remedy.isEmpty == false)
  }
}
