// SPDX-License-Identifier: Apache-2.0

/// How the words of a count change before what they count, in languages whose numbers agree with it: Spanish says
/// `veintiuno` of the number, `veintiún pesos` and `veintiuna libras` of money.
struct CountForms: Sendable, Decodable {
  /// What the last word of a count becomes before any unit, and it may become several: `uno` is un, and `millón` is
  /// millón de.
  var beforeUnit: [String: String]?
  var feminine: Feminine?

  struct Feminine: Sendable, Decodable {
    /// What a word becomes before a feminine unit, wherever it stands: doscientas mil trescientas libras.
    var forms: [String: String]
    /// The words of number that are nouns themselves. What counts them agrees with them and not with the unit, and so
    /// all up to the last of them stays as it is: doscientos millones trescientas libras.
    var nouns: Set<String>
    /// The currencies whose major unit is feminine (ISO 4217), with or without units of their own in the book.
    var currencies: Set<String>
  }

  func isFeminine(_ currency: Currency) -> Bool { feminine?.currencies.contains(currency.code) ?? false }

  /// The words of a number as they stand before a unit.
  func counting(_ number: [NumberWord], isFeminine: Bool) -> [NumberWord] {
    var words = number
    if isFeminine, let feminine {
      let start = words.lastIndex { feminine.nouns.contains($0.text) }.map { $0 + 1 } ?? 0
      for index in start..<words.count { words[index].text = feminine.forms[words[index].text] ?? words[index].text }
    }
    if let last = words.last, let changed = beforeUnit?[last.text] {
      words.replaceSubrange((words.count - 1)..., with: changed.split(separator: " ").map { NumberWord(String($0)) })
    }
    return words
  }

  /// What is wrong with the forms, for the phrase book that holds them.
  var fault: String? {
    if beforeUnit?.values.contains(where: { $0.allSatisfy(\.isWhitespace) }) == true {
      return "numbers.beforeUnit has an empty word"
    }
    let unknown = feminine?.currencies.filter { Currency(code: $0) == nil }.min()
    return unknown.map { "numbers.feminine.currencies: \($0) is not in ISO 4217" }
  }
}
