// SPDX-License-Identifier: Apache-2.0

import Announcements
import TestSupport
import Testing

/// The name and the note of a payer who would like to deceive the reader.
@Suite("A banner shows only visible text")
struct VisibleTextTests {
  private func body(_ payer: String?, note: String? = nil, locale: String = "en-US") throws -> String? {
    let payment = Payment(amount: try Books.money("5", "USD"), payer: payer, note: note)
    return try Books.all().banner(for: .payment(payment), defaultLocale: locale).body
  }

  @Test(
    "bidirectional controls in a name or note cannot turn a banner's text around",
    arguments: [
      "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
      "\u{200E}", "\u{200F}", "\u{061C}",
    ])
  func directions(control: String) throws {
    #expect(
      try body("Ann\(control) 05.21$ \(control)", note: "\(control)t\(control)ea") == "From Ann 05.21$. Note: tea")
  }

  @Test("a right-to-left name does not turn the words around it")
  func rightToLeft() throws {
    #expect(
      try body("أحمد", note: "שולחן 5")
        == "From \u{2068}أحمد\u{2069}. Note: \u{2068}שולחן 5\u{2069}")
    #expect(try body("אבי\u{2069}\u{202E}12", locale: "ja-JP") == "\u{2068}אבי12\u{2069}様より")
  }

  @Test(
    "control, zero-width and other invisible characters are removed from a banner's text",
    arguments: [
      "\u{0}", "\u{1B}", "\u{7F}", "\u{9B}", "\u{AD}", "\u{34F}", "\u{115F}", "\u{180E}", "\u{200B}", "\u{200C}",
      "\u{200D}", "\u{2060}", "\u{2064}", "\u{3164}", "\u{FE0F}", "\u{FEFF}", "\u{FFA0}", "\u{FFF9}", "\u{FFFE}",
      "\u{E000}", "\u{F8FF}", "\u{E0041}", "\u{E0100}",
    ])
  func invisible(character: String) throws {
    #expect(try body("\(character)A\(character)nn\(character)") == "From Ann")
    #expect(try body(character) == nil)
  }

  @Test(
    "white space of any kind becomes one space in a banner's text",
    arguments: ["\n", "\r\n", "\t", "\u{B}", "\u{85}", "\u{A0}", "\u{2003}", "\u{2028}", "\u{2029}", "\u{3000}"])
  func whiteSpace(space: String) throws {
    #expect(try body("\(space)Ann\(space)\(space)Lee\(space)") == "From Ann Lee")
  }

  @Test(
    "characters that a writing system or an emoji needs stay in a banner's text",
    arguments: [
      "Zoë d’Arc-O'Neil", "Ngô Thị Ễ", "Nguye\u{302}\u{303}n", "👨‍👩‍👧", "👋🏽", "❤️‍🔥", "1️⃣", "🇲🇽", "☎️", "क्‍ष", "श्‌र", "می‌خواهم",
      "葛\u{E0100}城",
      "佐々木", "ﾀﾅｶ", "O2 & Co. <b>",
    ])
  func kept(name: String) throws {
    let shown = try body(name)?.filter { $0 != "\u{2068}" && $0 != "\u{2069}" }
    #expect(shown == "From \(name)")
  }

  @Test("the number of combining marks in a banner is limited, so that they cover no other line")
  func marks() throws {
    let marks = String(repeating: "\u{336}\u{30D}", count: 40)
    #expect(try body("A\(marks)nn") == "From A\u{336}\u{30D}\u{336}\u{30D}nn")
    #expect(try body("\u{30D}Ann \u{336}Lee") == "From Ann Lee")
  }

  @Test("the name and the note in a banner are cut to their limits, even if one character is enormous")
  func limits() throws {
    let name = String(repeating: "山", count: Payment.longestPayer)
    #expect(try body(name) == "From \(name)")
    #expect(try body(name + "山") == "From \(name.dropLast())…")
    let note = String(repeating: "n", count: Payment.longestNote)
    #expect(try body(nil, note: note + "n") == "Note: \(note.dropLast())…")
    let chain = Array(repeating: "👩", count: 5_000).joined(separator: "\u{200D}")
    #expect(try body("Ann \(chain)") == "From Ann…")
  }

  @Test("the sum in a banner's title does not depend on the payer's name")
  func title() throws {
    let payment = Payment(
      amount: try Books.money("5", "USD"), payer: "\u{202E}000,000,1$ {amount} [Received $9.00]", note: "{payer}")
    let banner = try Books.all().banner(for: .payment(payment), defaultLocale: "en-US")
    #expect(banner.title == "Received $5.00")
    #expect(banner.body == "From 000,000,1$ {amount} [Received $9.00]. Note: {payer}")
  }
}
