// SPDX-License-Identifier: Apache-2.0

/// Rules that write whole numbers in words.
///
/// The notation is a part of Unicode's notation for rule-based number formats (UTS 35, part 3). CLDR has rules for some
/// 70 languages in this notation, so a book can begin with CLDR's text:
///
///     %count: 0: zero; one; two; …; 20: twenty[->>]; 30: thirty[->>]; …; 100: << hundred[ >>];
///
/// Crier reads the rules itself, because the words differ between versions of ICU, and the names of clips depend on the
/// words.
struct NumberRules: Sendable {
  /// A group of rules, sorted by the first number to which each rule applies.
  private struct RuleSet: Sendable {
    var name: String
    var rules: [Rule] = []
  }

  private struct Rule: Sendable {
    /// The smallest number that the rule writes.
    var base: Int64
    /// The divisor of the rule: the highest power of the radix that is not above the base.
    var divisor: Int64
    var parts: [Part] = []
    /// Whether the rule writes both the quotient and the remainder.
    var isComplete = false
  }

  /// A part of a rule's text. The numbers are the indices of sets in ``sets``.
  private indirect enum Part: Sendable {
    case text([Piece])
    /// `<<`, or `<%set<`: the quotient.
    case quotient(Int)
    /// `>>`, or `>%set>`: the remainder.
    case remainder(Int)
    /// `=%set=`: the number itself.
    case same(Int)
    /// `[…]`: a part that is left out if the remainder is 0. In `[…|…]`, the second part is said instead.
    case optional([Part], instead: [Part])
    /// `$(cardinal,one{…}other{…})$`: the form for the plural category of the quotient.
    case plural([PluralCategory: [Piece]])

    var isQuotient: Bool { if case .quotient = self { true } else { false } }
    var isRemainder: Bool { if case .remainder = self { true } else { false } }
  }

  /// A part of a text up to the end of a word.
  private struct Piece: Sendable {
    var text = ""
    var end = End.none

    enum End { case none, space, joint }
  }

  /// A fault in rules, with its place.
  struct Fault: Error {
    var text: String
  }

  private var sets: [RuleSet] = []
  private let plurals: PluralRules

  /// - Parameters:
  ///   - lines: the text of the rules. The first set writes the numbers.
  ///   - plurals: the plural rules of the language.
  /// - Throws: ``Fault``.
  init(_ lines: [String], plurals: PluralRules = .usual) throws(Fault) {
    self.plurals = plurals
    let statements = lines.joined(separator: "\n").replacing("→", with: ">").replacing("←", with: "<")
      .split(separator: ";").map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    var texts: [(set: Int, rule: Int, text: Substring)] = []
    for statement in statements {
      var text = Substring(statement)
      if text.first == "%", let colon = text.firstIndex(of: ":") {
        sets.append(RuleSet(name: String(text[..<colon].dropFirst())))
        text = text[text.index(after: colon)...].drop(while: \.isWhitespace)
        if text.isEmpty { continue }
      }
      if sets.isEmpty { sets.append(RuleSet(name: "")) }
      let set = sets.count - 1
      let rule = try Self.rule(&text, after: sets[set].rules.last)
      texts.append((set, sets[set].rules.count, text))
      sets[set].rules.append(rule)
    }
    guard !sets.isEmpty else { throw Fault(text: "has no rules") }
    for set in sets where set.rules.first?.base != 0 {
      throw Fault(text: "has no rule for 0\(set.name.isEmpty ? "" : " in %\(set.name)")")
    }
    for (set, rule, text) in texts {
      var rest = text.first == "'" ? text.dropFirst() : text
      let parts = try parts(&rest, in: set, until: [])
      sets[set].rules[rule].parts = parts
      sets[set].rules[rule].isComplete = Self.writes(parts, \.isQuotient) && Self.writes(parts, \.isRemainder)
      // Otherwise, the rule would write the same number again and again.
      guard sets[set].rules[rule].divisor > 1 || !Self.writes(parts, { $0.isQuotient || $0.isRemainder }) else {
        throw Fault(text: "has “<<” or “>>” in the rule for \(sets[set].rules[rule].base), which is below the radix")
      }
    }
    if let set = sets.indices.first(where: { reaches($0, from: $0) }) {
      throw Fault(text: "has a circle of “=%…=” from %\(sets[set].name)")
    }
  }

