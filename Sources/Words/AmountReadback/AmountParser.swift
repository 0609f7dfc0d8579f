// SPDX-License-Identifier: Apache-2.0

/// Finds every amount that a text can mean, by the forms that all languages share:
///
///     [major] whole point digit+ [major]        the currency before or behind, not both
///     [major] whole                             after a comma, or if the currency was named
///     count major ([and] count minor)*
///     count minor ([and] count minor)*
///     major count [major] (count minor)*        where the currency may stand before units: 人民币十二元
///
/// In a language whose units stand before their counts, `count major` is `major count`. The units go from large to
/// small. The count of a minor unit is worth less than one of the unit before it. Some languages have a word for a
/// skipped unit, such as 零 in 十二元零五分; ``says(_:_:_:_:)`` decides whether the word must be there.
struct AmountParser {
  private let language: ReadingLanguage
  private let grammar: NumberGrammar
  private let countRules: [Int]
  /// For each unit, whether it means the requested currency by itself (`plain`), and whether it means that currency
  /// after the currency was named (`named`).
  private var units: (plain: [Bool], named: [Bool])
  /// Whether the parser also accepts a unit of another currency, if the same word is not a unit of the requested
  /// currency.
  private let acceptsOthers: Bool
  private let minorDigits: Int
  private let majorWorth: Int64
  /// The names of the currency in CLDR, if the language's file has none.
  private let otherNames: [[UInt32]]
  private var lattice: WordLattice
  private var amounts: [Int64] = []
  /// The amounts whose words people understand in two ways.
  private var doubtful: [Int64] = []

  /// A unit that was found, and where the next word begins. The unit is -1 for a name from CLDR.
  private struct Found {
    var unit: Int
    var meaning: WordTree.Meaning
    var end: Int
  }

  private init(
    _ text: [UInt32], _ language: ReadingLanguage, currency: String, acceptsOthers: Bool = false, minorDigits: Int,
    otherNames: [[UInt32]]
  ) throws(Refusal) {
    guard let worth = Int64.power(ofTen: minorDigits) else { throw .outOfRange }
    self.language = language
    grammar = language.grammar
    self.acceptsOthers = acceptsOthers
    countRules = (acceptsOthers ? nil : language.countRulesOfCurrency[currency]) ?? language.countRules
    units = language.unitsOfCurrency[currency] ?? language.noUnits
    self.minorDigits = minorDigits
    self.otherNames = otherNames
    majorWorth = worth
    lattice = WordLattice(text, language.words)
  }

  /// Returns the amounts that a folded text can mean, in minor units.
  ///
  /// - Parameters:
  ///   - currency: the currency that the words must name.
  ///   - acceptsOthers: whether the words may name another currency. If so, a text with another currency can be
  ///     distinguished from a text that cannot be read.
  ///   - otherNames: the names of the currency in CLDR, folded.
  ///   - isNamed: whether the currency's name was found and removed before the text.
  /// - Throws: `.outOfRange`; `.ambiguous` if the beginning of the currency's name could also continue the number
  ///   before it, or if people understand the words in two ways.
  static func amounts(
    in text: [UInt32], _ language: ReadingLanguage, currency: String, acceptsOthers: Bool = false, minorDigits: Int,
    otherNames: [[UInt32]], isNamed: Bool
  ) throws(Refusal) -> [Int64] {
    var parser = try AmountParser(
      text, language, currency: currency, acceptsOthers: acceptsOthers, minorDigits: minorDigits,
      otherNames: otherNames)
    try parser.read(isNamed: isNamed)
    if parser.amounts.isEmpty, !parser.doubtful.isEmpty { throw .ambiguous }
    return parser.amounts
  }

  /// Returns whether a text contains a word. The standard library's search takes ten times as long.
  private static func contains(_ text: [UInt32], _ word: [UInt32]) -> Bool {
    guard let first = word.first, word.count <= text.count else { return false }
    for start in 0...(text.count - word.count) where text[start] == first {
      var length = 1
      while length < word.count, text[start + length] == word[length] { length += 1 }
      if length == word.count { return true }
    }
    return false
  }

