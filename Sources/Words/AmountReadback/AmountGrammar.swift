// SPDX-License-Identifier: Apache-2.0

/// The two forms of an amount, which all languages share:
///
///     [major] whole point digit+ [major]        the currency before or after, not both
///     [major] whole [major] ([and] count minor)*
///     [major] count minor ([and] count minor)*
///
/// A `major` before the units is accepted only if the language permits it (人民币五角). The same applies to a second `major`
/// (人民币十二元). A count must be less than the value of the unit before it: "one dollar one hundred fifty cents" is
/// refused. Minor units must descend (角, then 分).
struct AmountGrammar {
  private var tokens: TokenReader
  private let rules: any AmountLanguage.Type
  /// The requested currency.
  private let currency: CurrencySet
  private let minorDigits: Int
  private let majorWorth: Int64
  /// Whether a word already read has named the currency.
  private var isNamed: Bool

  /// Creates the grammar.
  ///
  /// - Parameter isNamed: whether the name of the currency was already found and removed.
  init(
    _ tokens: [Token], rules: any AmountLanguage.Type, currency: CurrencySet, minorDigits: Int, isNamed: Bool
  ) throws(Refusal) {
    guard let worth = Int64.power(ofTen: minorDigits) else { throw .outOfRange }
    try rules.checkNeighbours(tokens)
    var tokens = tokens
    for index in tokens.indices where tokens[index].unit.hundredthOf.contains(currency) {
      tokens[index].unit.fraction = 2
    }
    self.tokens = TokenReader(tokens)
    self.rules = rules
    self.currency = currency
    self.minorDigits = minorDigits
    self.majorWorth = worth
    self.isNamed = isNamed
  }

  mutating func amount() throws(Refusal) -> Int64 {
    if let unit = tokens.take(.unit)?.unit {
      guard unit.fraction == 0 else { throw .unreadable }
      try accept(unit)
    }
    let count = try rules.wholeNumber(&tokens)
    if tokens.passes(.point) { return try decimals(after: count) }
    guard let unit = tokens.take(.unit)?.unit else {
      guard tokens.isAtEnd else { throw .unreadable }
      guard isNamed else { throw .wrongCurrency }
      return try count.multiplied(by: majorWorth)
    }
    let wasNamed = isNamed
    try accept(unit)
    if unit.fraction == 0 {
      return try minorParts(after: count.multiplied(by: majorWorth), major: count, fraction: 0)
    }
    guard !wasNamed || rules.namesCurrencyFirst else { throw .unreadable }
    let part = MinorPart(
      count: count, places: Int(unit.fraction), unit: unit, major: nil, follows: .nothing, hasZeroBefore: false)
    return try minorParts(after: worth(of: part), major: nil, fraction: unit.fraction)
  }

  /// Accepts a unit. Refuses it if it belongs to a currency other than the requested one.
  private mutating func accept(_ unit: Unit) throws(Refusal) {
    guard (isNamed ? unit.whenNamed : unit.currencies).contains(currency) else {
      // Without the name of a currency, such a unit could belong to several. If the requested currency were named, the
      // unit would be accepted.
      if !isNamed, unit.whenNamed.contains(currency), unit.fraction > 0, !unit.currencies.contains(currency) {
        throw .ambiguous
      }
      // Naming the right currency too often is an error, but not the error of a wrong currency.
      throw unit.currencies.contains(currency) ? .unreadable : .wrongCurrency
    }
    isNamed = true
  }

  /// Reads the digits after the point one by one. Their number is at most the currency's number of decimal places.
  private mutating func decimals(after whole: Int64) throws(Refusal) -> Int64 {
    var total = try whole.multiplied(by: majorWorth)
    var place = majorWorth
    var isEmpty = true
    while let token = tokens.next, token.kind == .zero || token.kind == .number {
      guard token.value < 10, token.tag == 0, place >= 10 else { throw .unreadable }
      place /= 10
      total = try total.adding(token.value * place)
      isEmpty = false
      tokens.skip()
    }
    guard !isEmpty else { throw .unreadable }
    if let unit = tokens.take(.unit)?.unit {
      guard unit.fraction == 0 else { throw .unreadable }
      try accept(unit)
    }
    guard tokens.isAtEnd else { throw .unreadable }
    guard isNamed else { throw .wrongCurrency }
    return total
  }

  private mutating func minorParts(after start: Int64, major: Int64?, fraction: UInt8) throws(Refusal) -> Int64 {
    var total = start
    var last = fraction
    while !tokens.isAtEnd {
      let hasZero = rules.saysZeroForSkippedPlace && tokens.passes(.zero)
      if !hasZero { _ = tokens.passes(.joiner) }
      let count = try rules.wholeNumber(&tokens)
      guard let unit = tokens.take(.unit)?.unit else { throw .unreadable }
      try accept(unit)
      guard unit.fraction > last else { throw .unreadable }
      let part = MinorPart(
        count: count, places: Int(unit.fraction - last), unit: unit, major: major,
        follows: last == 0 ? .major : .minor, hasZeroBefore: hasZero)
      total = try total.adding(worth(of: part))
      last = unit.fraction
    }
    return total
  }

  private func worth(of part: MinorPart) throws(Refusal) -> Int64 {
    guard rules.accepts(part), let limit = Int64.power(ofTen: part.places), part.count < limit,
      let worth = Int64.power(ofTen: minorDigits - Int(part.unit.fraction))
    else { throw .unreadable }
    return try part.count.multiplied(by: worth)
  }
}
