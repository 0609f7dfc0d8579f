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
    [
      UnitName(.cny, "yuan", "yuans", "chinese yuan", "renminbi", "yuan renminbi", "chinese yuan renminbi"),
      UnitName(.cny, fraction: 1, "jiao"),
      UnitName(.cny, fraction: 2, "fen"),
      UnitName(.usd, "dollar", "dollars", "us dollar", "us dollars", "american dollar", "american dollars"),
      UnitName(.usd, "united states dollar", "united states dollars"),
      // If no currency is named, a cent is American. For a cent of another currency, that currency must be named.
      UnitName(.usd, fraction: 2, whenNamed: [.usd, .eur, .hkd, .twd, .sgd], "cent", "cents"),
      UnitName(.usd, fraction: 2, "us cent", "us cents", "dollar cent", "dollar cents"),
      UnitName(.eur, "euro", "euros"),
      UnitName(.eur, fraction: 2, "euro cent", "euro cents", "eurocent", "eurocents"),
      UnitName(.gbp, "pound", "pounds", "pound sterling", "pounds sterling", "british pound", "british pounds"),
      UnitName(.gbp, "uk pound", "uk pounds"),
      UnitName(.gbp, fraction: 2, "penny", "pence"),
      UnitName(.jpy, "yen", "japanese yen"),
      UnitName(.krw, "won", "korean won", "south korean won"),
      UnitName(.inr, "rupee", "rupees", "indian rupee", "indian rupees"),
      UnitName(.inr, fraction: 2, "paisa", "paise"),
      UnitName(.hkd, "hong kong dollar", "hong kong dollars"),
      UnitName(.hkd, fraction: 2, "hong kong cent", "hong kong cents"),
      UnitName(.twd, "new taiwan dollar", "new taiwan dollars", "taiwan dollar", "taiwan dollars"),
      UnitName(.sgd, "singapore dollar", "singapore dollars"),
      UnitName(.sgd, fraction: 2, "singapore cent", "singapore cents"),
      UnitName(.dinars, "dinar", "dinars"),
      UnitName(.kwd, "kuwaiti dinar", "kuwaiti dinars", "kuwait dinar", "kuwait dinars"),
      UnitName(.bhd, "bahraini dinar", "bahraini dinars", "bahrain dinar", "bahrain dinars"),
      UnitName(.dinars, fraction: 3, "fils"),
      UnitName(.vnd, "dong", "vietnamese dong"),
      UnitName(.thb, "baht", "thai baht"),
      UnitName(.thb, fraction: 2, "satang", "satangs"),
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
