// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AmountReadback

@Suite("The reader of amounts")
struct AmountReaderTests {
  @Test(
    "the language subtag of a locale selects the reader of amounts",
    arguments: ["en", "EN-gb", "en_IN", "en-Latn-US-u-nu-deva"])
  func languageSubtag(_ locale: String) throws {
    #expect(try Reading(locale)("five dollars", "USD") == .amount(500))
  }

  @Test(
    "a locale in an unsupported language has no reader",
    arguments: ["", "-", "e", "xx-US", "eng", "english", " en", "日本"])
  func unknownLanguage(_ locale: String) {
    #expect(throws: AmountReadbackError(code: .languageUnknown, locale: locale)) {
      try AmountReaders.ofCheckout.reader(for: locale)
    }
  }

  @Test(
    "an error of the reader of amounts names the locale and the currency, but no word and no amount",
    arguments: AmountReadbackError.Code.allCases)
  func description(_ code: AmountReadbackError.Code) {
    let text = AmountReadbackError(code: code, locale: "en-US", currency: "USD").description
    #expect(text.contains("en-US"))
    #expect([.languageUnknown, .readerInvalid].contains(code) || text.contains("USD"))
    #expect(text.hasSuffix("."))
  }

  @Test("an error of the reader of amounts names the requested currency")
  func thrown() throws {
    let reader = try AmountReaders.ofCheckout.reader(for: "en-US")
    #expect(throws: AmountReadbackError(code: .unreadable, locale: "en-US", currency: "USD")) {
      try reader.minorUnits(in: "secret words", currency: "USD", minorDigits: 2)
    }
  }

  @Test(
    "a currency with a number of minor digits outside 0 to 18 is out of range", arguments: [-1, 19, Int.max, Int.min])
  func minorDigits(_ minorDigits: Int) throws {
    #expect(try Reading("en")("five dollars", "USD", minorDigits) == .refused(.outOfRange))
  }

  @Test(
    "the reader of amounts finds number words in a text, also beside punctuation, and not inside other words",
    arguments: [
      ("en-US", "The coffee is twelve dollars.", true), ("en-US", "(Twelve) cakes", true),
      ("en-US", "ninety-seven", true), ("en-US", "The shop closes and opens", false), ("en-US", "John Tennant", false),
      ("en-US", "", false), ("zh-CN", "咖啡十二元", true), ("zh-CN", "咖啡好喝", false), ("es-MX", "doce pesos", true),
      ("es-MX", "Doceava Calle", false), ("hi-IN", "बारह रुपये", true), ("th-TH", "สิบสองบาท", true),
    ])
  func numberWords(_ locale: String, _ text: String, _ hasNumber: Bool) throws {
    #expect(try AmountReaders.ofCheckout.reader(for: locale).hasNumberWord(in: text) == hasNumber)
  }

  static let units = [
    "CNY", "USD", "EUR", "GBP", "JPY", "KRW", "INR", "HKD", "TWD", "SGD", "KWD", "BHD", "VND", "THB", "MXN",
  ]

  @Test(
    "in an amount, a pause may stand between the currency's name and a number, and nowhere else",
    arguments: [
      ("ko", "오만 리알, 이십", "OMR", 2_000 as Int64?), ("zh", "百慕大元，二", "BMD", 200), ("zh", "巴西雷亚尔，八点五零", "BRL", 850),
      ("ja", "シンガポールドル、にじゅう", "SGD", 2_000), ("ja", "ニュージーランド ドル、にじゅう", "NZD", 2_000),
      ("hi", "संयुक्त अरब अमीरात दिरहाम, दो दशमलव पाँच शून्य", "AED", 250), ("en", "Tunisian dinars, twenty", "TND", 2_000),
      ("en", "dollars, twenty", "USD", 2_000), ("en", "twenty, Tunisian dinars", "TND", nil),
      ("en", "Tunisian dinars, twenty Tunisian dinars", "TND", nil),
      ("en", "Tunisian dinars, twenty, five", "TND", nil),
      ("en", "Tunisian dinars,", "TND", nil), ("en", ", twenty", "TND", nil),
      ("en", "Swiss francs, twenty", "TND", nil),
      ("en", "dollars, twenty dollars", "USD", nil), ("en", "cents, twenty", "USD", nil),
      ("en", "euros, twenty", "USD", nil),
      ("en", "twenty dollars, five", "USD", nil), ("en", "dollars, twenty cents", "USD", nil),
      ("en", "Tunisian dinars, twenty cents", "TND", nil), ("ja", "シンガポールドル、にじゅうドル", "SGD", nil),
    ])
  func pause(_ locale: String, _ words: String, _ code: String, _ minorUnits: Int64?) throws {
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    let read = try? reader.minorUnits(in: words, currency: code, minorDigits: 2)
    #expect(read == minorUnits)
  }

  @Test(
    "a currency is recognised by its CLDR names, in every language",
    arguments: [("en", "twelve "), ("zh", "十二"), ("ja", "じゅうに"), ("ko", "십이 "), ("hi", "बारह "), ("es", "doce ")])
  func namesOfCLDR(_ locale: String, _ twelve: String) throws {
    let read = try Reading(locale)
    let style = { (code: String) in
      Decimal.FormatStyle.Currency(code: code, locale: Locale(identifier: locale)).presentation(.fullName)
        .precision(.fractionLength(0))
    }
    for code in Set(Locale.commonISOCurrencyCodes).union(Self.units) {
      let name = try #require(Locale(identifier: locale).localizedString(forCurrencyCode: code))
      // In Chinese and Korean, a name that begins like a number does not show where the number ends: 십이 오만 리알.
      let digits = ["ko": "일이삼사오육칠팔구십백천만억조영공점", "zh": "零一二三四五六七八九十百千万亿点"][locale]
      if let digits, let first = name.first, digits.contains(first), !Self.units.contains(code) {
        #expect(read(twelve + name, code) == .refused(.ambiguous), "\(locale) \(code) \(name)")
        continue
      }
      #expect(read(twelve + name, code) == .amount(1200), "\(locale) \(code) \(name)")
      let counted = style(code).format(12).replacing("12", with: twelve.trimmingCharacters(in: .whitespaces))
      // Outside English the newest currencies have no plural forms yet, and a code is not a name.
      guard !counted.hasSuffix(code) else {
        #expect(read(counted, code) == .refused(.unreadable), "\(locale) \(code) \(counted)")
        continue
      }
      #expect(read(counted, code) == .amount(1200), "\(locale) \(code) \(counted)")
      let other = code == "USD" ? "EUR" : "USD"
      #expect(read(counted, other) == .refused(.wrongCurrency), "\(locale) \(code) \(counted)")
    }
  }

  @Test("many tasks may use one reader of amounts at the same time")
  func concurrency() async throws {
    let reader = try AmountReaders.ofCheckout.reader(for: "en-US")
    let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<64 {
        group.addTask { try reader.minorUnits(in: "twelve Swiss francs", currency: "CHF", minorDigits: 2) }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 64 * 1200)
  }

  @Test("hostile text is refused quickly by the reader of amounts")
  func hostile() throws {
    let read = try Reading("en-US")
    for text in [
      String(repeating: "one ", count: 20_000) + "dollars", String(repeating: "s's", count: 20_000), "\u{0}",
      String(repeating: "one quintillion ", count: 5000) + "dollars", "one\u{301} dollar", "\u{202E}one dollar",
    ] {
      #expect(read(text, "USD") == .refused(.unreadable))
    }
  }

  @Test(
    "an amount is refused as ambiguous if the beginning of the currency's name could continue the number",
    arguments: [
      ("ko", "이십 오만 리알", "OMR"), ("ko", "십 조지아 라리", "GEL"), ("ko", "이십 칠레 페소", "CLP"),
      ("ko", "이십 이집트 파운드", "EGP"), ("ko", "이십 사우디아라비아 리얄", "SAR"), ("zh", "两百慕大元", "BMD"),
    ])
  func namesLikeNumbers(locale: String, words: String, code: String) throws {
    #expect(try Reading(locale)(words, code) == .refused(.ambiguous))
  }
}
