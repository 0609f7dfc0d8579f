// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Testing

/// The words that a shop hears for several waiting payments.
@Suite("A summary becomes words")
struct SummaryWordsTests {
  static let locales = ["zh-CN", "en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR"]

  private func summary(_ totals: (count: Int, amount: String, code: String)...) throws -> Announcement {
    .summary(
      try PaymentSummary(
        totals: totals.map { try PaymentSummary.Total(count: $0.count, amount: Books.money($0.amount, $0.code)) }))
  }

  @Test(
    "a summary of five payments says their sum of 57.50 yuan",
    arguments: [
      ("zh-CN", "收款五笔，合计五十七元五角"),
      ("en-US", "Received five payments, fifty-seven point five zero yuan in total"),
      ("es-MX", "Recibiste cinco pagos, cincuenta y siete punto cinco cero yuanes en total"),
      ("hi-IN", "पाँच भुगतान प्राप्त हुए, कुल सत्तावन दशमलव पाँच शून्य युआन"),
      ("ja-JP", "ごけん、ごうけいごじゅうななてんごゼロげんをうけとりました"),
      ("ko-KR", "다섯 건, 합계 오십칠 점 오 영 위안 입금되었습니다"),
    ])
  func five(locale: String, text: String) throws {
    #expect(try Books.script(summary((5, "57.50", "CNY")), locale).text == text)
  }

  @Test(
    "the count of a summary agrees with its noun and has the form that stands before a noun",
    arguments: [
      (
        "zh-CN", "CNY",
        [
          "收款一笔，合计五元", "收款两笔，合计五元", "收款二十一笔，合计五元", "收款一百笔，合计五元", "收款一千零一笔，合计五元",
        ]
      ),
      (
        "en-US", "USD",
        [
          "Received one payment of five dollars", "Received two payments, five dollars in total",
          "Received twenty-one payments, five dollars in total",
          "Received one hundred payments, five dollars in total",
          "Received one thousand one payments, five dollars in total",
        ]
      ),
      (
        "es-MX", "MXN",
        [
          "Recibiste un pago de cinco pesos", "Recibiste dos pagos, cinco pesos en total",
          "Recibiste veintiún pagos, cinco pesos en total", "Recibiste cien pagos, cinco pesos en total",
          "Recibiste mil un pagos, cinco pesos en total",
        ]
      ),
      (
        "hi-IN", "INR",
        [
          "एक भुगतान प्राप्त हुआ, पाँच रुपये", "दो भुगतान प्राप्त हुए, कुल पाँच रुपये",
          "इक्कीस भुगतान प्राप्त हुए, कुल पाँच रुपये", "एक सौ भुगतान प्राप्त हुए, कुल पाँच रुपये",
          "एक हज़ार एक भुगतान प्राप्त हुए, कुल पाँच रुपये",
        ]
      ),
      (
        "ja-JP", "JPY",
        [
          "いっけん、ごうけいごえんをうけとりました", "にけん、ごうけいごえんをうけとりました", "にじゅういっけん、ごうけいごえんをうけとりました",
          "ひゃっけん、ごうけいごえんをうけとりました", "せんいっけん、ごうけいごえんをうけとりました",
        ]
      ),
      (
        "ko-KR", "KRW",
        [
          "한 건, 합계 오 원 입금되었습니다", "두 건, 합계 오 원 입금되었습니다", "스물한 건, 합계 오 원 입금되었습니다",
          "백 건, 합계 오 원 입금되었습니다", "천한 건, 합계 오 원 입금되었습니다",
        ]
      ),
    ])
  func counts(locale: String, code: String, texts: [String]) throws {
    for (count, text) in zip([1, 2, 21, 100, 1_001], texts) {
      #expect(try Books.script(summary((count, "5", code)), locale).text == text)
    }
  }

  @Test(
    "some counts change their form before the counted noun",
    arguments: [
      (
        "ja-JP",
        [
          3: "さん", 4: "よん", 6: "ろっ", 8: "はっ", 10: "じゅっ", 30: "さんじゅっ", 300: "さんびゃっ", 600: "ろっぴゃっ", 1_000: "せん",
          3_000: "さんぜん", 9_999: "きゅうせんきゅうひゃくきゅうじゅうきゅう", 10_000: "いちまん",
        ]
      ),
      (
        "ko-KR",
        [
          3: "세", 4: "네", 10: "열", 11: "열한", 20: "스무", 25: "스물다섯", 120: "백스무", 99: "아흔아홉", 1_234: "천이백서른네",
          9_999: "구천구백아흔아홉", 10_000: "만", 10_001: "만 한", 10_110: "만 백열",
        ]
      ),
      (
        "zh-CN",
        [
          2: "两", 12: "十二", 22: "二十二", 102: "一百零二", 200: "二百", 2_000: "两千", 2_002: "两千零二", 10_000: "一万",
          20_000: "两万",
        ]
      ),
      ("es-MX", [31: "treinta y un", 101: "ciento un", 200: "doscientos", 2_021: "dos mil veintiún"]),
    ] as [(String, [Int: String])])
  func changes(locale: String, words: [Int: String]) throws {
    for (count, expected) in words {
      #expect(try Books.script(summary((count, "5", "USD")), locale).totals.map(\.count) == [expected])
    }
  }

