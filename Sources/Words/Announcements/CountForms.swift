// SPDX-License-Identifier: Apache-2.0

/// The sets of rules for counts, that is, for numbers before a noun, in languages whose numbers change before a noun.
/// Spanish says `veintiuno` for the number, but `veintiún pesos` and `veintiuna libras` for money.
struct CountForms: Sendable, Decodable {
  /// The name of the set of rules for counts. If it is missing, the set for numbers is used.
  var counted: String?
  /// The sets for nouns with a grammatical gender. The keys are names for the genders, and each unit refers to its
  /// gender by this name.
  var genders: [String: Gender]?

  struct Gender: Sendable, Decodable {
    var rules: String
    /// The ISO 4217 codes of the currencies whose major unit has this gender, for currencies without units in the book.
    var currencies: Set<String>?
  }

  /// What is wrong with the forms, for the error of the phrase book that contains them; `nil` if they are valid.
  ///
  /// - Parameter rules: the rules that must have the sets.
  func fault(_ rules: NumberRules) -> String? {
    let sets = [("counted", counted)] + (genders ?? [:]).map { ("genders.\($0.key)", $0.value.rules) }
    for (place, name) in sets.sorted(by: { $0.0 < $1.0 }) {
      if let name, rules.set(name) == nil {
        return "numbers.\(place) contains “\(name)”, but numbers.rules has no such set"
      }
    }
    for (name, gender) in (genders ?? [:]).sorted(by: { $0.key < $1.key }) {
      if let unknown = gender.currencies?.filter({ Currency(code: $0) == nil }).min() {
        return "numbers.genders.\(name): \(unknown) is not a currency in use (ISO 4217)"
      }
    }
    return nil
  }
}

/// The sets of rules that ``CountForms`` names, found among the rules of a book.
struct CountRules: Sendable {
  /// The indices of the sets of rules, as ``NumberRules/set(_:)`` returns them.
  private let counted: Int
  private let genders: [String: Int]
  private let genderOfCurrency: [String: String]

  init(_ forms: CountForms, in rules: NumberRules) {
    counted = forms.counted.flatMap(rules.set) ?? 0
    genders = (forms.genders ?? [:]).compactMapValues { rules.set($0.rules) }
    genderOfCurrency = (forms.genders ?? [:]).reduce(into: [:]) { genders, entry in
      for code in entry.value.currencies ?? [] { genders[code] = entry.key }
    }
  }

  /// Returns the set of rules for a count of a noun with this gender.
  func set(_ gender: String?) -> Int { gender.flatMap { genders[$0] } ?? counted }

  func gender(of currency: Currency) -> String? { genderOfCurrency[currency.code] }

  /// All sets of rules that write numbers.
  var all: Set<Int> { Set(genders.values).union([0, counted]) }
}
