// SPDX-License-Identifier: Apache-2.0

/// A small writer of amounts for the round-trip tests: it turns digits into a list of words.
enum SpokenAmounts {
  struct Language: Sendable, CustomStringConvertible {
    var locale: String
    /// The separator between the words.
    var separator: String
    var currency: String
    var words: @Sendable (_ major: Int64, _ minor: Int64) -> [String]

    var description: String { locale }
  }

  static let all: [Language] = [
    Language(locale: "en-US", separator: " ", currency: "USD") { major, minor in
      amount(major, minor, english, "dollars", "cents")
    },
    Language(locale: "en-IN", separator: " ", currency: "INR") { major, minor in
      amount(major, minor, indianEnglish, "rupees", "paise")
    },
    Language(locale: "es-MX", separator: " ", currency: "USD") { major, minor in
      // A centavo alone is Mexican.
      amount(major, minor, spanish, "dólares", major > 0 ? "centavos" : "centavos de dólar")
    },
    Language(locale: "es", separator: " ", currency: "GBP") { major, minor in
      // The penny is masculine.
      amount(major, 0, feminineSpanish, "libras", "") + amount(0, minor, spanish, "", "peniques")
    },
    Language(locale: "hi-IN", separator: " ", currency: "INR") { major, minor in
      amount(major, minor, hindi, "रुपये", "पैसे")
    },
    Language(locale: "ko-KR", separator: "", currency: "USD") { major, minor in
      // 10,000 at the beginning is 만 alone.
      let words = amount(major, minor, korean, "달러", "센트")
      return words.starts(with: ["일", "만"]) ? Array(words.dropFirst()) : words
    },
    Language(locale: "ja-JP", separator: "", currency: "USD") { major, minor in
      amount(major, minor, japanese, "ドル", "セント")
    },
    Language(locale: "zh-CN", separator: "", currency: "CNY") { major, minor in
      var words = major > 0 ? chinese(major) + ["元"] : []
      if minor >= 10 { words += [digits[Int(minor / 10)], "角"] }
      if minor % 10 > 0 {
        if minor < 10, major > 0 { words.append("零") }
        words += [digits[Int(minor % 10)], "分"]
      }
      return words
    },
  ]

  private static func amount(
    _ major: Int64, _ minor: Int64, _ number: (Int64) -> [String], _ unit: String, _ minorUnit: String
  ) -> [String] {
    (major > 0 ? number(major) + [unit] : []) + (minor > 0 ? number(minor) + [minorUnit] : [])
  }

  private static func scaled(
    _ number: Int64, _ scales: [(Int64, String)], _ rest: (Int64) -> [String]
  ) -> [String] {
    for (scale, name) in scales where number >= scale {
      return scaled(number / scale, scales, rest) + [name] + scaled(number % scale, scales, rest)
    }
    return number == 0 ? [] : rest(number)
  }

  private static let small = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  private static let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

  private static func belowHundred(_ number: Int64) -> [String] {
    if number < 20 { return [small[Int(number) - 1]] }
    let ten = tens[Int(number / 10) - 2]
    return number % 10 == 0 ? [ten] : [ten, small[Int(number % 10) - 1]]
  }

  private static func english(_ number: Int64) -> [String] {
    scaled(
      number,
      [
        (1_000_000_000_000, "trillion"), (1_000_000_000, "billion"), (1_000_000, "million"), (1000, "thousand"),
        (100, "hundred"),
      ], belowHundred)
  }

  private static func indianEnglish(_ number: Int64) -> [String] {
    // Crores are counted like all other things: one lakh crore.
    let (crores, rest) = number.quotientAndRemainder(dividingBy: 10_000_000)
    guard crores < 1_000 else { return indianEnglish(crores) + ["crore"] + (rest > 0 ? indianEnglish(rest) : []) }
    return scaled(
      number, [(10_000_000, "crore"), (100_000, "lakh"), (1000, "thousand"), (100, "hundred")], belowHundred)
  }

  /// Returns the count of a masculine noun, with the "de" that follows a million.
  private static func spanish(_ number: Int64) -> [String] {
    let (billions, afterBillions) = number.quotientAndRemainder(dividingBy: 1_000_000_000_000)
    let (millions, rest) = afterBillions.quotientAndRemainder(dividingBy: 1_000_000)
    var words: [String] = []
    if billions > 0 { words += belowMillion(billions) + [billions == 1 ? "billón" : "billones"] }
    if millions > 0 { words += belowMillion(millions) + [millions == 1 ? "millón" : "millones"] }
    return words + (rest > 0 ? belowMillion(rest) : ["de"])
  }

