// SPDX-License-Identifier: Apache-2.0

import Announcements

/// Finds the tokens of an amount that are spoken without a break. They are a number below a hundred and the unit after
/// it, such as `twenty five thousand`, `three hundred`, `twenty five dollars` and `fifty cents`.
///
/// A number is easiest to understand together with its unit. When “thirty cents” was joined from single words, it was
/// understood as “thirty-eight cents”, because the e of “eight” and the start of “cents” after a pause sound alike. The
/// groups of a locale are found by writing out sample amounts.
struct WordGroups {
  /// The tokens of the numbers from 1 to 99, longest first. The key is the first token of the number.
  private let numbers: [String: [[String]]]

  /// The words that may follow such a number. They are the units of the currency, and words such as “hundred” and
  /// “thousand”.
  private let units: Set<String>

  /// Finds the groups of a currency.
  ///
  /// - Throws: `.currencyUnspeakable`.
  init(writer: ScriptWriter, currency: Currency) throws(AnnouncementError) {
    func tokens(major: Int64, minor: Int64 = 0) throws(AnnouncementError) -> [String] {
      let amount = try Money(minorUnits: major * currency.minorUnitsPerMajor + minor, currency: currency)
      return try writer.script(for: .payment(Payment(amount: amount)), shortenings: [.amountOnly]).tokens.map(\.name)
    }
    let (two, three) = (try tokens(major: 2), try tokens(major: 3))
    let hasUnitBehind = two.count > 1 && two.last == three.last
    func number(_ tokens: [String]) -> [String] { hasUnitBehind ? tokens.dropLast() : tokens }

    var units: Set<String> = []
    var numbers: Set<[String]> = []
    for count in Int64(1)...99 {
      let whole = try tokens(major: count)
      let said = number(whole)
      numbers.insert(said)
      if hasUnitBehind, let unit = whole.last { units.insert(unit) }
      for power in SpokenContexts.powers {
        let larger = number(try tokens(major: count * power))
        if larger.count == said.count + 1, larger.starts(with: said), let unit = larger.last { units.insert(unit) }
      }
      if count < currency.minorUnitsPerMajor {
        let minor = try tokens(major: 0, minor: count)
        if minor.count > 1, let unit = minor.last { units.insert(unit) }
      }
    }
    self.units = units.subtracting(numbers.joined())
    self.numbers = Dictionary(grouping: numbers.filter { !$0.isEmpty }) { $0[0] }
      .mapValues { $0.sorted { $0.count > $1.count } }
  }

  /// Returns the index ranges of the groups, from left to right. A token that belongs to no group forms a group of its
  /// own.
  func groups(of tokens: [String]) -> [Range<Int>] {
    var groups: [Range<Int>] = []
    var start = 0
    while start < tokens.count {
      let number = numbers[tokens[start], default: []].first { tokens[start...].starts(with: $0) }
      var end = start + (number?.count ?? 1)
      if number != nil, end < tokens.count, units.contains(tokens[end]) { end += 1 }
      groups.append(start..<end)
      start = end
    }
    return groups
  }
}
