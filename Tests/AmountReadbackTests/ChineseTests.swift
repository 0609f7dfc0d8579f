// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Chinese amounts")
struct ChineseTests {
  let read: Reading

  init() throws { read = try Reading("zh-CN") }

  static let good: [Good] = [
    ("十二元五角", "CNY", 2, 1250),
    ("十二元五角五分", "CNY", 2, 1255),
    ("十二元零五分", "CNY", 2, 1205),
    ("十二元五十分", "CNY", 2, 1250),
    ("十元零五角", "CNY", 2, 1050),
    ("十元五角", "CNY", 2, 1050),
    ("十元零五分", "CNY", 2, 1005),
    ("五角五分", "CNY", 2, 55),
    ("五角", "CNY", 2, 50),
    ("五分", "CNY", 2, 5),
    ("零元", "CNY", 2, 0),
    ("零元五角", "CNY", 2, 50),
    ("零元零五分", "CNY", 2, 5),
    ("一亿零三百万元", "CNY", 2, 10_300_000_000),
    ("两千元", "CNY", 2, 200_000),
    ("二千元", "CNY", 2, 200_000),
    ("两元两角两分", "CNY", 2, 222),
    ("二元", "CNY", 2, 200),
    ("两万两千两百二十二元", "CNY", 2, 2_222_200),
    ("三亿零两万元", "CNY", 2, 30_002_000_000),
    ("一百一十元", "CNY", 2, 11_000),
    ("一百零一元", "CNY", 2, 10_100),
    ("十元", "CNY", 2, 1000),
    ("一十元", "CNY", 2, 1000),
    ("一千零一元", "CNY", 2, 100_100),
    ("一千零一十元", "CNY", 2, 101_000),
    ("一千一百元", "CNY", 2, 110_000),
    ("一万零一元", "CNY", 2, 1_000_100),
    ("一万零一百元", "CNY", 2, 1_010_000),
    ("一万一千元", "CNY", 2, 1_100_000),
    ("十万一千元", "CNY", 2, 10_100_000),
    ("十万零一千元", "CNY", 2, 10_100_000),
    ("一百万零一百元", "CNY", 2, 100_010_000),
    ("一千零一万零一元", "CNY", 2, 1_001_000_100),
    ("一亿零一千元", "CNY", 2, 10_000_100_000),
    ("九万九千九百九十九亿九千九百九十九万九千九百九十九元九角九分", "CNY", 2, 999_999_999_999_999),
    ("九兆九千九百九十九亿九千九百九十九万九千九百九十九元", "CNY", 2, 999_999_999_999_900),
    ("九万亿零一元", "CNY", 2, 900_000_000_000_100),
    ("一万零三亿元", "CNY", 2, 100_030_000_000_000),
    ("十二点五零元", "CNY", 2, 1250),
    ("人民币十二点五零元", "CNY", 2, 1250),
    ("人民币十二点零五", "CNY", 2, 1205),
    ("人民币十二元五角", "CNY", 2, 1250),
    ("人民币五角", "CNY", 2, 50),
    ("零点零五元", "CNY", 2, 5),
    ("两点五元", "CNY", 2, 250),
    ("十二美元五十美分", "USD", 2, 1250),
    ("十二美元五美分", "USD", 2, 1205),
    ("十二美元零五美分", "USD", 2, 1205),
    ("十二美元五十分", "USD", 2, 1250),
    ("港币一百元", "HKD", 2, 10_000),
    ("一百港元五角", "HKD", 2, 10_050),
    ("新臺幣一百元", "TWD", 2, 10_000),
    ("一萬兩千圓", "CNY", 2, 1_200_000),
    ("一千二百日元", "JPY", 0, 1200),
    ("十二科威特第纳尔三百四十五费尔", "KWD", 3, 12_345),
    ("十二点三四五第纳尔", "KWD", 3, 12_345),
    ("十二点五零瑞士法郎", "CHF", 2, 1250),
    ("瑞士法郎十二点五", "CHF", 2, 1250),
    ("一百 零一 元", "CNY", 2, 10_100),
  ]

