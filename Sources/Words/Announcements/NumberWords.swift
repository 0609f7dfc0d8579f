// SPDX-License-Identifier: Apache-2.0

/// A language's words for the whole numbers from 0 to 9,999,999,999,999.
///
/// Each word of a number is a separate element. Therefore a unit can contract with the last word, and a recorded voice
/// needs a clip only for each word (`twenty-` and `one`), and not for each of ninety-nine numbers.
enum NumberWords: Sendable {
  /// Rules, for the languages whose numbers count in thousands, or in thousands and hundreds of thousands, and for
  /// Korean.
  case rules(NumberRules, CountRules)

  /// Counting in groups of ten thousand, with words from a table, for Chinese and Japanese. Skipped places and
  /// contractions are easier to list than to write as rules.
  case myriad(MyriadNumerals)

  func words(_ number: Int64) -> [NumberWord] {
    switch self {
    case .rules(let rules, _): rules.words(number)
    case .myriad(let numerals): numerals.words(number).map { NumberWord($0) }
    }
  }

  /// Returns the words of a count before a unit. They may differ from the words of the number itself: 两元, but 第二; un
  /// peso, but uno.
  ///
  /// - Parameter gender: the gender of the unit, as the book names it.
  func words(counting number: Int64, gender: String? = nil) -> [NumberWord] {
    switch self {
    case .rules(let rules, let counts): return rules.words(number, set: counts.set(gender))
    case .myriad(let numerals):
      let words = numerals.words(number)
      return words.count == 1 ? [NumberWord(numerals.alone?[words[0]] ?? words[0])] : words.map { NumberWord($0) }
    }
  }

  /// Returns a number in every form that the language has for it.
  func forms(_ number: Int64) -> [[NumberWord]] {
    switch self {
    case .rules(let rules, let counts): counts.all.sorted().map { rules.words(number, set: $0) }
    case .myriad: [words(number), words(counting: number)]
    }
  }

  /// Returns the gender of a currency's major unit, for a currency without units in the book.
  func gender(of currency: Currency) -> String? {
    if case .rules(_, let counts) = self { counts.gender(of: currency) } else { nil }
  }
}

/// A word of a number.
struct NumberWord: Equatable {
  var text: String

  /// Whether the word is joined to the next one without the language's separator: `twenty-`, 십.
  var isBound: Bool

  init(_ text: String, isBound: Bool = false) {
    self.text = text
    self.isBound = isBound
  }
}

/// Numerals that count in groups of four digits. The tables list every word, so irregular words need no rules.
struct MyriadNumerals: Sendable, Decodable {
  /// The words for 1 to 9. The tables of ones, tens, hundreds and thousands have nine words each.
  var ones: [String]
  var tens: [String]
  var hundreds: [String]
  var thousands: [String]

  /// The words for 10^4, 10^8 and, if the language has one, 10^12. A language without a word for 10^12 counts it as ten
  /// thousand times 10^8: 一万亿.
  var groups: [String]

  /// The word for zero when zero is the whole number.
  var zero: String

  /// The word for one or more skipped places between two digits: 一百零一. It is `nil` in languages that say nothing there.
  var skipped: String?

  /// The word for ten at the start of the numbers 10 to 19: 十二, not 一十二.
  var leadingTen: String?

  /// The contraction of a group's last word with the group's name, keyed by both: `せん` + `まん` becomes いっせんまん.
  var contractions: [String: String]?

  /// The form of a word that is the only word of a group, or of a count before a unit: 二 becomes 两 in 两万 and 两元.
  var alone: [String: String]?

  func words(_ number: Int64) -> [String] {
    guard number > 0 else { return [zero] }
    var words: [String] = []
    append(number, groupIndex: 0, to: &words)
    if let leadingTen, words.first == tens[0] { words[0] = leadingTen }
    return words
  }

  /// Appends the words of the groups, from the highest to the lowest.
  private func append(_ number: Int64, groupIndex: Int, to words: inout [String]) {
    let isHighest = groupIndex == groups.count
    let (higher, group) = isHighest ? (0, number) : number.quotientAndRemainder(dividingBy: 10_000)
    if higher > 0 { append(higher, groupIndex: groupIndex + 1, to: &words) }
    guard group > 0 else { return }
    // A place is skipped when the group has fewer than four digits, or when the next higher group is empty: 一亿零一千.
    if let skipped, !words.isEmpty, group < 1_000 || higher % 10_000 == 0 { words.append(skipped) }
    var groupWords: [String] = []
    if group < 10_000 {
      appendGroup(group, to: &groupWords)
    } else {
      // The highest group has more than four digits, so its count is itself written in groups: 一万亿 is ten thousand
      // times 10^8.
      append(group, groupIndex: 0, to: &groupWords)
    }
    if groupIndex > 0 {
      let name = groups[groupIndex - 1]
      if groupWords.count == 1, let changed = alone?[groupWords[0]] { groupWords[0] = changed }
      if let last = groupWords.last, let contracted = contractions?[last + name] {
        groupWords[groupWords.count - 1] = contracted
      } else {
        groupWords.append(name)
      }
    }
    words += groupWords
  }

  private func appendGroup(_ group: Int64, to words: inout [String]) {
    var rest = Int(group)
    var place = 1_000
    for row in [thousands, hundreds, tens, ones] {
      let digit = rest / place
      rest %= place
      if digit > 0 {
        words.append(row[digit - 1])
        if let skipped, rest > 0, rest < place / 10 { words.append(skipped) }
      }
      place /= 10
    }
  }

  /// What is wrong with the tables, for the error of the phrase book that contains them; `nil` if they are valid.
  var fault: String? {
    for (name, row) in [("ones", ones), ("tens", tens), ("hundreds", hundreds), ("thousands", thousands)]
    where row.count != 9 {
      return "numbers.\(name) has \(row.count) words instead of nine"
    }
    return (2...3).contains(groups.count) ? nil : "numbers.groups has \(groups.count) words instead of two or three"
  }
}