  /// Returns the words of a number that is not negative.
  ///
  /// - Parameter set: the index of the set that writes the number; see ``set(_:)``.
  func words(_ number: Int64, set: Int = 0) -> [NumberWord] {
    var output = Output()
    write(max(0, number), set, &output)
    return output.words
  }

  /// Returns the index of the set with a name, which begins with `%`; `nil` if there is no such set.
  func set(_ name: String) -> Int? { sets.firstIndex { "%" + $0.name == name } }

  // MARK: Writing

  /// The words so far.
  private struct Output {
    var words: [NumberWord] = []
    /// Whether the next text belongs to the last word.
    var isOpen = false

    mutating func append(_ piece: Piece) {
      if !piece.text.isEmpty {
        if isOpen { words[words.count - 1].text += piece.text } else { words.append(NumberWord(piece.text)) }
        isOpen = true
      }
      guard piece.end != .none, !words.isEmpty else { return }
      words[words.count - 1].isBound = piece.end == .joint
      isOpen = false
    }
  }

  private func write(_ number: Int64, _ set: Int, _ output: inout Output) {
    let rules = sets[set].rules
    // The first rule is for 0, so there is always a rule that applies.
    var index = rules.count - 1
    while index > 0, rules[index].base > number { index -= 1 }
    // A rule for 101 and above does not write 300, because no words for a remainder would follow (UTS 35).
    let rule = rules[index]
    if index > 0, rule.isComplete, number % rule.divisor == 0, rule.base % rule.divisor != 0 { index -= 1 }
    write(number, rules[index], rules[index].parts, &output)
  }

  private func write(_ number: Int64, _ rule: Rule, _ parts: [Part], _ output: inout Output) {
    for part in parts {
      switch part {
      case .text(let pieces): for piece in pieces { output.append(piece) }
      case .quotient(let set): write(number / rule.divisor, set, &output)
      case .remainder(let set): write(number % rule.divisor, set, &output)
      case .same(let set): write(number, set, &output)
      case .optional(let parts, let instead):
        write(number, rule, number % rule.divisor != 0 ? parts : instead, &output)
      case .plural(let forms):
        let category = plurals.category(of: number / rule.divisor)
        for piece in forms[category] ?? forms[.other] ?? [] { output.append(piece) }
      }
    }
  }

  // MARK: Reading

  /// Reads the beginning of a rule, such as `100:` or `20/20:`. A rule without such a beginning is for the next number.
  private static func rule(_ text: inout Substring, after last: Rule?) throws(Fault) -> Rule {
    var (base, radix) = ((last?.base ?? -1) + 1, Int64(10))
    if let colon = text.firstIndex(of: ":"), text.first?.isWholeNumber == true {
      let numbers = text[..<colon].split(separator: "/", omittingEmptySubsequences: false)
        .map { Int64($0.filter { $0 != "," }) }
      guard let first = numbers[0], first >= 0, numbers.count <= 2, let second = numbers.count == 2 ? numbers[1] : 10,
        second > 1
      else { throw Fault(text: "begins a rule with “\(text[...colon])”, which is not a number") }
      (base, radix) = (first, second)
      text = text[text.index(after: colon)...].drop(while: \.isWhitespace)
    }
    guard base > last?.base ?? -1 else {
      throw Fault(text: "has the rule for \(base) after that for \(last?.base ?? 0)")
    }
    var divisor = Int64(1)
    while base / divisor >= radix { divisor *= radix }
    return Rule(base: base, divisor: divisor)
  }

  /// The signs of the notation.
  private static let signs: Set<Unicode.Scalar> = ["[", "]", "|", "<", ">", "=", "$", "#", "%"]

