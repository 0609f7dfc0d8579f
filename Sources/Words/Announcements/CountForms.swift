// SPDX-License-Identifier: Apache-2.0

/// The forms of number words in a count, that is, before a noun, in languages whose numbers agree with the noun.
/// Spanish says `veintiuno` for the number, but `veintiún pesos` and `veintiuna libras` for money.
struct CountForms: Sendable, Decodable {
  /// The form of a count's last word before any unit. The form may be several words: `uno` becomes `un`, and `millón`
  /// becomes `millón de`.
  var beforeUnit: [String: String]?
  var feminine: Feminine?

  struct Feminine: Sendable, Decodable {
    /// The form of a number word before a feminine unit, at any position in the number: doscientas mil trescientas
    /// libras.
    var forms: [String: String]
    /// The number words that are themselves nouns, such as `millones`. A word that counts such a noun agrees with that
    /// noun and not with the unit. All words up to the last such noun therefore stay unchanged: doscientos millones
    /// trescientas libras.
    var nouns: Set<String>
    /// The ISO 4217 codes of the currencies whose major unit is feminine. They may include currencies without units in
    /// the book.
    var currencies: Set<String>
  }

  func isFeminine(_ currency: Currency) -> Bool { feminine?.currencies.contains(currency.code) ?? false }

  /// Returns the words of a number in the form that stands before a unit.
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

  /// What is wrong with the forms, for the error of the phrase book that contains them; `nil` if they are valid.
  var fault: String? {
    if beforeUnit?.values.contains(where: { $0.allSatisfy(\.isWhitespace) }) == true {
      return "numbers.beforeUnit contains an empty word"
    }
    let unknown = feminine?.currencies.filter { Currency(code: $0) == nil }.min()
    return unknown.map { "numbers.feminine.currencies: \($0) is not in ISO 4217" }
  }
}
