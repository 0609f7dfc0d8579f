// SPDX-License-Identifier: Apache-2.0

import Announcements
import TestSupport
import Testing

/// The vocabulary of a recorded voice is finite, and is collected by writing announcements instead of keeping a second
/// list.
@Suite("Vocabulary")
struct VocabularyTests {
  static let locales = ["zh-CN", "en-US", "ja-JP", "ko-KR", "hi-IN", "es-MX"]

  private func vocabulary(_ locale: String, _ codes: String...) throws -> Vocabulary {
    let currencies = try codes.map { try Currency(code: $0).orThrow($0) }
    return try Books.all().writer(for: locale).vocabulary(currencies: currencies.isEmpty ? nil : currencies)
  }

  @Test("the first blocks of the vocabulary are the sentence and the amounts, each with its coverage")
  func blocks() throws {
    let blocks = try vocabulary("en-US").blocks
    #expect(
      blocks.prefix(9).map(\.coverage) == [
        "the words around every payment that is received, without channel and names",
        "every whole amount under 10 in USD", "every whole amount under 100 in USD",
        "every whole amount under 1,000 in USD", "every whole amount under 1,000,000 in USD",
        "every whole amount under 1,000,000,000 in USD", "every whole amount under 1,000,000,000,000 in USD",
        "every whole amount in USD", "every amount in USD",
      ])
    #expect(blocks[0].words.map(\.token) == ["Received"])
    #expect(blocks[1].words.map(\.token).prefix(4) == ["one", "dollar", "two", "dollars"])
    #expect(blocks[8].words.map(\.token) == ["cent", "and", "cents"])
  }

  @Test("a token of the vocabulary belongs to only one block", arguments: locales)
  func unique(locale: String) throws {
    let tokens = try vocabulary(locale).words.map(\.token)
    #expect(Set(tokens).count == tokens.count)
    #expect(tokens.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) })
  }

  @Test("the vocabulary of a locale has at most 260 words, of which at most 130 are required", arguments: locales)
  func size(locale: String) throws {
    let vocabulary = try vocabulary(locale)
    #expect(vocabulary.blocks.filter(\.isRequired).flatMap(\.words).count <= 130)
    #expect(vocabulary.words.count <= 260)
  }

  @Test("words for sums in the required currencies are required, and words for other currencies and channels are not")
  func required() throws {
    let vocabulary = try vocabulary("en-US", "USD", "GBP")
    let required = Set(vocabulary.blocks.filter(\.isRequired).flatMap(\.words).map(\.token))
    #expect(required.isSuperset(of: ["twelve", "hundred", "dollars", "pence", "and", "Received", "Withdrew"]))
    #expect(required.isDisjoint(with: ["yen", "point", "Alipay", "through", "from"]))
    #expect(Set(vocabulary.words.map(\.token)).isSuperset(of: ["yen", "point", "Alipay", "through", "from"]))
  }

  @Test("the required words come before all others, so that a recording may end after them", arguments: locales)
  func requiredFirst(locale: String) throws {
    let required = try vocabulary(locale).blocks.map(\.isRequired)
    #expect(required.contains(true) && required.contains(false))
    #expect(required == required.filter { $0 } + required.filter { !$0 })
  }

  @Test("a word of the vocabulary is marked if an announcement may end with it")
  func endings() throws {
    let words = try vocabulary("zh-CN").words
    #expect(try words.first { $0.token == "元" }.orThrow("元").mayEnd)
    #expect(try words.first { $0.token == "分" }.orThrow("分").mayEnd)
    #expect(try !words.first { $0.token == "到账" }.orThrow("到账").mayEnd)
  }

  @Test("each word of an amount has the smallest sum that needs it, and an example announcement")
  func examples() throws {
    let words = try vocabulary("en-US").words
    let thirteen = try words.first { $0.token == "thirteen" }.orThrow("thirteen")
    #expect(thirteen.smallestAmount == "13.00 USD")
    #expect(thirteen.example == "Received thirteen dollars")
  }

  @Test("random announcements need no token outside the vocabulary", arguments: locales)
  func complete(locale: String) throws {
    let writer = try Books.all().writer(for: locale)
    let listed = Set(try vocabulary(locale).words.map(\.token))
    var random = SplitMix64(seed: 3)
    for currency in writer.bookCurrencies {
      for _ in 0..<100 {
        let digits = Int.random(in: 1...15, using: &random)
        let limit = min((0..<digits).reduce(Int64(1)) { power, _ in power * 10 }, Money.largestMajorUnits)
        let amount = try Money(minorUnits: Int64.random(in: 1...limit, using: &random), currency: currency)
        let payment = Payment(
          amount: amount, kind: try Payment.Kind.allCases.randomElement(using: &random).orThrow("kind"),
          channel: ["alipay", "card", nil].randomElement(using: &random) ?? nil)
        let tokens = try writer.script(for: .payment(payment)).tokens.filter { $0.role != .channel }
        #expect(tokens.allSatisfy { listed.contains($0.name) }, "\(tokens.filter { !listed.contains($0.name) })")
      }
    }
  }

  @Test("a vocabulary is refused for a currency that the phrase book cannot speak")
  func unspeakable() throws {
    let writer = try Books.writerWithoutCurrencyNames("ja-JP")
    #expect(throws: AnnouncementError.self) {
      try writer.vocabulary(currencies: [Currency(code: "KPW")].compactMap(\.self))
    }
  }
}
