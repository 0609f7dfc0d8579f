// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes the first files of a new locale, which a person then completes.
///
/// A book in the same language only names the book that it extends. A book in another language is a copy. A person must
/// replace its texts; ``ForeignTexts`` finds the sentences that were not replaced. CLDR's data is filled in: the
/// country's currency, the names of currencies that may imitate a sum, the decimal separator, and, if CLDR's files are
/// available, the rules for numbers and plurals.
public struct NewBook {
  public var locale: String
  /// The locale of the book that is copied.
  public var base: String
  /// The contents of the copied book.
  public var baseText: String
  /// The rules for numbers of CLDR's `rbnf/<language>.xml`; nil if there is no such file.
  public var spelloutRules: SpelloutRules?
  /// The plural rules of CLDR, by category; nil if they are not known.
  public var plurals: [String: String]?

  public init(locale: String, base: String, baseText: String) {
    self.locale = locale
    self.base = base
    self.baseText = baseText
  }

  private var language: Substring { locale.prefix { $0 != "-" } }

  /// Whether the new book is for another country of the same language, so that it only extends the other book.
  public var isInLanguageOfBase: Bool { language == base.prefix { $0 != "-" } }

  /// The text of the book's file.
  public var text: String {
    if isInLanguageOfBase {
      return """
        {
          "locale": "\(locale)",
          "extends": "\(base)"
        }

        """
    }
    var text = baseText
    replace(#/"locale": *"[^"]*"/#, with: #""locale": "\#(locale)""#, in: &text)
    // This variant is understood best in most languages.
    replace(#/"voice": *"[^"]*"/#, with: #""voice": "\#(language)+f2""#, in: &text)
    // These keys belong to the language of the other book.
    replace(#/\n  "otherVoices": *\[[^\]]*\],/#, with: "", in: &text)
    replace(#/\n  "numberSounds": *\[[^\]]*\],/#, with: "", in: &text)
    replace(#/\n  "nameReadings": *"[^"]*",/#, with: "", in: &text)
    replace(#/\n *"ambiguousUnits": *\[[^\]]*\],/#, with: "", in: &text)
    replace(#/\n *"scales": *\{[^}]*\},/#, with: "", in: &text)
    removeObject("spokenLanguage", in: &text)
    if let spelloutRules { replaceObject("numbers", with: spelloutRules.json, in: &text) }
    if plurals == [:] { removeObject("plurals", in: &text) }
    if let plurals, !plurals.isEmpty {
      let rules = plurals.sorted { $0.key < $1.key }.map { #""\#($0.key)": "\#($0.value)""# }.joined(separator: ", ")
      removeObject("plurals", in: &text)
      replace(#/\n  "wordSeparator"/#, with: "\n  \"plurals\": { \(rules) },\n  \"wordSeparator\"", in: &text)
    }
    // The first list with the key `units` after the key `guard` contains the units of the guard words.
    if let start = text.firstRange(of: "\"guard\""),
      let list = text[start.upperBound...].firstMatch(of: #/"units": *\[[^\]]*\]/#)
    {
      text.replaceSubrange(list.range, with: "\"units\": [\n" + wrapped(currencyNames, indent: 6) + "\n    ]")
    }
    if let code = Locale(identifier: locale).currency?.identifier, !text.contains("\n    \"\(code)\":") {
      let name = Locale(identifier: locale).localizedString(forCurrencyCode: code) ?? code
      let units = #"{ "major": { "other": "\#(name)" }, "minor": [] }"#
      replace(#/\n  "currencies": *\{\n/#, with: "\n  \"currencies\": {\n    \"\(code)\": \(units),\n", in: &text)
    }
    replace(#/ *"decimalSeparator": *"[^"]*",\n/#, with: "", in: &text)
    replace(#/ *"groupingSeparator": *"[^"]*",\n/#, with: "", in: &text)
    if Locale(identifier: locale).decimalSeparator == "," {
      replace(#/"text": *\{\n/#, with: "\"text\": {\n    \"decimalSeparator\": \",\",\n", in: &text)
    }
    return text
  }

  /// The names of all currencies in the language, as CLDR has them.
  private var currencyNames: [String] {
    let locale = Locale(identifier: locale)
    let names = Locale.commonISOCurrencyCodes.compactMap { code in
      locale.localizedString(forCurrencyCode: code).flatMap { $0 == code ? nil : $0 }
    }
    return Set(names).sorted()
  }

  private func wrapped(_ items: [String], indent: Int) -> String {
    var lines: [String] = []
    for item in items.map({ "\"" + $0.replacing("\"", with: "") + "\"" }) {
      if let last = lines.last, last.count + item.count + 2 + indent <= 118 {
        lines[lines.count - 1] = last + ", " + item
      } else {
        lines.append(item)
      }
    }
    return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: ",\n")
  }

  private func replace(_ pattern: some RegexComponent, with other: String, in text: inout String) {
    guard let match = text.firstMatch(of: pattern) else { return }
    text.replaceSubrange(match.range, with: other)
  }

  /// The range of an object of the book, from its key to its closing brace. Strings of a book have only the braces of
  /// placeholders, which are balanced.
  private func range(ofObject key: String, in text: String) -> Range<String.Index>? {
    guard let start = text.firstRange(of: "\n  \"\(key)\": {") else { return nil }
    var depth = 1
    var index = start.upperBound
    while index < text.endIndex, depth > 0 {
      if text[index] == "{" { depth += 1 }
      if text[index] == "}" { depth -= 1 }
      index = text.index(after: index)
    }
    return start.lowerBound..<index
  }

  private func replaceObject(_ key: String, with json: String, in text: inout String) {
    if let range = range(ofObject: key, in: text) { text.replaceSubrange(range, with: "\n  \"\(key)\": \(json)") }
  }

  private func removeObject(_ key: String, in text: inout String) {
    guard var range = range(ofObject: key, in: text) else { return }
    if text[range.upperBound...].hasPrefix(",") {
      range = range.lowerBound..<text.index(after: range.upperBound)
    } else if text[..<range.lowerBound].hasSuffix(",") {
      range = text.index(before: range.lowerBound)..<range.upperBound
    }
    text.removeSubrange(range)
  }

  /// The text of a new reader's file. The numbers have no spellings yet, and the file is refused until it names the
  /// source of the spellings.
  public var readerText: String {
    func numbers(_ values: [Int]) -> String { values.map { "\"\($0)\": \"\"" }.joined(separator: ", ") }
    return """
      {
        "language": "\(language)",
        "source": "",
        "spaces": true,
        "numbers": {
          "zero": { \(numbers([0])) },
          "digit": { \(numbers(Array(1...9))) },
          "teen": { \(numbers(Array(10...19))) },
          "tens": { \(numbers(Array(stride(from: 20, through: 90, by: 10)))) }
        },
        "scales": {
          "hundred": { "100": "" }, "thousand": { "1000": "" }, "million": { "1000000": "" },
          "billion": { "1000000000": "" }, "trillion": { "1000000000000": "" }
        },
        "point": "",
        "between": "",
        "rules": {
          "below100": "digit | teen | tens [digit]",
          "below1000": "below100 | digit hundred [below100]",
          "belowMillion": "below1000 | below1000 thousand [below1000]",
          "millions": "below1000 million [belowMillion]",
          "billions": "below1000 billion [millions | belowMillion]",
          "trillions": "below1000 trillion [billions | millions | belowMillion]",
          "whole": "zero | trillions | billions | millions | belowMillion",
          "count": "whole",
          "decimal": "zero | digit"
        },
        "units": [
          { "currencies": ["\(Locale(identifier: locale).currency?.identifier ?? "USD")"], "names": "" }
        ]
      }

      """
  }
}