  private static func feminineSpanish(_ number: Int64) -> [String] {
    let masculine = spanish(number)
    let start = masculine.lastIndex { $0.contains("ill") }.map { $0 + 1 } ?? 0
    return masculine.enumerated().map { index, word in
      guard index >= start else { return word }
      if index == masculine.count - 1, word == "un" || word == "veintiún" { return word == "un" ? "una" : "veintiuna" }
      return word.hasSuffix("ientos") ? word.dropLast(2) + "as" : word
    }
  }

  private static func belowMillion(_ number: Int64) -> [String] {
    let (thousands, rest) = number.quotientAndRemainder(dividingBy: 1_000)
    return (thousands > 1 ? belowThousand(thousands) : []) + (thousands > 0 ? ["mil"] : [])
      + (rest > 0 ? belowThousand(rest) : [])
  }

  private static let spanishHundreds = [
    "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos", "ochocientos",
    "novecientos",
  ]

  private static let spanishTens = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]

  private static let spanishSmall = """
    un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho
    diecinueve veinte veintiún veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho
    veintinueve
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  private static func belowThousand(_ number: Int64) -> [String] {
    if number == 100 { return ["cien"] }
    let tail = Int(number % 100)
    let hundreds = number >= 100 ? [spanishHundreds[Int(number / 100) - 1]] : []
    if tail == 0 { return hundreds }
    if tail < 30 { return hundreds + [spanishSmall[tail - 1]] }
    return hundreds + [spanishTens[tail / 10 - 3]] + (tail % 10 > 0 ? ["y", spanishSmall[tail % 10 - 1]] : [])
  }

  private static let hindiWords = """
    एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस इक्कीस बाईस तेईस चौबीस
    पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस इकतालीस
    बयालीस तैंतालीस चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन
    उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर
    सतहत्तर अठहत्तर उन्यासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे
    चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  private static func hindi(_ number: Int64) -> [String] {
    scaled(
      number,
      [
        (10_000_000_000_000, "नील"), (100_000_000_000, "खरब"), (1_000_000_000, "अरब"), (10_000_000, "करोड़"),
        (100_000, "लाख"), (1000, "हज़ार"), (100, "सौ"),
      ]
    ) { [hindiWords[Int($0) - 1]] }
  }

  /// Returns the thousands, hundreds, tens and ones of a group below 10,000.
  private static func places(_ number: Int64) -> [Int] {
    [Int(number / 1000), Int(number / 100 % 10), Int(number / 10 % 10), Int(number % 10)]
  }

  private static func korean(_ number: Int64) -> [String] {
    let digits = ["일", "이", "삼", "사", "오", "육", "칠", "팔", "구"]
    return scaled(number, [(1_000_000_000_000, "조"), (100_000_000, "억"), (10_000, "만")]) { group in
      zip(places(group), ["천", "백", "십", ""]).compactMap { digit, place in
        digit == 0 ? nil : (digit == 1 && place != "" ? "" : digits[digit - 1]) + place
      }
    }
  }

  private static func japanese(_ number: Int64) -> [String] {
    let kana = ["いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう"]
    let changed = [
      "さんせん": "さんぜん", "はちせん": "はっせん", "さんひゃく": "さんびゃく", "ろくひゃく": "ろっぴゃく", "はちひゃく": "はっぴゃく",
    ]
    return scaled(number, [(1_000_000_000_000, "ちょう"), (100_000_000, "おく"), (10_000, "まん")]) { group in
      zip(places(group), ["せん", "ひゃく", "じゅう", ""]).compactMap { digit, place in
        guard digit > 0 else { return nil }
        let word = (digit == 1 && place != "" ? "" : kana[digit - 1]) + place
        return changed[word] ?? word
      }
    }
  }

  private static let digits = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"]

  /// Returns the words for the decimal digits, the lowest first, with a 零 for every gap except one directly before a
  /// thousands digit.
  private static func chinese(_ number: Int64) -> [String] {
    var reversed: [String] = []
    var rest = number
    var place = 0
    var lastDigitPlace: Int?
    var scaleWritten = -1
    while rest > 0 {
      let digit = Int(rest % 10)
      if digit > 0 {
        if let last = lastDigitPlace, place - last > 1, last % 4 != 3 || place / 4 - last / 4 > 1 {
          reversed.append("零")
        }
        let group = place / 4
        if group != scaleWritten {
          // 亿 closes both of its groups.
          if group == 3, scaleWritten < 2 { reversed.append("亿") }
          reversed += [[], ["万"], ["亿"], ["万"]][group]
          scaleWritten = group
        }
        reversed += [[], ["十"], ["百"], ["千"]][place % 4] + [digits[digit]]
        lastDigitPlace = place
      }
      rest /= 10
      place += 1
    }
    let words = Array(reversed.reversed())
    return words.starts(with: ["一", "十"]) ? Array(words.dropFirst()) : words
  }
}
