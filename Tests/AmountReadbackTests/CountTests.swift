// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AmountReadback

@Suite("Counts")
struct CountTests {
  typealias Count = (locale: String, words: String, count: Int64)
  typealias Refused = (locale: String, words: String, code: AmountReadbackError.Code)

  private func code(_ words: String, _ locale: String) throws -> AmountReadbackError.Code? {
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    do {
      _ = try reader.count(in: words)
      return nil
    } catch { return error.code }
  }

  @Test(
    "a count is read both in the form that stands before a noun and as a plain number",
    arguments: [
      ("en-US", "one", 1), ("en-GB", "One Hundred and One", 101), ("en-US", "twenty-one", 21),
      ("en-IN", "one lakh one", 100_001),
      ("zh-CN", "两", 2), ("zh-CN", "二", 2), ("zh-TW", "兩", 2), ("zh-CN", "十", 10), ("zh-CN", "一千零一", 1_001),
      ("zh-CN", "两千两百二十二", 2_222), ("zh-CN", "两万", 20_000),
      ("es-MX", "un", 1), ("es-MX", "uno", 1), ("es-MX", "una", 1), ("es-MX", "veintiún", 21),
      ("es-MX", "veintiuna", 21), ("es-MX", "doscientas una", 201), ("es-MX", "doscientos un", 201),
      ("es-MX", "mil un", 1_001), ("es-MX", "un millón de", 1_000_000), ("es-MX", "un millón", 1_000_000),
      ("hi-IN", "इक्कीस", 21), ("hi-IN", "एक हज़ार एक", 1_001), ("hi-IN", "निन्यानवे लाख", 9_900_000),
      ("ja-JP", "いっ", 1), ("ja-JP", "いち", 1), ("ja-JP", "ろっ", 6), ("ja-JP", "じゅっ", 10), ("ja-JP", "じっ", 10),
      ("ja-JP", "にじゅういっ", 21), ("ja-JP", "ひゃっ", 100), ("ja-JP", "さんびゃっ", 300), ("ja-JP", "せんいっ", 1_001),
      ("ja-JP", "いちまんひゃっ", 10_100), ("ja-JP", "二十一", 21),
      ("ko-KR", "한", 1), ("ko-KR", "하나", 1), ("ko-KR", "일", 1), ("ko-KR", "두", 2), ("ko-KR", "스무", 20),
      ("ko-KR", "스물", 20), ("ko-KR", "스물다섯", 25), ("ko-KR", "이십오", 25), ("ko-KR", "백스물한", 121),
      ("ko-KR", "천 한", 1_001), ("ko-KR", "만 한", 10_001), ("ko-KR", "백일", 101), ("ko-KR", "백일흔", 170),
      ("ko-KR", "구백구십구만 구천구백아흔아홉", 9_999_999),
    ] as [Count])
  func reads(_ good: Count) throws {
    #expect(try AmountReaders.ofCheckout.reader(for: good.locale).count(in: good.words) == good.count)
  }

