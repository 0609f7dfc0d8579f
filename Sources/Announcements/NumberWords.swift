// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How a language counts: whole numbers from 0 to 9,999,999,999,999 as words.
///
/// The words come apart as they are counted, so that a unit can contract with the last one and a recorded voice can
/// have a clip for each: `twenty-` and `one`, not a clip for each of ninety-nine.
enum NumberWords: Sendable {
  /// CLDR's rule-based number format, where it is right: English, Hindi, Korean (but for a word) and most of Europe's
  /// languages.
  case cldr(SpelledOutNumbers, CountForms)

  /// Counting in ten thousands from a table, where CLDR is wrong for money: Chinese (`一千〇一`, and 兆 for 10^12) and
  /// Japanese (kanji, of which the engine reads none).
  case myriad(MyriadNumerals)

  func words(_ number: Int64) -> [NumberWord] {
    switch self {
    case .cldr(let numbers, _): numbers.words(number)
    case .myriad(let numerals): numerals.words(number).map { NumberWord($0) }
    }
  }

  /// The words of a count that a unit follows, which may differ from the number by itself: 两元, but 第二; un peso, but
  /// uno.
  func words(counting number: Int64, isFeminine: Bool = false) -> [NumberWord] {
    counting(words(number), isFeminine: isFeminine)
  }

  /// The words of a number in the form that stands before a unit.
  func counting(_ words: [NumberWord], isFeminine: Bool) -> [NumberWord] {
    switch self {
    case .cldr(_, let forms): return forms.counting(words, isFeminine: isFeminine)
    case .myriad(let numerals):
      return words.count == 1 ? [NumberWord(numerals.alone?[words[0].text] ?? words[0].text)] : words
    }
  }

  /// Whether counts of the currency's major unit are feminine.
  func isFeminine(_ currency: Currency) -> Bool {
    if case .cldr(_, let forms) = self { forms.isFeminine(currency) } else { false }
  }
}

/// A word of a number.
struct NumberWord: Equatable {
  var text: String

  /// Whether it is written onto the next word, without the language's separator: `twenty-`, 십.
  var isBound: Bool

  init(_ text: String, isBound: Bool = false) {
    self.text = text
    self.isBound = isBound
  }
}

/// Whole numbers as CLDR spells them out.
///
/// `NumberFormatter` is a class with mutable state that Foundation does not promise to be safe on several threads, so
/// one is kept behind a lock for each phrase book.
final class SpelledOutNumbers: Sendable {
  /// Longest first, so that the order in which they are made is the same everywhere.
  private let corrections: [(spelled: String, said: String)]
  private let isSyllabic: Bool
  private let formatter: LockedFormatter

  /// - Parameters:
  ///   - corrections: what CLDR spells otherwise than the language says it, and how it is said.
  ///   - isSyllabic: whether each syllable is a word that is written onto the next: 십이만 is 십, 이 and 만.
  init(locale: String, corrections: [String: String] = [:], isSyllabic: Bool = false) {
    self.isSyllabic = isSyllabic
    self.corrections = corrections.sorted { ($1.key.count, $0.key) < ($0.key.count, $1.key) }.map { ($0.key, $0.value) }
    formatter = LockedFormatter(locale: locale)
  }

  func words(_ number: Int64) -> [NumberWord] {
    let spelled = corrections.reduce(formatter.string(number)) { $0.replacing($1.spelled, with: $1.said) }
    // Soft hyphens and zero-width spaces mark where CLDR's compounds may break (German, Thai); they are not words.
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

  /// A word's parts, each but the last with its hyphen.
  private static func hyphenated(_ word: String) -> [String] {
    let parts = word.split(separator: "-")
    return parts.enumerated().map { $0.offset < parts.count - 1 ? $0.element + "-" : String($0.element) }
  }
}

/// `@unchecked Sendable`: the formatter is set up once and is used only under the lock.
private final class LockedFormatter: @unchecked Sendable {
  private let lock = NSLock()
  private let formatter = NumberFormatter()

  init(locale: String) {
    formatter.locale = Locale(identifier: locale)
    formatter.numberStyle = .spellOut
  }

  func string(_ number: Int64) -> String {
    lock.withLock { formatter.string(from: NSNumber(value: number)) ?? "" }
  }
}

/// Numerals that count in groups of four digits, written out in tables so that every irregular word stands there and
/// none is computed.
struct MyriadNumerals: Sendable, Decodable {
  /// One to nine, and each of them at the tens, hundreds and thousands: nine words a row.
  var ones: [String]
  var tens: [String]
  var hundreds: [String]
  var thousands: [String]

  /// The words for 10^4, 10^8 and, where the language counts on, 10^12. With two words the language counts ten
  /// thousands of 10^8: 一万亿.
  var groups: [String]

  /// Zero by itself.
  var zero: String

  /// Said where one place or more is skipped between two that are not: 一百零一. Absent where nothing is said.
  var skipped: String?

  /// Ten to nineteen at the very start of a number: 十二, not 一十二.
  var leadingTen: String?

  /// What a group's last word and the group's name become together: `せん` + `まん` is いっせんまん.
  var contractions: [String: String]?

  /// What a word becomes when it is all of a group, or all of a count before a unit: 二 is 两 in 两万 and 两元.
  var alone: [String: String]?

  func words(_ number: Int64) -> [String] {
    guard number > 0 else { return [zero] }
    var words: [String] = []
    append(number, groupIndex: 0, to: &words)
    if let leadingTen, words.first == tens[0] { words[0] = leadingTen }
    return words
  }

  /// Appends the groups from the highest to the lowest.
  private func append(_ number: Int64, groupIndex: Int, to words: inout [String]) {
    let isHighest = groupIndex == groups.count
    let (higher, group) = isHighest ? (0, number) : number.quotientAndRemainder(dividingBy: 10_000)
    if higher > 0 { append(higher, groupIndex: groupIndex + 1, to: &words) }
    guard group > 0 else { return }
    // A place is skipped when the group is short, or when the whole group above it is empty: 一亿零一千.
    if let skipped, !words.isEmpty, group < 1_000 || higher % 10_000 == 0 { words.append(skipped) }
    var groupWords: [String] = []
    if group < 10_000 {
      appendGroup(group, to: &groupWords)
    } else {
      // More than the highest group's name covers: 一万亿 is ten thousand of 10^8.
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

  /// The tables' faults, for the phrase book that holds them.
  var fault: String? {
    for (name, row) in [("ones", ones), ("tens", tens), ("hundreds", hundreds), ("thousands", thousands)]
    where row.count != 9 {
      return "numbers.\(name) has \(row.count) words"
    }
    return (2...3).contains(groups.count) ? nil : "numbers.groups has \(groups.count) words"
  }
}
