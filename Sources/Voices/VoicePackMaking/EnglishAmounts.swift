// SPDX-License-Identifier: Apache-2.0

import Announcements

/// The grammar for a recogniser of English. It accepts any number followed by a unit. Thus only the sound determines
/// which amount is recognised.
struct EnglishAmounts {
  private static let ones = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
  private static let teens = [
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
  ]
  private static let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

  /// The words before and after the amount.
  private let opening: [String]
  private let closing: [String]

  /// The unit's words in the singular and the plural: `dollar` and `dollars`.
  private let major: [String]
  private let minor: [String]

  /// Collects the words of a currency.
  ///
  /// - Throws: `.currencyUnspeakable`.
  init(writer: ScriptWriter, currency: Currency) throws(AnnouncementError) {
    func tokens(_ minorUnits: Int64) throws(AnnouncementError) -> [ClipToken] {
      try writer.script(for: .payment(Payment(amount: try Money(minorUnits: minorUnits, currency: currency)))).tokens
    }
    func unit(_ minorUnits: Int64) throws(AnnouncementError) -> String {
      try tokens(minorUnits).last { $0.role == .amount }.map { Self.words([$0.name]).joined(separator: " ") } ?? ""
    }
    let sentence = try tokens(2 * currency.minorUnitsPerMajor)
    opening = Self.words(sentence.prefix { $0.role != .amount }.map(\.name))
    closing = Self.words(sentence.reversed().prefix { $0.role != .amount }.reversed().map(\.name))
    major = [try unit(currency.minorUnitsPerMajor), try unit(2 * currency.minorUnitsPerMajor)]
    minor = currency.minorUnitsPerMajor > 1 ? [try unit(1), try unit(2)] : []
  }

  /// The grammar in the JSpeech Grammar Format.
  var grammar: String {
    func anyOf(_ words: [String]) -> String { words.joined(separator: " | ") }
    func sentence(_ words: [String]) -> String { words.isEmpty ? "" : "[\(words.joined(separator: " "))]" }
    let amounts = minor.isEmpty ? "<major>" : "<major> | <minor> | <major> [and] <minor>"
    let units = minor.isEmpty ? "" : "<minor> = <number> (\(anyOf(minor)));\n"
    return """
      #JSGF V1.0;
      grammar amounts;
      <ones> = \(anyOf(Self.ones));
      <tens> = \(anyOf(Self.tens));
      <below_hundred> = <ones> | \(anyOf(Self.teens)) | <tens> [<ones>];
      <below_thousand> = <below_hundred> | <ones> hundred [[and] <below_hundred>];
      <number> = <below_thousand> | <below_thousand> thousand [[and] <below_thousand>];
      <major> = <number> (\(anyOf(major)));
      \(units)public <announcement> = \(sentence(opening)) (\(amounts)) \(sentence(closing));

      """
  }

  /// Returns the words that distinguish amounts, which are the numbers and the units. The words of the sentence, *and*,
  /// and the difference between singular and plural are left out. The input is either the recognised words or the
  /// spoken tokens.
  func meaning(of words: [String]) -> [String] {
    let around = Set(opening + closing + ["and"])
    return Self.words(words).filter { !around.contains($0) }.joined(separator: " ")
      .replacingOccurrences(of: major, with: "major").replacingOccurrences(of: minor, with: "minor")
      .split(separator: " ").map(String.init)
  }

  private static func words(_ tokens: [String]) -> [String] {
    tokens.flatMap { ClipToken.words(ofName: $0).lowercased().split(separator: " ") }.map(String.init)
  }
}

extension String {
  /// Returns the text with replacements. Each of the words is replaced where it is a whole word; the longest words come
  /// first.
  fileprivate func replacingOccurrences(of words: [String], with other: String) -> String {
    words.sorted { $0.count > $1.count }.filter { !$0.isEmpty }.reduce(" \(self) ") { text, word in
      text.replacing(" \(word) ", with: " \(other) ")
    }
  }
}
