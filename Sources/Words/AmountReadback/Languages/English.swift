// SPDX-License-Identifier: Apache-2.0

/// English: American and British, including the lakhs and crores of India.
///
/// The word "and" may stand after "hundred", and before a last group below one hundred ("two thousand and one"), but
/// nowhere else. The following are deliberately refused: "a hundred", "hundred" without a number, "twelve hundred", and
/// "oh" for zero.
enum English: AmountLanguage {
  static let compiled = CompiledLanguage(English.self)
  static let subtag = "en"
  static let separatesWords = true

  /// A tag for the Western scales. They cannot be combined with the Indian scales: "one lakh two million" is refused.
  private static let western: UInt8 = 1
  private static let indian: UInt8 = 2

  static var words: [Word] {
    Word.numbers(
      from: 0,
      [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
      ])
      + zip(2..., ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]).map {
        Word($1, .number, $0 * 10)
      }
      + [
        Word("hundred", .scale, 100),
        Word("thousand", .scale, 1000),
        Word("million", .scale, 1_000_000, tag: western),
        Word("billion", .scale, 1_000_000_000, tag: western),
        Word("trillion", .scale, 1_000_000_000_000, tag: western),
        Word("quadrillion", .scale, 1_000_000_000_000_000, tag: western),
        Word("quintillion", .scale, 1_000_000_000_000_000_000, tag: western),
        Word("lakh", .scale, 100_000, tag: indian),
        Word("crore", .scale, 10_000_000, tag: indian),
        Word("point", .point),
        Word("and", .joiner),
      ]
  }

  static var units: [UnitName] {
    let cents: CurrencySet = ["USD", "EUR", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD", "ZAR", "KES", "LKR"]
    let centavos: CurrencySet = ["MXN", "BRL", "PHP", "ARS", "COP"]
    return [
      UnitName("CNY", "yuan", "yuans", "chinese yuan", "renminbi", "yuan renminbi", "chinese yuan renminbi"),
      UnitName("CNY", fraction: 1, "jiao"),
      UnitName("CNY", fraction: 2, "fen"),
      UnitName("USD", "dollar", "dollars", "us dollar", "us dollars", "american dollar", "american dollars"),
      UnitName("USD", "united states dollar", "united states dollars"),
      // If no currency is named, a cent is American. For a cent of another currency, that currency must be named.
      UnitName("USD", fraction: 2, whenNamed: cents, "cent", "cents"),
      UnitName("USD", fraction: 2, "us cent", "us cents", "dollar cent", "dollar cents"),
      UnitName("EUR", "euro", "euros"),
      UnitName("EUR", fraction: 2, "euro cent", "euro cents", "eurocent", "eurocents"),
      UnitName("GBP", "pound", "pounds", "pound sterling", "pounds sterling", "british pound", "british pounds"),
      UnitName("GBP", "uk pound", "uk pounds"),
      UnitName("GBP", fraction: 2, "penny", "pence"),
      UnitName("JPY", "yen", "japanese yen"),
      UnitName("KRW", "won", "korean won", "south korean won"),
      UnitName("INR", "rupee", "rupees", "indian rupee", "indian rupees"),
      UnitName("INR", fraction: 2, whenNamed: ["INR", "PKR", "NPR"], "paisa", "paise"),
      UnitName("HKD", "hong kong dollar", "hong kong dollars"),
      UnitName("HKD", fraction: 2, "hong kong cent", "hong kong cents"),
      UnitName("TWD", "new taiwan dollar", "new taiwan dollars", "taiwan dollar", "taiwan dollars"),
      UnitName("SGD", "singapore dollar", "singapore dollars"),
      UnitName("SGD", fraction: 2, "singapore cent", "singapore cents"),
      UnitName(.dinars, "dinar", "dinars"),
      UnitName("KWD", "kuwaiti dinar", "kuwaiti dinars", "kuwait dinar", "kuwait dinars"),
      UnitName("BHD", "bahraini dinar", "bahraini dinars", "bahrain dinar", "bahrain dinars"),
      UnitName(.dinars, fraction: 3, hundredthOf: "AED", "fils"),
      UnitName("VND", "dong", "vietnamese dong"),
      UnitName("THB", "baht", "thai baht"),
      UnitName("THB", fraction: 2, "satang", "satangs"),
      // Without the name of a currency, these units belong to none in particular.
      UnitName([], fraction: 2, whenNamed: centavos, "centavo", "centavos"),
      UnitName([], fraction: 2, whenNamed: "MYR", "sen"),
      UnitName([], fraction: 2, whenNamed: "SAR", "halala", "halalas"),
      UnitName([], fraction: 2, whenNamed: "NGN", "kobo"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("TOP", "tongan paanga"),
      UnitName("VED", "digital bolívar", "digital bolívars", "digital bolívares"),
    ]
  }

  static func checkNeighbours(_ tokens: [Token]) throws(Refusal) {
    var systems: UInt8 = 0
    for token in tokens where token.kind == .scale { systems |= token.tag }
    guard systems != western | indian else { throw .unreadable }
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    try tokens.scaledNumber { (tokens, isFirst) throws(Refusal) in
      let isJoined = !isFirst && tokens.passes(.joiner)
      guard let count = belowHundred(&tokens) else {
        guard !isJoined else { throw .unreadable }
        return nil
      }
      guard let scale = tokens.next, scale.kind == .scale else { return count }
      // The word "and" may stand only before the last group, which must be below one hundred.
      guard !isJoined else { throw .unreadable }
      guard scale.value == 100 else { return count }
      guard count < 10 else { throw .unreadable }
      tokens.skip()
      let hasJoiner = tokens.passes(.joiner)
      let rest = belowHundred(&tokens)
      guard rest != nil || !hasJoiner else { throw .unreadable }
      // This refuses "one hundred hundred" and "one hundred five hundred". For a hundred lakh the word is crore.
      if let scale = tokens.next, scale.kind == .scale, scale.value == 100 || scale.value == 100_000 {
        throw .unreadable
      }
      return count * 100 + (rest ?? 0)
    }
  }

  private static func belowHundred(_ tokens: inout TokenReader) -> Int64? {
    guard let first = tokens.take(.number)?.value else { return nil }
    guard first >= 20, let second = tokens.next, second.kind == .number, second.value < 10 else { return first }
    tokens.skip()
    return first + second.value
  }
}