  /// Returns whether a text would be an amount in minor units of a currency if the currency had been named before:
  /// “fifty cents”.
  static func isHalfNamed(
    _ text: [UInt32], _ language: ReadingLanguage, currency: String, minorDigits: Int
  ) throws(Refusal) -> Bool {
    var parser = try AmountParser(text, language, currency: currency, minorDigits: minorDigits, otherNames: [])
    for unit in language.units.indices {
      parser.units.plain[unit] = parser.units.named[unit] && language.units[unit].fraction > 0
    }
    try parser.read(isNamed: false)
    return !parser.amounts.isEmpty
  }

  private var length: Int { lattice.text.count }

  private mutating func add(_ amount: Int64, isDoubtful: Bool) {
    if isDoubtful { doubtful.append(amount) } else if !amounts.contains(amount) { amounts.append(amount) }
  }

  private mutating func read(isNamed: Bool) throws(Refusal) {
    if isNamed {
      try plain(at: 0, isNamed: true)
      return
    }
    for unit in try found(at: 0, isNamed: false) {
      if fraction(unit) == 0 { try plain(at: unit.end, isNamed: true) }
      if language.namesUnitFirst { try counted(unit, Sum()) }
      if language.namesCurrencyFirst, fraction(unit) == 0 { try part(at: unit.end, Sum(isNamed: true)) }
    }
    if language.points.contains(where: { Self.contains(lattice.text, $0) }) { try plain(at: 0, isNamed: false) }
    if !language.namesUnitFirst { try part(at: 0, Sum()) }
  }

  /// The part of an amount with units that was read so far.
  private struct Sum {
    var total: Int64 = 0
    /// The ``ReadingLanguage/Unit/fraction`` of the last unit; `nil` if the unit has none.
    var last: Int?
    /// The number of major units so far; 0 before the first.
    var major: Int64 = 0
    /// Whether one of the words so far names the currency.
    var isNamed = false
    /// Whether a word has said that a place is skipped.
    var isSkipping = false
    var isDoubtful = false
  }

  /// Reads a number that no unit counts: `whole`, or `whole point digit+ [major]`.
  private mutating func plain(at start: Int, isNamed: Bool) throws(Refusal) {
    if isNamed {
      for index in try grammar.readings(language.whole, at: start, in: &lattice) {
        let number = lattice.reading(index)
        guard number.end == length else { continue }
        add(try number.value.multiplied(by: majorWorth), isDoubtful: number.isDoubtful)
      }
    }
    for index in try grammar.readings(language.beforePoint, at: start, in: &lattice) {
      let number = lattice.reading(index)
      for index in lattice.matches(at: number.end) where lattice.match(index).meaning.kind == .point {
        let sum = Sum(
          total: try number.value.multiplied(by: majorWorth), isNamed: isNamed, isDoubtful: number.isDoubtful)
        try decimals(at: lattice.match(index).end, sum, place: majorWorth)
      }
    }
  }

  /// Reads the digits behind the point one by one. Their number is at most the currency's number of decimal places.
  private mutating func decimals(at start: Int, _ before: Sum, place: Int64) throws(Refusal) {
    guard place >= 10 else { return }
    for index in try grammar.readings(language.decimal, at: start, in: &lattice) {
      let digit = lattice.reading(index)
      guard digit.value < 10 else { continue }
      var sum = before
      sum.total = try sum.total.adding(digit.value * (place / 10))
      if sum.isNamed, digit.end == length { add(sum.total, isDoubtful: sum.isDoubtful) }
      if !sum.isNamed || language.namesCurrencyFirst {
        for unit in try found(at: digit.end, isNamed: sum.isNamed) where fraction(unit) == 0 && unit.end == length {
          add(sum.total, isDoubtful: sum.isDoubtful)
        }
      }
      try decimals(at: digit.end, sum, place: place / 10)
    }
  }

  /// Reads a part that follows other parts, with the words that may stand before it.
  private mutating func parts(at start: Int, _ before: Sum) throws(Refusal) {
    guard start < length else { return }
    try part(at: start, before)
    for index in lattice.matches(at: start) {
      let match = lattice.match(index)
      if match.meaning.kind == .between { try part(at: match.end, before) }
      if match.meaning.kind == .skipped {
        var before = before
        before.isSkipping = true
        try part(at: match.end, before)
      }
    }
  }

  /// Reads a number with its unit, and then the smaller units behind it.
  private mutating func part(at start: Int, _ before: Sum) throws(Refusal) {
    for rule in countRules {
      for index in try grammar.readings(rule, at: start, in: &lattice) {
        let count = lattice.reading(index)
        for unit in try found(at: count.end, isNamed: before.isNamed) {
          // A name from CLDR does not tell its gender.
          guard unit.unit < 0 || language.units[unit.unit].rule == rule, let sum = try sum(before, count, unit) else {
            continue
          }
          if unit.end == length { add(sum.total, isDoubtful: sum.isDoubtful) }
          try parts(at: unit.end, sum)
        }
      }
    }
  }

