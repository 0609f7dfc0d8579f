// SPDX-License-Identifier: Apache-2.0

/// Spanish on the long scale: mil millones are 10^9, and un billón is 10^12.
///
/// A number takes the form that the noun after it requires (un dólar, una libra, veintiún mil, doscientas libras). A
/// million is itself a noun: its count is masculine, and "de" follows it at the end of a count. Letters with accents
/// differ from letters without. The following are deliberately refused: "un mil", "treinta uno", "veinte y uno",
/// "treintaiuno", "uno dólares", "millardo".
enum Spanish: AmountLanguage {
  static let compiled = CompiledLanguage(Spanish.self)
  static let subtag = "es"
  static let separatesWords = true

  /// Tags of number words, by the noun that may follow. Uno and veintiuno have no tag, because no noun follows them.
  private static let apocopated: UInt8 = 1
  private static let masculineHundred: UInt8 = 2
  private static let feminineOne: UInt8 = 3
  private static let feminineHundred: UInt8 = 4
  /// A tag for ciento, which requires a number below one hundred after it. After cien no such number may follow.
  private static let openHundred: UInt8 = 5

  /// Tags for the scales above mil: one for the singular (millón), and one for the plural (millones).
  private static let singular: UInt8 = 1
  private static let plural: UInt8 = 2

  /// Tags for joiners: "y" as in treinta y uno, and "de" as in un millón de dólares. "Con" has no tag.
  private static let and: UInt8 = 1
  private static let of: UInt8 = 2

  /// A tag for feminine units.
  private static let feminine: UInt8 = 1

