// SPDX-License-Identifier: Apache-2.0

/// A language's plural rules for whole numbers, in the notation of CLDR (UTS 35, part 3, section “Language plural
/// rules”), so a book can take CLDR's text:
///
///     "few": "v = 0 and i % 10 = 2..4 and i % 100 != 12..14"
///
/// A number belongs to the first category whose rule it fits, in the order of ``PluralCategory``, or else to `other`.
struct PluralRules: Sendable {
  /// A comparison, such as `i % 10 = 2..4`.
  private struct Relation: Sendable {
    /// Whether the operand is the number itself. Every other operand of CLDR is 0 for a whole number.
    var isNumber: Bool
    /// The divisor of the number; `nil` if the whole number is compared.
    var divisor: Int64?
    var isNegated: Bool
    var ranges: [ClosedRange<Int64>]

    func fits(_ number: Int64) -> Bool {
      let value = isNumber ? divisor.map { number % $0 } ?? number : 0
      return ranges.contains { $0.contains(value) } != isNegated
    }
  }

  /// What is wrong with a rule.
  struct Fault: Error {
    var text: String
  }

  /// The rules. A number fits a rule if all relations of one of the alternatives fit.
  private let rules: [(category: PluralCategory, alternatives: [[Relation]])]

  /// The rules of a book without `plurals`: `one` for 1, and `other` for all other numbers.
  static let usual = PluralRules(rules: [
    (.one, [[Relation(isNumber: true, divisor: nil, isNegated: false, ranges: [1...1])]])
  ])

  private init(rules: [(category: PluralCategory, alternatives: [[Relation]])]) { self.rules = rules }

  init(_ texts: [String: String]) throws(Fault) {
    if let unknown = texts.keys.sorted().first(where: { PluralCategory(rawValue: $0) == nil || $0 == "other" }) {
      throw Fault(text: "plurals.\(unknown) is not one of the categories with rules: zero, one, two, few and many")
    }
    var rules: [(PluralCategory, [[Relation]])] = []
    for category in PluralCategory.allCases {
      guard let text = texts[category.rawValue] else { continue }
      var alternatives: [[Relation]] = []
      // CLDR's samples follow the rule itself.
      for alternative in text.prefix(while: { $0 != "@" }).split(separator: " or ") {
        var relations: [Relation] = []
        for relation in alternative.split(separator: " and ") {
          guard let relation = Self.relation(relation) else {
            throw Fault(
              text: "plurals.\(category.rawValue) has “\(relation)”, which is not a condition such as n % 10 = 2..4")
          }
          relations.append(relation)
        }
        alternatives.append(relations)
      }
      rules.append((category, alternatives))
    }
    self.rules = rules
  }

  /// Returns the category of a whole number.
  func category(of number: Int64) -> PluralCategory {
    rules.first { $0.alternatives.contains { $0.allSatisfy { $0.fits(number) } } }?.category ?? .other
  }

  private static func relation(_ text: Substring) -> Relation? {
    var words = text.replacing("!=", with: " != ").replacing("%", with: " % ").split(separator: " ")[...]
    if let index = words.firstIndex(where: { $0.contains("=") && $0.count > 1 && $0 != "!=" }) {
      let parts = words[index].replacing("=", with: " = ").split(separator: " ")
      words.replaceSubrange(index...index, with: parts.map { Substring($0) })
    }
    guard let operand = words.popFirst(), operand.count == 1, "nivwftce".contains(operand) else { return nil }
    var divisor: Int64?
    if words.first == "%" {
      words.removeFirst()
      guard let value = words.popFirst().flatMap({ Int64($0) }), value > 0 else { return nil }
      divisor = value
    }
    guard let sign = words.popFirst(), sign == "=" || sign == "!=" else { return nil }
    var ranges: [ClosedRange<Int64>] = []
    for part in words.joined().split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "..", omittingEmptySubsequences: false).map { Int64($0) }
      guard (1...2).contains(ends.count), let low = ends[0], let high = ends[ends.count - 1], low <= high else {
        return nil
      }
      ranges.append(low...high)
    }
    return Relation(
      isNumber: operand == "n" || operand == "i", divisor: divisor, isNegated: sign == "!=", ranges: ranges)
  }
}

/// The categories of CLDR's plural rules.
enum PluralCategory: String, Sendable, CaseIterable {
  case zero, one, two, few, many, other
}

/// A text in the forms that a language's plural categories need. A category without a form has the form of `other`.
struct PluralForms: Sendable, Decodable, Hashable {
  private var forms: [String: String]
  let other: String

  init(_ other: String, one: String? = nil) {
    self.other = other
    forms = one.map { ["one": $0] } ?? [:]
  }

  private enum CodingKeys: String, CodingKey, CaseIterable { case zero, one, two, few, many, other }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    other = try fields.decode(String.self, forKey: .other)
    forms = [:]
    for key in CodingKeys.allCases where key != .other {
      forms[key.rawValue] = try fields.decodeIfPresent(String.self, forKey: key)
    }
  }

  subscript(category: PluralCategory) -> String { forms[category.rawValue] ?? other }

  /// All forms, each once.
  var all: Set<String> { Set(forms.values).union([other]) }
}
