// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reader's knowledge of one language: a file in `Readers/`, described in `docs/readers.md`.
///
/// The file shares nothing with the phrase books: its words come from another source, which it names.
final class ReadingLanguage: Sendable {
  /// A unit of money.
  struct Unit: Sendable {
    /// The currencies that the words name by themselves: “euro”.
    var currencies: Set<String>
    /// The currencies that the words only mean once another word has named the currency: “cent” after “dollar”.
    var whenNamed: Set<String>
    /// The exponent: the unit is 10^-fraction of the major unit. It is 0 for the major unit itself.
    var fraction: Int
    /// The index of the rule for the unit's counts.
    var rule: Int
    /// Whether the word for a skipped place must be said before this unit.
    var needsSkipped = false
  }

  let subtag: String
  let words: WordTree
  let grammar: NumberGrammar
  let units: [Unit]
  /// The indices of the rules for counts before the units of all currencies.
  let countRules: [Int]
  /// The indices of the rules for counts before the units of a currency, by the code of the currency.
  let countRulesOfCurrency: [String: [Int]]
  /// The spellings of the decimal point, folded.
  let points: [[UInt32]]
  /// The index of the rule for a number without a unit.
  let whole: Int
  /// The index of the rule for a number before a point.
  let beforePoint: Int
  /// The index of the rule for a count before a unit that names no rule.
  let count: Int
  /// The indices of the rules for a count of payments.
  let payments: [Int]
  /// The index of the rule for a digit behind the point.
  let decimal: Int
  /// The classes of the words of amounts, one bit for each. Other classes are for counts of payments only.
  let amountClasses: UInt64
  /// The classes in ``amountClasses`` whose words have a number.
  let numberClasses: UInt64
  /// Whether units stand before their counts: shilingi mia moja.
  let namesUnitFirst: Bool
  /// Whether the currency's name may stand before an amount with units: 人民币十二元.
  let namesCurrencyFirst: Bool
  /// Whether a word says that a place is skipped between two units: 十二元零五分.
  let saysSkipped: Bool
  /// The currencies whose major unit the file names. The reader knows all other currencies by CLDR's names.
  let named: Set<String>
  /// For each currency code of the file and each unit: whether the unit can belong to the currency, by itself (`plain`)
  /// and after the currency was named (`named`).
  let unitsOfCurrency: [String: (plain: [Bool], named: [Bool])]
  /// The value in place of ``unitsOfCurrency`` for a currency that is not in the file: no unit belongs to that
  /// currency.
  let noUnits: (plain: [Bool], named: [Bool])
  /// The characters that are read as other characters. They are few, so a search is faster than a table.
  private let folds: [(scalar: UInt32, other: [UInt32])]

  /// - Throws: ``NumberGrammar/Fault``, which describes the fault in the file.
  init(data: Data) throws(NumberGrammar.Fault) {
    let file: File
    do { file = try JSONDecoder().decode(File.self, from: data) } catch {
      throw NumberGrammar.Fault(text: "is not a reader's file (\(File.place(of: error)))")
    }
    guard !file.source.isEmpty else { throw NumberGrammar.Fault(text: "source is empty") }
    subtag = file.language
    let separatesWords = file.spaces
    let folds = (file.fold ?? [:]).flatMap { entry in
      entry.key.unicodeScalars.map { (scalar: $0.value, other: entry.value.unicodeScalars.map(\.value)) }
    }
    let kinds: [(role: NumberGrammar.Role, classes: [String: [String: String]])] = [
      (.number, file.numbers), (.scale, file.scales),
      (.joiner, (file.joiners ?? [:]).mapValues { ["0": $0] }),
    ]
    var classes: [(name: String, role: NumberGrammar.Role)] = []
    var words: [(text: [UInt32], meaning: WordTree.Meaning, counts: CountEndings?)] = []
    // The texts that are read are in the same normalization form.
    func fold(_ text: Substring) -> [UInt32] {
      Self.folded(String(text).precomposedStringWithCanonicalMapping, folds, separatesWords)
    }
    for (role, entries) in kinds {
      for (name, values) in entries.sorted(by: { $0.key < $1.key }) {
        for (value, spellings) in values {
          guard let value = Int64(value), value >= 0 else {
            throw NumberGrammar.Fault(text: "\(name) has “\(value)”, which is not a number")
          }
          for (spelling, counts) in try Self.spellings(spellings) {
            words.append((fold(spelling), .init(kind: .word, place: Int32(classes.count), value: value), counts))
          }
        }
        classes.append((name, role))
      }
    }
    for (text, kind) in [
      (file.point, WordTree.Meaning.Kind.point), (file.between ?? "", .between), (file.skipped ?? "", .skipped),
    ] {
      for (spelling, _) in try Self.spellings(text) { words.append((fold(spelling), .init(kind: kind), nil)) }
    }
    let grammar = try NumberGrammar(file.rules, classes: classes)
    func rule(_ name: String) throws(NumberGrammar.Fault) -> Int {
      guard let rule = grammar.rule(name) else { throw NumberGrammar.Fault(text: "rules.\(name) is missing") }
      return rule
    }
    var units: [Unit] = []
    for unit in file.units {
      let rule = try rule(unit.count ?? "count")
      let fraction = unit.fraction ?? 0
      let currencies = Set(unit.currencies ?? [])
      let whenNamed = Set(unit.whenNamed ?? (fraction == 0 ? [] : unit.currencies ?? []))
      for (spelling, counts) in try Self.spellings(unit.names) {
        words.append((fold(spelling), .init(kind: .unit, place: Int32(units.count)), counts))
      }
      units.append(
        Unit(
          currencies: currencies, whenNamed: whenNamed, fraction: fraction, rule: rule,
          needsSkipped: unit.skipped ?? false))
    }
    named = units.reduce(into: []) { if $1.fraction == 0 { $0.formUnion($1.currencies) } }
    for (code, other) in (file.otherNames ?? [:]).sorted(by: { $0.key < $1.key }) {
      for (spelling, counts) in try Self.spellings(other.names) {
        words.append((fold(spelling), .init(kind: .unit, place: Int32(units.count)), counts))
      }
      units.append(Unit(currencies: [code], whenNamed: [], fraction: 0, rule: try rule(other.count ?? "count")))
    }
    whole = try rule("whole")
    count = try rule("count")
    beforePoint = grammar.rule("beforePoint") ?? whole
    decimal = try rule("decimal")
    countRules = Set(units.map(\.rule) + [count]).sorted()
    amountClasses = grammar.classes(of: countRules + [whole, beforePoint], withJoiners: true)
    numberClasses = grammar.classes(of: countRules + [whole, beforePoint], withJoiners: false)
    payments = grammar.rule("payments").map { [$0] } ?? countRules
    namesCurrencyFirst = file.namedFirst ?? false
    saysSkipped = file.skipped != nil
    points = try Self.spellings(file.point).map { fold($0.spelling) }
    noUnits = (units.map { _ in false }, units.map { _ in false })
    let codes = units.reduce(into: Set<String>()) { $0.formUnion($1.currencies.union($1.whenNamed)) }
    unitsOfCurrency = codes.reduce(into: [:]) { table, code in
      table[code] = (units.map { $0.currencies.contains(code) }, units.map { $0.whenNamed.contains(code) })
    }
    var rules: [String: [Int]] = [:]
    // The name of another currency, from CLDR, does not tell its gender, so any rule may count it.
    for code in named {
      let own = units.filter { $0.currencies.contains(code) || $0.whenNamed.contains(code) }
      rules[code] = Set(own.map(\.rule)).sorted()
    }
    countRulesOfCurrency = rules
    namesUnitFirst = file.unitFirst ?? false
    self.words = WordTree(words, separatesWords: separatesWords)
    self.grammar = grammar
    self.units = units
    self.folds = folds
  }

