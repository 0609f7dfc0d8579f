// SPDX-License-Identifier: Apache-2.0

/// Korean, with any spacing. Money is counted in Sino-Korean numbers. Other things may also be counted in native
/// numbers.
///
/// The words 십, 백 and 천 are 10, 100 and 1000, with or without 일 before them. The word 만 may begin a number without
/// another word (만 오천 원), but 억, 조 and 경 require a number before them (일억). Native numbers are below one hundred. They
/// may follow Sino-Korean hundreds and higher scales (백스물한 건), but not Sino-Korean tens (이십한), and no scale may
/// multiply them.
enum Korean: AmountLanguage {
  static let compiled = CompiledLanguage(Korean.self)
  static let subtag = "ko"
  static let separatesWords = false

  private static let digits = ["일", "이", "삼", "사", "오", "육", "칠", "팔", "구"]

  static var words: [Word] {
    var words = Word.numbers(from: 0, ["영 공"] + digits)
    for (place, name) in [(10, "십"), (100, "백"), (1000, "천")] as [(Int64, String)] {
      words.append(Word(name, .number, place))
      words += zip(1..., digits).map { Word($1 + name, .number, $0 * place) }
    }
    return words + [
      Word("만", .scale, 10_000),
      Word("억", .scale, 100_000_000),
      Word("조", .scale, 1_000_000_000_000),
      Word("경", .scale, 10_000_000_000_000_000),
      Word("점", .point),
      Word("와", .joiner),
      Word("과", .joiner),
    ]
  }

  /// A tag for a native number.
  private static let native: UInt8 = 1
  /// A tag for the native number 스무, which must be the last word.
  private static let closedNative: UInt8 = 2

  static var countWords: [Word] {
    let ones = ["하나 한", "둘 두", "셋 세", "넷 네", "다섯", "여섯", "일곱", "여덟", "아홉"]
    let tens = ["열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"]
    return Word.numbers(from: 1, ones).map { Word($0.text, .number, $0.token.value, tag: native) }
      + zip(1..., tens).map { Word($1, .number, $0 * 10, tag: native) }
      + [Word("스무", .number, 20, tag: closedNative)]
  }

  static var units: [UnitName] {
    let cents: CurrencySet = ["USD", "EUR", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD"]
    return [
      UnitName("KRW", "원", "한국원", "대한민국원"),
      UnitName("CNY", "위안", "위안화", "중국위안", "중국위안화"),
      UnitName("CNY", fraction: 1, "자오", "쟈오", "각"),
      UnitName("CNY", fraction: 2, "펀", "분"),
      UnitName("USD", "달러", "미국달러", "미달러", "미화달러"),
      UnitName("USD", fraction: 2, whenNamed: cents, "센트"),
      UnitName("EUR", "유로", "유로화"),
      UnitName("EUR", fraction: 2, "유로센트"),
      UnitName("GBP", "파운드", "영국파운드"),
      UnitName("GBP", fraction: 2, "펜스", "페니"),
      UnitName("JPY", "엔", "엔화", "일본엔", "일본엔화"),
      UnitName("INR", "루피", "인도루피"),
      UnitName("INR", fraction: 2, "파이사", "파이세"),
      UnitName("HKD", "홍콩달러"),
      UnitName("HKD", fraction: 2, "홍콩센트"),
      UnitName("TWD", "신타이완달러", "신대만달러", "뉴타이완달러", "대만달러", "타이완달러"),
      UnitName("SGD", "싱가포르달러"),
      UnitName("SGD", fraction: 2, "싱가포르센트"),
      UnitName(.dinars, "디나르"),
      UnitName("KWD", "쿠웨이트디나르"),
      UnitName("BHD", "바레인디나르"),
      UnitName(.dinars, fraction: 3, "필스"),
      UnitName("VND", "동", "베트남동"),
      UnitName("THB", "바트", "태국바트", "밧"),
      UnitName("THB", fraction: 2, "사땅"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("ILS", "이스라엘셰켈"),
      UnitName("VED", "디지털볼리바르"),
      UnitName("XAF", "중앙아프리카세파프랑"),
      UnitName("XCG", "카리브길더"),
      UnitName("XOF", "서아프리카세파프랑"),
      UnitName("XPF", "태평양프랑"),
      UnitName("ZWG", "짐바브웨골드"),
    ]
  }

  static func count(_ tokens: [Token]) throws(Refusal) -> Int64 {
    for (token, next) in zip(tokens, tokens.dropFirst()) {
      if token.tag != 0 {
        guard token.tag == native, next.tag == native else { throw .unreadable }
      } else if next.tag != 0 {
        guard token.kind == .scale || token.value >= 100 else { throw .unreadable }
      }
    }
    return try number(tokens)
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    try tokens.scaledNumber(bareScale: 10_000) { (tokens, _) throws(Refusal) in try tokens.placeGroup() }
  }
}