  /// Reads the parts of a rule's text up to its end, or up to a character that ends an optional part.
  private func parts(_ text: inout Substring, in set: Int, until ends: Set<Character>) throws(Fault) -> [Part] {
    var parts: [Part] = []
    var literal: [Piece] = []
    func end() {
      if !literal.isEmpty { parts.append(.text(literal)) }
      literal = []
    }
    while let character = text.first {
      switch character {
      case _ where ends.contains(character):
        end()
        return parts
      case "[" where ends.isEmpty:
        end()
        text.removeFirst()
        let optional = try self.parts(&text, in: set, until: ["|", "]"])
        var instead: [Part] = []
        if text.first == "|" {
          text.removeFirst()
          instead = try self.parts(&text, in: set, until: ["]"])
        }
        parts.append(.optional(optional, instead: instead))
        guard text.first == "]" else { throw Fault(text: "has a “[” without “]” in %\(sets[set].name)") }
        text.removeFirst()
      case "$":
        end()
        parts.append(try plural(&text, in: set))
      case "<", ">", "=":
        end()
        parts.append(try substitution(&text, character, in: set))
      case "[", "]", "#", "%":
        throw Fault(text: "has “\(character)” where it cannot stand, in %\(sets[set].name)")
      case _ where Self.signs.contains(character.unicodeScalars.first ?? " ") && character.unicodeScalars.count > 1:
        // A combining mark forms one character with the sign before it, so the sign would be spoken.
        throw Fault(
          text: "has a combining mark without its letter in %\(sets[set].name): write the mark with its letter")
      default:
        text.removeFirst()
        Self.append(character, to: &literal)
      }
    }
    end()
    return parts
  }

  /// Reads `$(cardinal,one{…}other{…})$`.
  private func plural(_ text: inout Substring, in set: Int) throws(Fault) -> Part {
    let place = "“$” in %\(sets[set].name)"
    let opening = "$(cardinal,"
    guard text.hasPrefix(opening), let end = text.firstRange(of: ")$") else {
      throw Fault(text: "has a \(place) that is not $(cardinal,one{…}other{…})$")
    }
    var forms: [PluralCategory: [Piece]] = [:]
    for form in text[..<end.lowerBound].dropFirst(opening.count).split(separator: "}") {
      let parts = form.split(separator: "{", omittingEmptySubsequences: false)
      guard parts.count == 2, let category = PluralCategory(rawValue: String(parts[0])) else {
        throw Fault(text: "has a form “\(form)” after a \(place), which is not a plural category with a word in braces")
      }
      var literal: [Piece] = []
      for character in parts[1] { Self.append(character, to: &literal) }
      forms[category] = literal
    }
    guard forms[.other] != nil else { throw Fault(text: "has no form “other” after a \(place)") }
    text = text[end.upperBound...]
    return .plural(forms)
  }

  /// Reads `<<` or `>>`, which may have the name of a set in between, or reads `=%set=`.
  private func substitution(_ text: inout Substring, _ sign: Character, in set: Int) throws(Fault) -> Part {
    text.removeFirst()
    guard let end = text.firstIndex(of: sign) else { throw Fault(text: "has one “\(sign)” without a second one") }
    let name = text[..<end]
    text = text[text.index(after: end)...]
    guard let named = name.isEmpty ? set : sets.firstIndex(where: { "%" + $0.name == name }) else {
      throw Fault(text: "has no set “\(name)”, which a rule of %\(sets[set].name) uses")
    }
    switch sign {
    case "<": return .quotient(named)
    case ">": return .remainder(named)
    default:
      guard named != set else { throw Fault(text: "has “==” in %\(sets[set].name): name another set") }
      return .same(named)
    }
  }

  private static func append(_ character: Character, to literal: inout [Piece]) {
    if literal.last?.end ?? .space != .none { literal.append(Piece()) }
    switch character {
    case " ", "\n", "\u{A0}": literal[literal.count - 1].end = .space
    // A place where a compound may be broken: Korean syllables, German and Thai words.
    case "\u{AD}", "\u{200B}": literal[literal.count - 1].end = .joint
    case "-":
      literal[literal.count - 1].text.append(character)
      literal[literal.count - 1].end = .joint
    default: literal[literal.count - 1].text.append(character)
    }
  }

  private static func writes(_ parts: [Part], _ what: (Part) -> Bool) -> Bool {
    parts.contains { part in
      if case .optional(let inner, let instead) = part {
        writes(inner, what) || writes(instead, what)
      } else {
        what(part)
      }
    }
  }

  /// Whether a set passes the unchanged number on to another set.
  private func reaches(_ target: Int, from set: Int, by seen: Set<Int> = []) -> Bool {
    let next = sets[set].rules.flatMap { Self.sameSets($0.parts) }
    return next.contains { $0 == target || (!seen.contains($0) && reaches(target, from: $0, by: seen.union([$0]))) }
  }

  private static func sameSets(_ parts: [Part]) -> [Int] {
    parts.flatMap { part -> [Int] in
      switch part {
      case .same(let set): [set]
      case .optional(let inner, let instead): sameSets(inner) + sameSets(instead)
      case .text, .quotient, .remainder, .plural: []
      }
    }
  }
}
