// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A language's words for the whole numbers from 0 to 9,999,999,999,999.
///
/// Each word of a number is a separate element. Therefore a unit can contract with the last word, and a recorded voice
/// needs a clip only for each word (`twenty-` and `one`), and not for each of ninety-nine numbers.
enum NumberWords: Sendable {
  /// CLDR's rule-based number format. It is used for the languages where it is correct: English, Hindi, Korean (with
  /// one correction) and most European languages.
  case cldr(SpelledOutNumbers, CountForms)

  /// Counting in groups of ten thousand, with words from a table. It is used for the languages where CLDR is wrong for
  /// money: Chinese (`一千〇一`, and 兆 for 10^12) and Japanese (CLDR gives kanji, which the engine cannot read).
  case myriad(MyriadNumerals)

  func words(_ number: Int64) -> [NumberWord] {
    switch self {
    case .cldr(let numbers, _): numbers.words(number)
    case .myriad(let numerals): numerals.words(number).map { NumberWord($0) }
    }
  }

  /// Returns the words of a count before a unit. They may differ from the words of the number itself: 两元, but 第二; un
  /// peso, but uno.
  func words(counting number: Int64, isFeminine: Bool = false) -> [NumberWord] {
    counting(words(number), isFeminine: isFeminine)
  }

  /// Returns the words of a number in the form that stands before a unit.
  func counting(_ words: [NumberWord], isFeminine: Bool) -> [NumberWord] {
    switch self {
    case .cldr(_, let forms): return forms.counting(words, isFeminine: isFeminine)
    case .myriad(let numerals):
      return words.count == 1 ? [NumberWord(numerals.alone?[words[0].text] ?? words[0].text)] : words
    }
  }

  /// Returns whether counts of the currency's major unit are feminine.
  func isFeminine(_ currency: Currency) -> Bool {
    if case .cldr(_, let forms) = self { forms.isFeminine(currency) } else { false }
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

/// Whole numbers as CLDR spells them.
///
/// `NumberFormatter` is a class with mutable state, and Foundation does not promise that it is thread-safe. Each phrase
/// book therefore has one formatter, protected by a lock.
final class SpelledOutNumbers: Sendable {
  /// The corrections of CLDR's spellings, longest first, so that they are applied in the same order everywhere.
  private let corrections: [(spelled: String, said: String)]
  private let isSyllabic: Bool
  private let formatter: Locked<NumberFormatter>

  /// Creates the number words of a locale.
  ///
  /// - Parameters: - corrections: the spellings of CLDR that are wrong for the language, with the correct words. -
  ///   isSyllabic: whether each syllable is a word that is joined to the next: 십이만 is 십, 이 and 만.
  init(locale: String, corrections: [String: String] = [:], isSyllabic: Bool = false) {
    self.isSyllabic = isSyllabic
    self.corrections = corrections.sorted { ($1.key.count, $0.key) < ($0.key.count, $1.key) }.map { ($0.key, $0.value) }
    let formatter = NumberFormatter()
    formatter.locale = Locale(identifier: locale)
    formatter.numberStyle = .spellOut
    self.formatter = Locked(formatter)
  }

  func words(_ number: Int64) -> [NumberWord] {
    let uncorrected = formatter.withLock { $0.string(from: NSNumber(value: number)) ?? "" }
    let spelled = corrections.reduce(uncorrected) { $0.replacing($1.spelled, with: $1.said) }
    // Soft hyphens and zero-width spaces mark where CLDR's compounds may be broken (German, Thai). They are not words.
    let isBroken = spelled.unicodeScalars.contains { $0 == "\u{AD}" || $0 == "\u{200B}" }
    let plain =
      isBroken
      ? String(String.UnicodeScalarView(spelled.unicodeScalars.filter { $0 != "\u{AD}" && $0 != "\u{200B}" }))
      : spelled
    return plain.split(whereSeparator: { $0 == " " || $0 == "\u{A0}" }).flatMap { word in
      let parts = isSyllabic ? word.map(String.init) : Self.hyphenated(String(word))
      return parts.enumerated().map { NumberWord($0.element, isBound: $0.offset < parts.count - 1) }
    }
  }

  /// Returns the parts of a hyphenated word. Each part except the last keeps its hyphen.
  private static func hyphenated(_ word: String) -> [String] {
    let parts = word.split(separator: "-")
    return parts.enumerated().map { $0.offset < parts.count - 1 ? $0.element + "-" : String($0.element) }
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