  /// Reads the count of a unit that was found, and further units, each before its count.
  private mutating func counted(_ unit: Found, _ before: Sum) throws(Refusal) {
    let rule = unit.unit < 0 ? language.count : language.units[unit.unit].rule
    for index in try grammar.readings(rule, at: unit.end, in: &lattice) {
      let count = lattice.reading(index)
      guard let sum = try sum(before, count, unit) else { continue }
      if count.end == length { add(sum.total, isDoubtful: sum.isDoubtful) }
      var starts = [count.end]
      for index in lattice.matches(at: count.end) where lattice.match(index).meaning.kind == .between {
        starts.append(lattice.match(index).end)
      }
      for start in starts {
        for next in try found(at: start, isNamed: true) { try counted(next, sum) }
      }
    }
  }

  /// Returns the sum after a part; `nil` if the word does not fit the count, if the unit may not follow the unit
  /// before, or if the count is too large for the unit.
  private func sum(_ before: Sum, _ count: WordLattice.Reading, _ unit: Found) throws(Refusal) -> Sum? {
    let fraction = fraction(unit)
    guard lattice.fits(unit.meaning, count.value), before.last ?? -1 < fraction else { return nil }
    if fraction > 0 {
      let places = fraction - (before.last ?? 0)
      guard let limit = Int64.power(ofTen: places), count.value < limit,
        !language.saysSkipped || says(before, count.value, places, unit)
      else { return nil }
    }
    guard let worth = Int64.power(ofTen: minorDigits - fraction) else { return nil }
    return Sum(
      total: try before.total.adding(count.value.multiplied(by: worth)), last: fraction,
      major: fraction == 0 ? count.value : before.major, isNamed: true,
      isDoubtful: before.isDoubtful || count.isDoubtful)
  }

  /// Returns whether the word for a skipped place is present or absent as the language requires. After a major unit,
  /// the word is required if the first of the places is skipped (十二元零五分). After a round number, it is optional (十元零五角).
  private func says(_ before: Sum, _ count: Int64, _ places: Int, _ unit: Found) -> Bool {
    guard count > 0 else { return false }
    guard before.last == 0 else { return !before.isSkipping }
    if count < Int64.power(ofTen: places - 1) ?? 1 {
      return before.isSkipping || unit.unit < 0 || !language.units[unit.unit].needsSkipped
    }
    return !before.isSkipping || before.major > 0 && before.major % 10 == 0
  }

  private func fraction(_ unit: Found) -> Int { unit.unit < 0 ? 0 : language.units[unit.unit].fraction }

  /// Returns the units of the requested currency that begin at a place.
  ///
  /// - Throws: `.ambiguous` if a name from CLDR follows a number without a space and begins like a number.
  private mutating func found(at start: Int, isNamed: Bool) throws(Refusal) -> [Found] {
    var found: [Found] = []
    for index in lattice.matches(at: start) {
      let match = lattice.match(index)
      let place = Int(match.meaning.place)
      guard match.meaning.kind == .unit, isNamed ? units.named[place] : units.plain[place] else { continue }
      found.append(Found(unit: place, meaning: match.meaning, end: match.end))
    }
    if acceptsOthers {
      let own = found.map(\.end)
      for index in lattice.matches(at: start) where lattice.match(index).meaning.kind == .unit {
        let match = lattice.match(index)
        // If the words name the requested currency once too often, this is not another currency.
        guard !own.contains(match.end), !units.plain[Int(match.meaning.place)] else { continue }
        found.append(Found(unit: Int(match.meaning.place), meaning: match.meaning, end: match.end))
      }
    }
    guard !isNamed else { return found }
    for name in otherNames where lattice.text[start...].starts(with: name) {
      guard let end = language.words.next(after: start + name.count, in: lattice.text) else { continue }
      let goesOn = lattice.classes(at: start) & language.numberClasses != 0
      if start > 0, !language.words.separatesWords, goesOn { throw .ambiguous }
      found.append(Found(unit: -1, meaning: WordTree.Meaning(kind: .unit), end: end))
    }
    return found
  }
}
