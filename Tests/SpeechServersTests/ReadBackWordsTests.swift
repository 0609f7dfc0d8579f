// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import SpeakingPlans
import TestSupport
import Testing

@testable import SpeechServers

@Suite("Words that may be sent to a speech server")
struct ReadBackWordsTests {
  @Test("the words sent for a payment are those of its script, without digits, and are marked if they contain a name")
  func payment() throws {
    let plain = try Fixture.words("1234.56")
    #expect(plain.text == "Received one thousand two hundred thirty-four dollars and fifty-six cents")
    #expect(plain.saysAmount && !plain.hasNames && plain.language == "en-US")
    let named = try Fixture.words("1234.56", payer: "John Smith")
    #expect(named.text.hasSuffix("from John Smith") && named.hasNames)
  }

  @Test("words that say another amount than the payment's are refused, and not sent to a speech server")
  func anotherAmount() throws {
    let (paid, other) = (Announcement.payment(try Fixture.payment("12.50")), try Fixture.payment("12.51"))
    let plan = SpeakingPlan(spoken: try Fixture.script(.payment(other)))
    #expect(throws: ReadbackMismatch.self) { try Fixture.words(of: plan, saying: paid) }
    // Nothing can be read back in a language without a reader.
    let right = SpeakingPlan(spoken: try Fixture.script(paid))
    #expect(throws: ReadbackMismatch.self) { try Fixture.words(of: right, saying: paid, locale: "xx") }
  }

  @Test(
    "text without a letter, or with a digit, a symbol or markup, is not sent to a speech server",
    arguments: [
      "3,497", "room 5", "٣", "Ⅻ", "½", "x²", "$ twelve", "€", "<speak>", "a & b", "[[twelve]]", "{x}", "a\nb",
      "a\u{0}b",
      "a\u{1}b", "a|b", "a_b", "#tag", "me@shop", "one + one", "a\\b", "😀 hello", "", "…", "a\u{202E}b",
      String(repeating: "a", count: 2_001),
    ])
  func unsendable(text: String) throws {
    #expect(try Self.words(text) == nil)
  }

  @Test(
    "letters with the punctuation of sentences are sent to a speech server",
    arguments: [
      "twelve dollars, and fifty cents.", "Anne-Marie O'Neill", "D’Arcy", "支付宝到账，十二元五角。", "पचपन रुपये", "می‌خواهم",
      "열두 원", "Straße (Nord)",
    ])
  func sendable(text: String) throws {
    #expect(try Self.words(text) == text)
  }

  @Test("in every phrase book, all words of a payment may be sent to a speech server")
  func books() throws {
    let books = try Fixture.books()
    for locale in books.locales {
      for amount in ["0.01", "12.50", "101.05", "3497.05", "1234567.89"] {
        let announcement = Announcement.payment(try Fixture.payment(amount))
        let script = try books.writer(for: locale).script(for: announcement)
        let parts = try ReadBackWords.of(
          SpeakingPlan(spoken: script), saying: announcement, in: locale, readers: Fixture.readers)
        #expect(try parts.compactMap { try $0?.get().text }.joined(separator: " ") == script.text, "\(locale)")
      }
    }
  }

  @Test("an excerpt of a payment that was read back ends with a period or a comma, as the caller asks")
  func excerpt() throws {
    let source = try Self.written(.payment(try Fixture.payment("20")))
    #expect(try Self.excerpt(["twenty", "dollars"], endsSentence: true, from: source)?.text == "twenty dollars.")
    let word = try #require(try Self.excerpt(["Received"], from: source))
    #expect(word.text == "Received," && !word.saysAmount && word.language == "en-US")
    #expect(try Self.excerpt(["twenty"], from: source)?.saysAmount == true)
    let joined = try Self.written(.payment(try Fixture.payment("25")))
    #expect(try Self.excerpt(["twenty", "five", "dollars"], from: joined)?.text == "twenty-five dollars,")
  }

  @Test(
    "an excerpt whose words do not follow one another in the announcement is not sent",
    arguments: [["thirty"], ["dollars", "twenty"], [], ["20"], ["twenty dollars"], ["<speak>"]])
  func absent(tokens: [String]) throws {
    #expect(try Self.excerpt(tokens, from: Self.written(.payment(try Fixture.payment("20")))) == nil)
  }

  @Test(
    "names, notes, unknown channels and free texts are not sent as excerpts, and the phrase book's channels are sent")
  func foreign() throws {
    var payment = try Fixture.payment("20", payer: "Smith")
    payment.note = "coffee"
    payment.channel = "Corner"
    let source = try Self.written(.payment(payment))
    for name in ["Smith", "coffee", "Corner"] { #expect(try Self.excerpt([name], from: source) == nil, "\(name)") }
    #expect(try Self.excerpt(["dollars"], from: source) != nil)
    #expect(try Self.excerpt(["hello"], from: Self.written(.text("hello", locale: "en-US"))) == nil)
    let channel: String = try #require(try Fixture.books().book(for: "en-US").channels.first)
    payment.channel = channel
    let known = try Self.written(.payment(payment))
    let name = try #require(known.script.tokens.first { $0.role == .channel }?.name)
    #expect(try Self.excerpt([name], from: known)?.hasNames == false)
  }

  @Test("no excerpt is taken from an announcement that cannot be read back")
  func excerptOfUnread() throws {
    let source = try Self.written(.payment(try Fixture.payment("20")))
    #expect(throws: ReadbackMismatch.self) {
      try ReadBackWords.excerpt(
        ["twenty"], endsSentence: false, from: source, readers: AmountReaders(directory: nil))
    }
  }

  private static func written(_ announcement: Announcement) throws -> WrittenAnnouncement {
    try Fixture.books().writer(for: "en-US").written(announcement)
  }

  /// Returns an excerpt; nil if it may not be sent.
  private static func excerpt(
    _ tokens: [String], endsSentence: Bool = false, from source: WrittenAnnouncement
  ) throws -> ReadBackWords? {
    switch try ReadBackWords.excerpt(tokens, endsSentence: endsSentence, from: source, readers: Fixture.readers) {
    case .success(let words): return words
    case .failure(let error):
      #expect(error.code == .wordsUnsendable && !error.isOfServer)
      return nil
    }
  }

  /// Returns the words of a free text; nil if they may not be sent.
  private static func words(_ text: String) throws -> String? {
    let run = Script.Run(language: "en-US", voice: "en-us", segments: [Script.Segment(text, .text)])
    let plan = SpeakingPlan(spoken: Script(locale: "en-US", runs: [run], rate: 160))
    let parts = try ReadBackWords.of(plan, saying: .text(text, locale: nil), in: "en-US", readers: Fixture.readers)
    switch try #require(parts.first) {
    case .success(let words): return words.text
    case .failure(let error):
      #expect(error.code == .wordsUnsendable && !error.isOfServer)
      return nil
    case nil: throw Missing(what: "a spoken part")
    }
  }
}
