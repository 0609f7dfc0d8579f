// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Korean amounts")
struct KoreanTests {
  let read: Reading

  init() throws { read = try Reading("ko-KR") }

  static let good: [Good] = [
    ("만이천오백원", "KRW", 0, 12_500),
    ("일만 이천오백 원", "KRW", 0, 12_500),
    ("만 이 천 오 백 원", "KRW", 0, 12_500),
    ("일천 원", "KRW", 0, 1000),
    ("천만 원", "KRW", 0, 10_000_000),
    ("오천삼만 원", "KRW", 0, 50_030_000),
    ("백일 원", "KRW", 0, 101),
    ("백십 원", "KRW", 0, 110),
    ("영 원", "KRW", 0, 0),
    ("일억 삼백만 원", "KRW", 0, 103_000_000),
    ("구조 구천구백구십구억 구천구백구십구만 구천구백구십구 원", "KRW", 0, 9_999_999_999_999),
    ("십이 달러 오십 센트", "USD", 2, 1250),
    ("십이달러오센트", "USD", 2, 1205),
    ("미국 달러 십이 점 오", "USD", 2, 1250),
    ("십이 점 오 영 달러", "USD", 2, 1250),
    ("십이 점 공 오 유로", "EUR", 2, 1205),
    ("십이 점 오 영 파운드", "GBP", 2, 1250),
    ("오 유로 센트", "EUR", 2, 5),
    ("십이 위안 오 자오 오 펀", "CNY", 2, 1255),
    ("십이 루피 오십 파이사", "INR", 2, 1250),
    ("십이 점 오 영 스위스 프랑", "CHF", 2, 1250),
    ("십이 점 오 레바논 파운드", "LBP", 2, 1250),
    ("십이 점 오 카타르 리얄", "QAR", 2, 1250),
    ("십이 디나르 삼백사십오 필스", "KWD", 3, 12_345),
    ("신 타이완 달러 십이", "TWD", 2, 1200),
  ]

  @Test("Korean amounts in words are read with any spacing", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("", "USD", .unreadable),
    ("달러", "USD", .unreadable),
    ("십이", "USD", .wrongCurrency),
    ("십이 원", "USD", .wrongCurrency),
    ("십이 스위스 프랑", "USD", .wrongCurrency),
    ("십이 달러", "SGD", .wrongCurrency),
    ("삼만 오만 달러", "USD", .unreadable),
    ("오만 삼억 달러", "USD", .unreadable),
    ("십이백 달러", "USD", .unreadable),
    ("백백 달러", "USD", .unreadable),
    ("일이 달러", "USD", .unreadable),
    ("억 달러", "USD", .unreadable),
    ("일억 만 달러", "USD", .unreadable),
    ("만만 달러", "USD", .unreadable),
    ("백영일 달러", "USD", .unreadable),
    ("영일 달러", "USD", .unreadable),
    ("십이 달러 백오십 센트", "USD", .unreadable),
    ("십이 달러 오십", "USD", .unreadable),
    ("오십 센트 십이 달러", "USD", .unreadable),
    ("십이 달러 달러", "USD", .unreadable),
    ("십이 점 달러", "USD", .unreadable),
    ("십이 점 오십 달러", "USD", .unreadable),
    ("십이 점 오 영 영 달러", "USD", .unreadable),
    ("열두 달러", "USD", .unreadable),
    ("십이 달러입니다", "USD", .unreadable),
    ("12 달러", "USD", .unreadable),
    ("十二 달러", "USD", .unreadable),
    ("천경 달러", "USD", .outOfRange),
  ]

  @Test("text that is not a correct Korean amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }
}
