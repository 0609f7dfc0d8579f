// SPDX-License-Identifier: Apache-2.0

/// A recognised word.
struct Token: Sendable, Hashable {
  enum Kind: UInt8, Sendable {
    case zero
    /// A number, which adds `value`.
    case number
    /// A scale, which multiplies by `value`, a power of ten.
    case scale
    case point
    /// The word "and", between two parts of an amount or of a number.
    case joiner
    case unit
  }

  var kind: Kind
  /// A tag whose meaning the language defines; 0 for none. A number that has a tag cannot be a digit after the point.
  var tag: UInt8
  var value: Int64
  var unit: Unit
}

/// A unit of money: the currencies that use it, and its value as a decimal fraction of the major unit.
struct Unit: Sendable, Hashable {
  var currencies: CurrencySet
  var whenNamed: CurrencySet
  var fraction: UInt8
  /// The currencies of which the unit is a hundredth, whatever its fraction is: a dinar has 1,000 fils, a dirham 100.
  var hundredthOf: CurrencySet = []
  var tag: UInt8

  /// The tag of a name from CLDR, which tells nothing about its grammar.
  static let untold: UInt8 = .max

  static let none = Unit(currencies: [], whenNamed: [], fraction: 0, tag: 0)
}

/// Reads tokens from first to last.
struct TokenReader {
  let tokens: [Token]
  private(set) var position = 0

  init(_ tokens: [Token]) {
    self.tokens = tokens
  }

  var isAtEnd: Bool { position == tokens.count }

  var next: Token? {
    position < tokens.count ? tokens[position] : nil
  }

  mutating func skip() {
    position += 1
  }

  /// If the next token has the given kind, moves past it and returns it.
  mutating func take(_ kind: Token.Kind) -> Token? {
    guard let token = next, token.kind == kind else { return nil }
    position += 1
    return token
  }

  /// If the next token has the given kind, moves past it. Returns whether it had that kind.
  mutating func passes(_ kind: Token.Kind) -> Bool {
    take(kind) != nil
  }
}

extension TokenReader {
  /// Reads a number made of groups and descending scales: (group scale)* [group]. A zero is read only if it is the
  /// whole number.
  ///
  /// Each part must be smaller than the scale before it, so that neither "two thousand one million" nor "one million
  /// one thousand thousand" is accepted.
  ///
  /// - Parameters:
  ///   - bareScale: a scale that may begin the number without a group before it (만 for 10,000); 0 for none.
  ///   - group: a function that reads the multiplier of a scale, and returns `nil` when no number follows. Its second
  ///     argument says whether this is the number's first group.
  mutating func scaledNumber(
    bareScale: Int64 = 0, group: (inout TokenReader, Bool) throws(Refusal) -> Int64?
  ) throws(Refusal) -> Int64 {
    if passes(.zero) { return 0 }
    var total: Int64 = 0
    var lastScale = Int64.max
    var isFirst = true
    while true {
      let count = try group(&self, isFirst)
      guard let scale = take(.scale)?.value else {
        guard let count else { break }
        guard count < lastScale else { throw .unreadable }
        total = try total.adding(count)
        isFirst = false
        break
      }
      let multiplier: Int64
      if let count {
        multiplier = count
      } else {
        guard isFirst, scale == bareScale else { throw .unreadable }
        multiplier = 1
      }
      let part = try multiplier.multiplied(by: scale)
      guard scale < lastScale, part < lastScale else { throw .unreadable }
      total = try total.adding(part)
      lastScale = scale
      isFirst = false
    }
    guard !isFirst else { throw .unreadable }
    return total
  }

  /// Reads a group of up to four places: thousands, hundreds, tens and ones. Each occurs at most once and in that
  /// order. The value of a token is that of its place (300, 20, 7). Japanese and Korean count in this way.
  mutating func placeGroup() throws(Refusal) -> Int64? {
    var value: Int64 = 0
    var lastPlace: Int64 = 10_000
    while let token = next, token.kind == .number {
      let place: Int64 =
        switch token.value {
        case ..<10: 1
        case ..<100: 10
        case ..<1000: 100
        default: 1000
        }
      guard place < lastPlace else { throw .unreadable }
      value += token.value
      lastPlace = place
      skip()
    }
    return value == 0 ? nil : value
  }
}

extension Int64 {
  func adding(_ other: Int64) throws(Refusal) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard !overflow else { throw .outOfRange }
    return sum
  }

  func multiplied(by other: Int64) throws(Refusal) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    guard !overflow else { throw .outOfRange }
    return product
  }

  /// Returns 10^exponent; `nil` when it does not fit into 64 bits.
  static func power(ofTen exponent: Int) -> Int64? {
    guard (0...18).contains(exponent) else { return nil }
    var power: Int64 = 1
    for _ in 0..<exponent { power *= 10 }
    return power
  }
}
