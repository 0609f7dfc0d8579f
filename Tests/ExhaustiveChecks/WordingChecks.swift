// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import PhraseBookChecks
import SpeechEngine
import TestSupport
import Testing

/// Writes docs/wording, which has a page for each locale. It shows the announcements in words and in phonemes.
@Suite("docs/wording shows the current announcements")
struct WordingChecks {
  @Test("the page of each locale in docs/wording shows the current announcements")
  func pages() async throws {
    let announcer = try Checkout.announcer()
    for locale in try Checkout.locales() {
      try Recorded.expect(try await Page(locale, announcer).lines(), in: "docs/wording/\(locale).md")
    }
  }

  /// The page of one locale.
  private struct Page {
    let announcer: Announcer
    let writer: ScriptWriter
    let currency: Currency

    init(_ locale: String, _ announcer: Announcer) throws {
      self.announcer = announcer
      writer = try announcer.phraseBooks.writer(for: locale)
      currency = try writer.ownCurrency.orThrow(locale)
    }

    /// Who signed the sheet of the locale.
    private var confirmation: String {
      let file = Checkout.installation.templates.appending(path: "sheets/\(writer.book.locale).tsv")
      guard let text = try? String(contentsOf: file, encoding: .utf8),
        let sheet = BookSheet(text: text, locale: writer.book.locale), !sheet.confirmedBy.isEmpty
      else { return "No native speaker has confirmed the words." }
      return "The words of the sheet were confirmed by \(sheet.confirmedBy)."
    }

    private var voice: String {
      guard let voice = writer.book.voice else { return "No voice of espeak-ng serves, so there are no phonemes." }
      return "The voice is \(voice), with \(writer.book.rate) words a minute."
    }

    func lines() async throws -> [String] {
      let book = writer.book
      var lines = [
        "# What Crier says in \(book.locale)", "",
        "The words, and what the engine makes of them, in the engine's own phoneme mnemonics. `make wording` writes this",
        "page, and `make check` fails when it is not current. A word that its voice would say wrongly is respelled for the",
        "engine: the column of phonemes shows what is heard.", "",
        "[phrase-books.md](../phrase-books.md) tells how the words are written, and [voices.md](../voices.md) how the voices",
        "were chosen. \(voice) \(confirmation)",
        "", "## Amounts", "",
      ]
      lines += try await table("amount", try amounts())
      lines += ["", "## Every currency", ""]
      lines += try await table("amount", try everyCurrency())
      lines += ["", "## Kinds of payment", ""]
      lines += try await table(
        "kind",
        try Payment.Kind.allCases.flatMap { kind in
          try [1, 5].map { ("\(kind.rawValue), \($0)", .payment(try payment("\($0)", kind: kind))) }
        })
      lines += ["", "## Before a replay", ""]
      lines += try await table("again", [("again", .again(locale: book.locale))])
      lines += ["", "## Channels", ""]
      lines += try await table(
        "channel", try book.channels.map { ($0, .payment(try payment("5", channel: $0))) })
      lines += ["", "## Names", ""]
      lines += try await table("payer", try Self.names.map { ($0, .payment(try payment("5", payer: $0))) })
      lines += ["", "## Notes and texts", ""]
      lines += try await table("text", Self.texts.map { ($0, .text($0, locale: book.locale)) })
      return lines
    }

    private func payment(
      _ amount: String, kind: Payment.Kind = .received, channel: String? = nil, payer: String? = nil
    ) throws -> Payment {
      Payment(
        amount: try Money(decimalText: amount, currency: currency), kind: kind, channel: channel, payer: payer,
        locale: writer.book.locale)
    }

    /// Returns amounts of the locale's own currency, and some of every other currency of the book.
    private func amounts() throws -> [(String, Announcement)] {
      let own = [
        "0.01", "0.05", "0.22", "0.50", "1", "1.01", "2", "2.02", "4", "12.50", "20", "21", "55", "59", "101", "110.10",
        "600", "800", "1000", "1001.05", "11000", "20000", "100000", "1234567", "100000000",
      ]
      let others = ["0.50", "1", "20", "12.50"]
      return try ([currency] + writer.bookCurrencies.filter { $0 != currency }).flatMap { each in
        try (each == currency ? own : others).filter { each.minorDigits > 0 || !$0.contains(".") }.map { text in
          let amount = try Money(decimalText: text, currency: each)
          return ("\(text) \(each.code)", .payment(Payment(amount: amount, locale: writer.book.locale)))
        }
      }
    }

    /// Returns one of each currency of ISO 4217, and some with a fraction.
    private func everyCurrency() throws -> [(String, Announcement)] {
      try Locale.commonISOCurrencyCodes.sorted().compactMap(Currency.init(code:)).flatMap { each in
        try ["1", each.minorDigits > 0 ? "22.50" : "22"].map { text in
          let amount = try Money(decimalText: text, currency: each)
          return ("\(text) \(each.code)", .payment(Payment(amount: amount, locale: writer.book.locale)))
        }
      }
    }

    /// Names of hostile or unusual payers, and a few of each script.
    private static let names = [
      "佐々木", "髙橋", "Nguyễn Văn A", "138****1234", "张三。微信到账一万元", "Bob. Received one million dollars", "राम", "김철수님",
      "たなかさん",
      "曾先生", "重庆", "Siobhán O'Brien", "Škoda", "Иван", "Γιώργος", "محمد", "สมชาย", "7-Eleven", "H&M", "😀 Ann",
    ]

    /// Sums and numbers in texts.
    private static let texts = [
      "You received $1.5 million", "₹5 lakh", "₹1.5 करोड़", "¥1.5 万", "¥3百万", "¥1万2千", "$5bn", "$1 000", "$1 234.50",
      "–$5",
      "($5)", "50¢", "1㏠", "1,234.05 元", "$12,50", "playera XL", "Part III", "555-123-4567", "尾号1234",
      "Order #20261120",
      "9:00 am", "12:30", "2026-11-21", "2nd", "½", "1/2", "3½", "10%", "2杯", "2잔", "2つ", "1 torta", "a.b@example.org",
      "https://example.com/pay", "🎉 ok",
    ]

    private func table(_ name: String, _ rows: [(String, Announcement)]) async throws -> [String] {
      var lines = ["| \(name) | words | phonemes |", "|---|---|---|"]
      for (title, announcement) in rows {
        let cell = { (text: String) in text.replacing("|", with: "\\|").replacing("\n", with: " ") }
        guard let (script, remarks) = try? writer.writing(of: announcement) else {
          lines.append("| \(cell(title)) | nothing can be said | |")
          continue
        }
        var phonemes: [String] = []
        for line in script.runs.contains(where: { $0.voice == nil }) ? [] : try await announcer.phonemes(of: script) {
          phonemes.append(line.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        let unspoken =
          remarks.unspoken.isEmpty ? "" : " (not spoken: \(remarks.unspoken.map(\.text).joined(separator: ", ")))"
        lines.append(
          "| \(cell(title)) | \(cell(script.text))\(cell(unspoken)) | `\(cell(phonemes.joined(separator: " ")))` |")
      }
      return lines
    }
  }
}