  /// Returns the folded scalars of a text.
  func folded(_ text: String) -> [UInt32] { Self.folded(text, folds, words.separatesWords) }

  /// Folds scalars by the rules of this language. The scalars are already folded by the rules for every language.
  func folded(_ scalars: [UInt32]) -> [UInt32] { Self.folded(scalars, folds) }

  private static func folded(_ text: String, _ folds: [(scalar: UInt32, other: [UInt32])], _ separatesWords: Bool)
    -> [UInt32]
  {
    folded(Folding.scalars(of: text, separatesWords: separatesWords), folds)
  }

  private static func folded(_ scalars: [UInt32], _ folds: [(scalar: UInt32, other: [UInt32])]) -> [UInt32] {
    guard scalars.contains(where: { scalar in folds.contains { $0.scalar == scalar } }) else { return scalars }
    return scalars.flatMap { scalar in folds.first { $0.scalar == scalar }?.other ?? [scalar] }
  }

  /// Reads a list of spellings such as `рубль [1 -11] | рублей [5 6]`. The brackets have the counts with which a
  /// spelling may stand.
  private static func spellings(
    _ text: String
  ) throws(NumberGrammar.Fault) -> [(spelling: Substring, counts: CountEndings?)] {
    var spellings: [(Substring, CountEndings?)] = []
    for entry in text.split(separator: "|") {
      let parts = entry.split(separator: "[", maxSplits: 1)
      guard let spelling = parts.first.map({ $0.drop { $0 == " " } }) else { continue }
      guard parts.count > 1 else {
        spellings.append((spelling, nil))
        continue
      }
      guard let close = parts[1].firstIndex(of: "]"), let counts = CountEndings(parts[1][..<close]) else {
        throw NumberGrammar.Fault(text: "“\(entry)” has no list of counts in its brackets")
      }
      spellings.append((spelling, counts))
    }
    return spellings
  }

  /// The contents of a file.
  private struct File: Decodable {
    /// The BCP 47 language subtag.
    var language: String
    /// The source of the words.
    var source: String
    /// Whether spaces separate words. If not, they are ignored.
    var spaces: Bool
    /// Characters that are read as other characters, or ignored.
    var fold: [String: String]?
    var numbers: [String: [String: String]]
    var scales: [String: [String: String]]
    var joiners: [String: String]?
    var point: String
    var between: String?
    var rules: [String: String]
    var unitFirst: Bool?
    var namedFirst: Bool?
    var skipped: String?
    var units: [Unit]
    /// Names of major units in addition to CLDR's, by currency, for currencies that ``units`` does not have.
    var otherNames: [String: OtherName]?

    struct OtherName: Decodable {
      var names: String
      var count: String?

      private enum CodingKeys: String, CodingKey { case names, count }

      init(from decoder: any Decoder) throws {
        if let names = try? decoder.singleValueContainer().decode(String.self) {
          self.names = names
          return
        }
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        names = try fields.decode(String.self, forKey: .names)
        count = try fields.decodeIfPresent(String.self, forKey: .count)
      }
    }

    struct Unit: Decodable {
      var currencies: [String]?
      var whenNamed: [String]?
      var fraction: Int?
      var names: String
      /// The rule for the unit's counts; `count` if the key is missing.
      var count: String?
      var skipped: Bool?
    }

    static func place(of error: any Error) -> String {
      guard let error = error as? DecodingError else { return "not JSON" }
      switch error {
      case .keyNotFound(let key, let context):
        return "no " + (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "not JSON" : "at \(path)"
      @unknown default: return "not JSON"
      }
    }
  }
}