  @Test(
    "text that is not a valid count in words is refused",
    arguments: [
      ("en-US", "", .unreadable), ("en-US", " ", .unreadable), ("en-US", "5", .unreadable),
      ("zh-CN", "５", .unreadable), ("en-US", "five payments", .unreadable), ("en-US", "five dollars", .unreadable),
      ("en-US", "five cents", .unreadable), ("en-US", "five point five", .unreadable),
      ("en-US", "minus five", .unreadable),
      ("en-US", "twelve hundred", .unreadable), ("en-US", "five five", .unreadable), ("en-US", "and five", .unreadable),
      ("en-US", "fifth", .unreadable), ("en-US", "zero", .outOfRange), ("en-US", "ten million", .outOfRange),
      ("en-US", "nine quintillion nine quintillion", .unreadable), ("en-US", "ten quintillion", .outOfRange),
      ("zh-CN", "两笔", .unreadable), ("zh-CN", "十两", .unreadable), ("zh-CN", "一百一", .ambiguous),
      ("zh-CN", "两元", .unreadable), ("zh-CN", "五点五", .unreadable), ("zh-CN", "零", .outOfRange),
      ("es-MX", "veintiuna pagos", .unreadable), ("es-MX", "un mil", .unreadable), ("es-MX", "uno mil", .unreadable),
      ("es-MX", "doscientos una", .unreadable), ("es-MX", "cinco de", .unreadable), ("es-MX", "ciento", .unreadable),
      ("es-MX", "doscientas millones de", .unreadable), ("es-MX", "cinco pesos", .unreadable),
      ("hi-IN", "सौ", .unreadable), ("hi-IN", "बारह सौ", .unreadable), ("hi-IN", "पाँच रुपये", .unreadable),
      ("hi-IN", "एक करोड़", .outOfRange),
      ("ja-JP", "よ", .unreadable), ("ja-JP", "いっじゅう", .unreadable), ("ja-JP", "いっに", .unreadable),
      ("ja-JP", "ひゃっいち", .unreadable), ("ja-JP", "ひゃっまん", .unreadable), ("ja-JP", "さんひゃっ", .unreadable),
      ("ja-JP", "ごえん", .unreadable), ("ja-JP", "いっけん", .unreadable), ("ja-JP", "ゼロ", .outOfRange),
      ("ko-KR", "이십한", .unreadable), ("ko-KR", "열이", .unreadable), ("ko-KR", "스무한", .unreadable),
      ("ko-KR", "한열", .unreadable), ("ko-KR", "한한", .unreadable), ("ko-KR", "두백", .unreadable),
      ("ko-KR", "한만", .unreadable), ("ko-KR", "일한", .unreadable), ("ko-KR", "열스물", .unreadable),
      ("ko-KR", "다섯 건", .unreadable), ("ko-KR", "다섯 원", .unreadable), ("ko-KR", "영", .outOfRange),
    ] as [Refused])
  func refuses(_ bad: Refused) throws {
    #expect(try code(bad.words, bad.locale) == bad.code)
  }

  @Test(
    "Korean numerals that can only count things are refused in an amount of money",
    arguments: ["다섯 원", "스무 원", "백한 원", "한원"])
  func koreanMoney(_ words: String) throws {
    #expect(try Reading("ko-KR")(words, "KRW", 0) == .refused(.unreadable))
  }

  @Test(
    "the Japanese form ひゃっ, which can only stand before a counted noun, is refused in an amount of money",
    arguments: ["ひゃっえん", "さんびゃっえん"])
  func japaneseMoney(_ words: String) throws {
    #expect(try Reading("ja-JP")(words, "JPY", 0) == .refused(.unreadable))
  }

  @Test("every count up to 9,999 is read as the number that was written", arguments: SpokenAmounts.all)
  func roundTrip(_ language: SpokenAmounts.Language) throws {
    let reader = try AmountReaders.ofCheckout.reader(for: language.locale)
    for count in Int64(1)...9_999 {
      let words = language.words(count, 0).dropLast().joined(separator: language.separator)
      #expect((try? reader.count(in: words)) == count, "\(words)")
    }
  }

  @Test(
    "the error for an unreadable count names the locale, but no word and no number",
    arguments: AmountReadbackError.Code.allCases)
  func description(_ code: AmountReadbackError.Code) {
    let text = AmountReadbackError(code: code, locale: "en-US", subject: .count).description
    #expect(text.contains("en-US") && text.hasSuffix("."))
    #expect([.languageUnknown, .readerInvalid].contains(code) || text.contains("a count in"))
  }

  @Test("the error for an unreadable count says that a count was expected")
  func thrown() throws {
    let reader = try AmountReaders.ofCheckout.reader(for: "en-US")
    #expect(throws: AmountReadbackError(code: .unreadable, locale: "en-US", subject: .count)) {
      try reader.count(in: "secret words")
    }
  }
}