  static var words: [Word] {
    Word.numbers(
      from: 0,
      [
        "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce",
        "trece", "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno",
        "veintidós", "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho",
        "veintinueve",
      ])
      + zip(3..., ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]).map {
        Word($1, .number, $0 * 10)
      }
      + zip(2..., ["dosc", "tresc", "cuatroc", "quin", "seisc", "setec", "ochoc", "novec"]).flatMap {
        [
          Word($1 + "ientos", .number, $0 * 100, tag: masculineHundred),
          Word($1 + "ientas", .number, $0 * 100, tag: feminineHundred),
        ]
      }
      + [
        Word("un", .number, 1, tag: apocopated),
        Word("veintiún", .number, 21, tag: apocopated),
        Word("una", .number, 1, tag: feminineOne),
        Word("veintiuna", .number, 21, tag: feminineOne),
        Word("cien", .number, 100),
        Word("ciento", .number, 100, tag: openHundred),
        Word("mil", .scale, 1000),
        Word("millón", .scale, 1_000_000, tag: singular),
        Word("millones", .scale, 1_000_000, tag: plural),
        Word("billón", .scale, 1_000_000_000_000, tag: singular),
        Word("billones", .scale, 1_000_000_000_000, tag: plural),
        Word("trillón", .scale, 1_000_000_000_000_000_000, tag: singular),
        Word("trillones", .scale, 1_000_000_000_000_000_000, tag: plural),
        Word("punto", .point),
        Word("coma", .point),
        Word("con", .joiner),
        Word("y", .joiner, tag: and),
        Word("de", .joiner, tag: of),
      ]
  }

  static var units: [UnitName] {
    let centavos: CurrencySet = [
      "USD", "MXN", "EUR", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD", "ARS", "BOB", "BRL", "COP", "CUP", "DOP", "GTQ",
      "HNL", "NIO", "PHP",
    ]
    return [
      UnitName("MXN", "peso", "pesos", "peso mexicano", "pesos mexicanos"),
      UnitName("USD", "dólar", "dólares", "dólar estadounidense", "dólares estadounidenses"),
      UnitName("USD", "dólar americano", "dólares americanos"),
      // If no currency is named, a centavo is Mexican. For a centavo of another currency, that currency must be named.
      UnitName("MXN", fraction: 2, whenNamed: centavos, "centavo", "centavos"),
      UnitName("USD", fraction: 2, "centavo de dólar", "centavos de dólar"),
      UnitName("EUR", "euro", "euros"),
      UnitName("EUR", fraction: 2, whenNamed: ["EUR", "CHF", "CRC", "PEN", "VED", "VES"], "céntimo", "céntimos"),
      UnitName([], fraction: 2, whenNamed: ["PAB", "UYU"], "centésimo", "centésimos"),
      UnitName("GBP", tag: feminine, "libra", "libras", "libra esterlina", "libras esterlinas"),
      UnitName("GBP", fraction: 2, "penique", "peniques"),
      UnitName("JPY", "yen", "yenes", "yen japonés", "yenes japoneses"),
      UnitName("KRW", "won", "wones", "wons", "won surcoreano", "wones surcoreanos", "wons surcoreanos"),
      UnitName("CNY", "yuan", "yuanes", "yuan chino", "yuanes chinos", "yuan renminbi", "yuanes renminbi"),
      UnitName("INR", tag: feminine, "rupia", "rupias", "rupia india", "rupias indias"),
      UnitName("HKD", "dólar de Hong Kong", "dólares de Hong Kong", "dólar hongkonés", "dólares hongkoneses"),
      UnitName("TWD", "nuevo dólar taiwanés", "nuevos dólares taiwaneses", "dólar taiwanés", "dólares taiwaneses"),
      UnitName("TWD", "dólar de Taiwán", "dólares de Taiwán"),
      UnitName("SGD", "dólar de Singapur", "dólares de Singapur", "dólar singapurense", "dólares singapurenses"),
      UnitName(.dinars, "dinar", "dinares"),
      UnitName("KWD", "dinar kuwaití", "dinares kuwaitíes"),
      UnitName("BHD", "dinar bareiní", "dinares bareiníes"),
      UnitName(.dinars, fraction: 3, hundredthOf: "AED", "fils"),
      UnitName("VND", "dong", "dongs", "dong vietnamita", "dongs vietnamitas"),
      UnitName("THB", "baht", "bahts", "bat", "bats", "baht tailandés", "bahts tailandeses"),
      UnitName("THB", "bat tailandés", "bats tailandeses"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("ZWG", "oro zimbabuense", "oros zimbabuenses")
    ]
  }

  /// The noun with which a count must agree.
  private enum Noun {
    case masculine, feminine
    /// A currency's name from CLDR, which does not tell the gender.
    case unknown
    /// There is no noun, because the currency was named first or a point follows.
    case none
  }

  /// Checks that every number agrees with its noun, and that a million at the end of a count has its "de".
  ///
  /// The check runs from the last word to the first, so that each noun is known before its count is checked. The words
  /// after a point are digits, which need not agree with a noun.
  static func checkNeighbours(_ tokens: [Token]) throws(Refusal) {
    let counts = tokens.prefix { $0.kind != .point }
    var noun: Noun = counts.count < tokens.count || tokens.contains { $0.kind == .unit } ? .none : .unknown
    var next: Token?
    for token in counts.reversed() {
      guard next.map(isOf) != true || isMillion(token) else { throw .unreadable }
      switch token.kind {
      case .unit: noun = token.tag == feminine ? .feminine : token.tag == Unit.untold ? .unknown : .masculine
      case .scale where isMillion(token):
        guard next?.kind != .unit else { throw .unreadable }
        noun = .masculine
      case .joiner where isOf(token):
        guard next?.kind == .unit || (next == nil && noun == .unknown) else { throw .unreadable }
      case .number:
        try checkForm(of: token, next: next, &noun)
      case .zero, .scale, .joiner, .point: break
      }
      next = token
    }
  }

  private static func isOf(_ token: Token) -> Bool { token.kind == .joiner && token.tag == of }

  /// Returns whether a token is a scale of a million or more. The scale mil has no tag.
  private static func isMillion(_ token: Token) -> Bool { token.kind == .scale && token.tag != 0 }

  private static func checkForm(of token: Token, next: Token?, _ noun: inout Noun) throws(Refusal) {
    let isBeforeNoun = next.map { $0.kind == .unit || $0.kind == .scale } ?? (noun == .unknown)
    let isRight =
      switch token.tag {
      // Before mil the short form is used even if the noun is feminine: veintiún mil libras.
      case apocopated: isBeforeNoun && (noun != .feminine || next?.kind == .scale)
      case feminineOne: isBeforeNoun && (noun == .feminine || noun == .unknown)
      case feminineHundred: noun == .feminine || noun == .unknown
      case masculineHundred: noun != .feminine
      default: (token.value != 1 && token.value != 21) || (next?.kind != .unit && next?.kind != .scale)
      }
    guard isRight else { throw .unreadable }
    // If the gender of a name is unknown, the first form that shows a gender determines it.
    guard noun == .unknown else { return }
    if token.tag == feminineOne || token.tag == feminineHundred { noun = .feminine }
    if token.tag == masculineHundred { noun = .masculine }
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    if tokens.passes(.zero) { return 0 }
    var total: Int64 = 0
    var lastScale = Int64.max
    while let count = try belowMillion(&tokens) {
      guard let scale = tokens.take(.scale) else { return try total.adding(count) }
      guard isMillion(scale), scale.value < lastScale, (scale.tag == singular) == (count == 1) else {
        throw .unreadable
      }
      lastScale = scale.value
      total = try total.adding(count.multiplied(by: scale.value))
    }
    guard total > 0 else { throw .unreadable }
    // The neighbours were checked earlier.
    if tokens.next.map(isOf) == true { tokens.skip() }
    return total
  }

  /// Reads the count of a million: up to 999,999, made of thousands and the rest. One thousand is “mil” without a
  /// number before it.
  private static func belowMillion(_ tokens: inout TokenReader) throws(Refusal) -> Int64? {
    let count = try belowThousand(&tokens)
    guard let scale = tokens.next, scale.kind == .scale, scale.value == 1000 else { return count }
    guard count != 1 else { throw .unreadable }
    tokens.skip()
    return (count ?? 1) * 1000 + (try belowThousand(&tokens) ?? 0)
  }

  private static func belowThousand(_ tokens: inout TokenReader) throws(Refusal) -> Int64? {
    guard let token = tokens.next, token.kind == .number, token.value >= 100 else {
      return try belowHundred(&tokens)
    }
    tokens.skip()
    let isClosed = token.value == 100 && token.tag != openHundred
    let rest = isClosed ? nil : try belowHundred(&tokens)
    guard rest != nil || token.tag != openHundred else { throw .unreadable }
    return token.value + (rest ?? 0)
  }

  private static func belowHundred(_ tokens: inout TokenReader) throws(Refusal) -> Int64? {
    guard let first = tokens.next, first.kind == .number, first.value < 100 else { return nil }
    tokens.skip()
    guard first.value >= 30, let joiner = tokens.next, joiner.kind == .joiner, joiner.tag == and else {
      return first.value
    }
    tokens.skip()
    guard let second = tokens.take(.number), second.value < 10 else { throw .unreadable }
    return first.value + second.value
  }
}
