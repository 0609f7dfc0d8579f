// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Japanese amounts")
struct JapaneseTests {
  let read: Reading

  init() throws { read = try Reading("ja-JP") }

  static let good: [Good] = [
    ("じゅうにドルごじゅっセント", "USD", 2, 1250),
    ("じゅうにドルごじっセント", "USD", 2, 1250),
    ("じゅうにドルとごじゅうセント", "USD", 2, 1250),
    ("じゅうに べいドル ご セント", "USD", 2, 1205),
    ("いっセント", "USD", 2, 1),
    ("にセント", "USD", 2, 2),
    ("はっセント", "USD", 2, 8),
    ("せんにひゃくえん", "JPY", 0, 1200),
    ("せん にひゃく えん", "JPY", 0, 1200),
    ("いちまんえん", "JPY", 0, 10_000),
    ("いっせんまんえん", "JPY", 0, 10_000_000),
    ("さんびゃくえん", "JPY", 0, 300),
    ("ろっぴゃくえん", "JPY", 0, 600),
    ("はっぴゃくはちじゅうはちえん", "JPY", 0, 888),
    ("さんぜんえん", "JPY", 0, 3000),
    ("はっせんえん", "JPY", 0, 8000),
    ("いっちょうえん", "JPY", 0, 1_000_000_000_000),
    ("じゅっちょうえん", "JPY", 0, 10_000_000_000_000),
    ("じゅうよえん", "JPY", 0, 14),
    ("よんえん", "JPY", 0, 4),
    ("しちじゅうくえん", "JPY", 0, 79),
    ("ななじゅうきゅうえん", "JPY", 0, 79),
    ("ひゃくいちえん", "JPY", 0, 101),
    ("ひゃくじゅうえん", "JPY", 0, 110),
    ("ごせんさんまんえん", "JPY", 0, 50_030_000),
    ("れいえん", "JPY", 0, 0),
    ("千二百三十四万五千六百七十八円", "JPY", 0, 12_345_678),
    ("百一円", "JPY", 0, 101),
    ("じゅうに てん ご ゼロ ドル", "USD", 2, 1250),
    ("じゅうに てん れい ご ドル", "USD", 2, 1205),
    ("じゅってんごドル", "USD", 2, 1050),
    ("いってんし ドル", "USD", 2, 140),
    ("じゅうにてんごゼロスイスフラン", "CHF", 2, 1250),
    ("スイス フラン じゅうに てん ご", "CHF", 2, 1250),
    ("じゅうにげんごかくごふん", "CNY", 2, 1255),
    ("じゅうに元六角", "CNY", 2, 1260),
    ("じゅうげん ろっかく", "CNY", 2, 1060),
    ("じゅうにルピーごじゅっパイサ", "INR", 2, 1250),
    ("じゅうにホンコンドルごセント", "HKD", 2, 1205),
    ("じゅうにディナールさんびゃくよんじゅうごフィルス", "KWD", 3, 12_345),
    ("じゅうにほんえん", "JPY", 0, 10),
    (
      "きゅうちょう きゅうせんきゅうひゃくきゅうじゅうきゅうおく きゅうせんきゅうひゃくきゅうじゅうきゅうまん "
        + "きゅうせんきゅうひゃくきゅうじゅうきゅう えん",
      "JPY", 0, 9_999_999_999_999
    ),
  ]

  @Test("Japanese amounts in kana and kanji are read", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("", "USD", .unreadable),
    ("ドル", "USD", .unreadable),
    ("じゅうに", "USD", .wrongCurrency),
    ("じゅうにユーロ", "USD", .wrongCurrency),
    ("じゅうにドル", "HKD", .wrongCurrency),
    ("じゅうにスイスフラン", "USD", .wrongCurrency),
    ("さんひゃくドル", "USD", .unreadable),
    ("さんせんドル", "USD", .unreadable),
    ("ろくひゃくドル", "USD", .unreadable),
    ("まんドル", "USD", .unreadable),
    ("いちじゅうドル", "USD", .unreadable),
    ("じゅうじゅうドル", "USD", .unreadable),
    ("にさんドル", "USD", .unreadable),
    ("じゅうひゃくドル", "USD", .unreadable),
    ("ひゃくにひゃくドル", "USD", .unreadable),
    ("ごまんさんおくドル", "USD", .unreadable),
    ("さんまんごまんドル", "USD", .unreadable),
    ("いちまんれいいちドル", "USD", .unreadable),
    ("いっドル", "USD", .unreadable),
    ("じゅっドル", "USD", .unreadable),
    ("いっまんドル", "USD", .unreadable),
    ("よドル", "USD", .unreadable),
    ("じゅうにドルひゃくごじゅっセント", "USD", .unreadable),
    ("じゅうにドルごじゅっ", "USD", .unreadable),
    ("じゅうにドルごじゅう", "USD", .unreadable),
    ("じゅうにドルと", "USD", .unreadable),
    ("じゅうにドルごじゅっペンス", "USD", .wrongCurrency),
    ("ごじゅっセントじゅうにドル", "USD", .unreadable),
    ("ドルじゅうにドル", "USD", .unreadable),
    ("じゅうにてんドル", "USD", .unreadable),
    ("じゅうにてんごじゅうドル", "USD", .unreadable),
    ("じゅうにてんごれいれいドル", "USD", .unreadable),
    ("てんごドル", "USD", .unreadable),
    ("じゅうにドルです", "USD", .unreadable),
    ("12ドル", "USD", .unreadable),
    ("twelve dollars", "USD", .unreadable),
    ("십이 달러", "USD", .unreadable),
    ("せんけいドル", "USD", .outOfRange),
  ]

  @Test("text that is not a correct Japanese amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }
}