  @Test("Chinese amounts in words are read to the 分", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  @Test(
    "an amount without a necessary 零 is refused as ambiguous, because a listener may hear another amount",
    arguments: ["一百一元", "一千一元", "三千五元", "一万一元", "一千一十元", "一亿一千元", "一万一百元", "一百一万元", "一亿五百元"])
  func missingZero(_ words: String) {
    #expect(read(words, "CNY") == .refused(.ambiguous))
  }

  static let bad: [Bad] = [
    ("", "CNY", .unreadable),
    ("元", "CNY", .unreadable),
    ("十二", "CNY", .wrongCurrency),
    ("十二点五零", "CNY", .wrongCurrency),
    ("十二美元", "CNY", .wrongCurrency),
    ("十二元", "USD", .wrongCurrency),
    ("十二元", "HKD", .wrongCurrency),
    ("五分", "USD", .ambiguous),
    ("十二瑞士法郎", "CNY", .wrongCurrency),
    ("人民币十二美元", "CNY", .wrongCurrency),
    ("人民币十二人民币", "CNY", .unreadable),
    ("人民币人民币十二元", "CNY", .unreadable),
    ("五千三万元", "CNY", .ambiguous),
    ("三万五万元", "CNY", .unreadable),
    ("三亿五千万亿元", "CNY", .unreadable),
    ("一亿二万三亿元", "CNY", .unreadable),
    ("一兆二万亿元", "CNY", .unreadable),
    ("五百三千元", "CNY", .unreadable),
    ("一百二百元", "CNY", .unreadable),
    ("一百零十元", "CNY", .unreadable),
    ("一百十元", "CNY", .unreadable),
    ("一万零十元", "CNY", .unreadable),
    ("二二元", "CNY", .unreadable),
    ("十十元", "CNY", .unreadable),
    ("百元", "CNY", .unreadable),
    ("万元", "CNY", .unreadable),
    ("一百零元", "CNY", .unreadable),
    ("一千零零一元", "CNY", .unreadable),
    ("一百零二十元", "CNY", .unreadable),
    ("零五元", "CNY", .unreadable),
    ("一万零一千元", "CNY", .unreadable),
    ("十两元", "CNY", .unreadable),
    ("两十元", "CNY", .unreadable),
    ("一百零两元", "CNY", .unreadable),
    ("一万零两元", "CNY", .unreadable),
    ("十二点两元", "CNY", .unreadable),
    ("十二元五分", "CNY", .unreadable),
    ("十二元零五角", "CNY", .unreadable),
    ("十二元零角五分", "CNY", .unreadable),
    ("十二元零五十分", "CNY", .unreadable),
    ("十二元五角零五分", "CNY", .unreadable),
    ("十二元零零五分", "CNY", .unreadable),
    ("十二元零", "CNY", .unreadable),
    ("十二元零分", "CNY", .unreadable),
    ("十二元五", "CNY", .unreadable),
    ("十二元五角五", "CNY", .unreadable),
    ("十二元十角", "CNY", .unreadable),
    ("十二元五角十分", "CNY", .unreadable),
    ("十二元一百分", "CNY", .unreadable),
    ("五分五角", "CNY", .unreadable),
    ("十二元五角五角", "CNY", .unreadable),
    ("十二元元", "CNY", .unreadable),
    ("十二元点五", "CNY", .unreadable),
    ("十二点元", "CNY", .unreadable),
    ("点五元", "CNY", .unreadable),
    ("十二点五零零元", "CNY", .unreadable),
    ("十二点十元", "CNY", .unreadable),
    ("十二点五角", "CNY", .unreadable),
    ("12元", "CNY", .unreadable),
    ("十二元整", "CNY", .unreadable),
    ("到账十二元", "CNY", .unreadable),
    ("一百〇一元", "CNY", .unreadable),
    ("十二块", "CNY", .unreadable),
    ("じゅうにげん", "CNY", .unreadable),
    ("twelve yuan", "CNY", .unreadable),
    ("九千九百九十九万万亿元", "CNY", .unreadable),
  ]

  @Test("text that is not a correct Chinese amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }

  @Test("an amount of more than 64 bits in minor units is out of range")
  func overflow() {
    #expect(read("九千九百九十九万亿元", "CNY", 2) == .amount(999_900_000_000_000_000))
    #expect(read("九千九百九十九万亿元", "CNY", 3) == .refused(.outOfRange))
  }
}