  @Test(
    "a summary of payments in two currencies has two sentences",
    arguments: [
      ("zh-CN", "收款四笔，合计四十七元五角。收款一笔，合计十美元"),
      (
        "en-US",
        "Received four payments, forty-seven point five zero yuan in total. Received one payment of ten dollars"
      ),
      (
        "es-MX",
        "Recibiste cuatro pagos, cuarenta y siete punto cinco cero yuanes en total. Recibiste un pago de diez dólares"
      ),
      (
        "hi-IN", "चार भुगतान प्राप्त हुए, कुल सैंतालीस दशमलव पाँच शून्य युआन. एक भुगतान प्राप्त हुआ, दस डॉलर"
      ),
      ("ja-JP", "よんけん、ごうけいよんじゅうななてんごゼロげんをうけとりました。いっけん、ごうけいじゅうドルをうけとりました"),
      ("ko-KR", "네 건, 합계 사십칠 점 오 영 위안 입금되었습니다. 한 건, 합계 십 달러 입금되었습니다"),
    ])
  func currencies(locale: String, text: String) throws {
    let script = try Books.script(summary((4, "47.50", "CNY"), (1, "10", "USD")), locale)
    #expect(script.text == text)
    #expect(script.totals.count == 2)
    #expect(script.pieces.contains { $0.pause == .sentence })
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    #expect(try script.totals.map { try reader.count(in: $0.count) } == [4, 1])
    #expect(try reader.minorUnits(in: script.totals[0].amount, currency: "CNY", minorDigits: 2) == 4_750)
    #expect(try reader.minorUnits(in: script.totals[1].amount, currency: "USD", minorDigits: 2) == 1_000)
  }

  /// A sample: all of the first counts, and some of every further hundred. `make check` reads all counts.
  static let sample = Array(1...250) + Array(stride(from: 267, through: 9_999, by: 37)) + [1_000, 5_000, 9_999]

  @Test("the count of a summary is read back, and each of its tokens is in the vocabulary", arguments: locales)
  func readsBack(locale: String) throws {
    let writer = try Books.all().writer(for: locale)
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    let listed = Set(try writer.vocabulary().words.map(\.token))
    let amount = try Books.money("5", "USD")
    var wrong: [Int] = []
    var unlisted: Set<String> = []
    for count in Self.sample {
      let total = try PaymentSummary.Total(count: count, amount: amount)
      let script = try writer.script(for: .summary(try PaymentSummary(totals: [total])))
      if (try? reader.count(in: script.totals[0].count)) != Int64(count) { wrong.append(count) }
      for token in script.tokens where !listed.contains(token.name) { unlisted.insert(token.name) }
    }
    #expect(wrong == [] && unlisted.isEmpty)
  }

  @Test("counts of payments from 10,000 up to the largest count are also read back", arguments: locales)
  func largeCounts(locale: String) throws {
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    for count in [10_000, 10_001, 100_000, 123_456, 1_000_000, 1_000_021, 2_000_000, PaymentSummary.largestCount] {
      let words = try Books.script(summary((count, "5", "USD")), locale).totals[0].count
      #expect(try reader.count(in: words) == Int64(count), "\(words)")
    }
  }

  @Test("the script of a summary contains no digit", arguments: locales)
  func digits(locale: String) throws {
    for count in [1, 2, 21, 100, 1_001, 9_999] {
      let script = try Books.script(summary((count, "1234.56", "CNY"), (count, "7", "JPY")), locale)
      let scalars = script.runs.flatMap(\.segments).flatMap { Array($0.text.unicodeScalars) }
      #expect(scalars.allSatisfy { $0.properties.generalCategory != .decimalNumber })
    }
  }

  @Test("the shortening steps leave a summary unchanged", arguments: ScriptWriter.Shortening.allCases)
  func shortenings(step: ScriptWriter.Shortening) throws {
    let writer = try Books.all().writer(for: "en-US")
    let announcement = try summary((5, "57.50", "USD"))
    #expect(
      try writer.script(for: announcement, shortenings: [step]) == writer.script(for: announcement, shortenings: []))
  }

  @Test("a summary in a currency that has no name in the locale is refused")
  func unspeakable() throws {
    let writer = try Books.writerWithoutCurrencyNames("ja-JP")
    let error = #expect(throws: AnnouncementError.self) { try writer.script(for: summary((2, "5", "AED"))) }
    #expect(error?.code == .currencyUnspeakable)
  }
}
