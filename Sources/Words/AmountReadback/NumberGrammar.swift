// SPDX-License-Identifier: Apache-2.0

/// The whole numbers of a language, as rules over classes of words:
///
///     "below1000": "below100 | digit hundred [[and] below100]"
///
/// `|` separates alternatives, brackets enclose what may be missing, and every other word names a rule or a class. A
/// `?` at the end of an alternative says that people understand it in two ways.
///
/// An alternative's value is the sum of its parts. A scale, such as “hundred”, multiplies the parts since the last
/// scale, or 1 if there are none. The grammar finds every way to read a text, so it notices a text with two values.
final class NumberGrammar: Sendable {
  /// A part of a rule.
  private enum Symbol: Sendable, Hashable {
    case rule(Int)
    case words(Int)
  }

  /// A place between two parts. Alternatives that begin alike share their places.
  private struct Place: Sendable {
    /// The range, in ``steps``, of the steps that leave this place.
    var steps: Range<Int> = 0..<0
    var end = End.none
  }

  /// Whether an alternative can end at a place, and whether the alternative then means only one number.
  private enum End: Sendable {
    case none, clear, doubtful
  }

  private struct Step: Sendable {
    var symbol: Symbol
    var next: Int
  }

  private struct Rule: Sendable {
    var name: String
    /// The index, in ``places``, of the rule's first place.
    var start = 0
    /// The classes of the words with which the rule can begin, one bit for each.
    var beginnings: UInt64 = 0
  }

  /// The largest number of classes of words, because each class takes one bit of a 64-bit integer.
  private static let mostClasses = 64

  /// The effect that the words of a class have in a number.
  enum Role: Sendable {
    /// Each word adds its number: “three”.
    case number
    /// Each word multiplies what stands before it: “hundred”.
    case scale
    /// The words have no number: “and”.
    case joiner
  }

  /// A fault in the rules.
  struct Fault: Error {
    var text: String
  }

  private let rules: [Rule]
  private let places: [Place]
  private let steps: [Step]
  private let roles: [Role]

  /// - Parameters:
  ///   - texts: the rules by name.
  ///   - classes: the names of the classes, and the roles of their words.
  init(_ texts: [String: String], classes: [(name: String, role: Role)]) throws(Fault) {
    let names = texts.keys.sorted()
    var rules = names.map { Rule(name: $0) }
    var places: [Place] = []
    var steps: [Step] = []
    roles = classes.map(\.role)
    guard classes.count <= Self.mostClasses else {
      throw Fault(text: "has \(classes.count) classes of words instead of at most \(Self.mostClasses)")
    }
    var symbols: [String: Symbol] = [:]
    for (index, (name, _)) in classes.enumerated() { symbols[name] = .words(index) }
    for (index, name) in names.enumerated() {
      guard symbols.updateValue(.rule(index), forKey: name) == nil else {
        throw Fault(text: "rules.\(name) has the name of a class of words")
      }
    }
    for (index, name) in names.enumerated() {
      var tree = [AlternativeTree()]
      for var names in try Self.alternatives(of: texts[name] ?? "", in: name) {
        let isDoubtful = names.last == "?"
        if isDoubtful { names.removeLast() }
        var parts: [Symbol] = []
        for part in names {
          guard let symbol = symbols[part] else {
            throw Fault(text: "rules.\(name) contains “\(part)”, which is neither a rule nor a class of words")
          }
          parts.append(symbol)
        }
        guard !parts.isEmpty else { throw Fault(text: "rules.\(name) can be empty") }
        AlternativeTree.add(parts, isDoubtful ? .doubtful : .clear, to: &tree)
      }
      rules[index].start = places.count
      for node in tree {
        let first = steps.count
        steps += node.steps.map { Step(symbol: $0.symbol, next: rules[index].start + $0.next) }
        places.append(Place(steps: first..<steps.count, end: node.end))
      }
    }
    for index in rules.indices {
      guard let beginnings = Self.beginnings(of: index, rules, places, steps, inside: []) else {
        throw Fault(text: "rules.\(rules[index].name) begins with itself")
      }
      rules[index].beginnings = beginnings
    }
    self.rules = rules
    self.places = places
    self.steps = steps
  }

  /// Returns the index of a rule by its name.
  func rule(_ name: String) -> Int? { rules.firstIndex { $0.name == name } }

  /// Returns the classes of words that rules use, directly or through other rules, one bit for each.
  func classes(of rules: [Int], withJoiners: Bool) -> UInt64 {
    var classes: UInt64 = 0
    var (left, seen) = (rules, Set(rules))
    while let rule = left.popLast() {
      let end = rule + 1 < self.rules.count ? self.rules[rule + 1].start : places.count
      for step in places[self.rules[rule].start..<end].flatMap({ steps[$0.steps] }) {
        switch step.symbol {
        case .words(let kind): if withJoiners || roles[kind] != .joiner { classes |= 1 << UInt64(kind) }
        case .rule(let inner): if seen.insert(inner).inserted { left.append(inner) }
        }
      }
    }
    return classes
  }

  /// Finds every number that a rule can read from a place on.
  ///
  /// - Returns: the range of the numbers in the lattice.
  /// - Throws: `.outOfRange` if a number does not fit into 64 bits.
  func readings(_ rule: Int, at start: Int, in lattice: inout WordLattice) throws(Refusal) -> Range<Int> {
    guard lattice.classes(at: start) & rules[rule].beginnings != 0 else { return 0..<0 }
    if let known = lattice.readings(of: rule, at: start) { return known }
    let first = lattice.beginRule()
    try read(rules[rule].start, State(end: start), &lattice, since: first)
    return lattice.endRule(since: first, rule, at: start)
  }

  /// The sum of the words of a rule that were read so far.
  private struct State {
    var sum: Int64 = 0
    /// The sum that the next scale multiplies; -1 if nothing was read since the last scale.
    var current: Int64 = -1
    var end: Int
    var isDoubtful = false
  }

  private func read(
    _ place: Int, _ state: State, _ lattice: inout WordLattice, since first: Int
  ) throws(Refusal) {
    if places[place].end != .none {
      let value = try state.sum.adding(max(0, state.current))
      let isDoubtful = state.isDoubtful || places[place].end == .doubtful
      lattice.add(WordLattice.Reading(value: value, end: state.end, isDoubtful: isDoubtful), since: first)
    }
    for step in places[place].steps {
      let next = steps[step].next
      switch steps[step].symbol {
      case .rule(let inner):
        for index in try readings(inner, at: state.end, in: &lattice) {
          let part = lattice.reading(index)
          let current = try max(0, state.current).adding(part.value)
          let isDoubtful = state.isDoubtful || part.isDoubtful
          try read(
            next, State(sum: state.sum, current: current, end: part.end, isDoubtful: isDoubtful), &lattice, since: first
          )
        }
      case .words(let kind):
        guard lattice.classes(at: state.end) & 1 << UInt64(kind) != 0 else { continue }
        for index in lattice.matches(at: state.end) {
          let match = lattice.match(index)
          guard match.meaning.kind == .word, match.meaning.place == kind,
            let state = try self.state(after: match, roles[kind], state, lattice)
          else { continue }
          try read(next, state, &lattice, since: first)
        }
      }
    }
  }

  private func state(
    after match: WordTree.Match, _ role: Role, _ state: State, _ lattice: borrowing WordLattice
  ) throws(Refusal) -> State? {
    var next = state
    next.end = match.end
    switch role {
    case .joiner: break
    case .number: next.current = try max(0, state.current).adding(match.meaning.value)
    case .scale:
      let count = state.current < 0 ? 1 : state.current
      guard lattice.fits(match.meaning, count) else { return nil }
      next.sum = try state.sum.adding(count.multiplied(by: match.meaning.value))
      next.current = -1
    }
    return next
  }

  // MARK: Rules

  /// Returns the classes with which a rule can begin; `nil` if the rule can begin with itself.
  private static func beginnings(
    of rule: Int, _ rules: [Rule], _ places: [Place], _ steps: [Step], inside outer: Set<Int>
  ) -> UInt64? {
    guard !outer.contains(rule) else { return nil }
    var classes: UInt64 = 0
    for step in places[rules[rule].start].steps {
      switch steps[step].symbol {
      case .words(let kind): classes |= 1 << UInt64(kind)
      case .rule(let inner):
        guard let more = beginnings(of: inner, rules, places, steps, inside: outer.union([rule])) else { return nil }
        classes |= more
      }
    }
    return classes
  }

  /// The alternatives of one rule, while they are collected.
  private struct AlternativeTree {
    var steps: [(symbol: Symbol, next: Int)] = []
    var end = End.none

    /// Adds an alternative to a tree. The first element is the root.
    static func add(_ parts: [Symbol], _ end: End, to tree: inout [AlternativeTree]) {
      var place = 0
      for part in parts {
        if let step = tree[place].steps.first(where: { $0.symbol == part }) {
          place = step.next
        } else {
          tree[place].steps.append((part, tree.count))
          place = tree.count
          tree.append(AlternativeTree())
        }
      }
      if tree[place].end != .clear { tree[place].end = end }
    }
  }

  /// Returns the alternatives of a rule's text, with and without each part that may be missing.
  private static func alternatives(of text: String, in rule: String) throws(Fault) -> [[String]] {
    var words = text.replacing("[", with: " [ ").replacing("]", with: " ] ").replacing("|", with: " | ")
      .split(separator: " ").map(String.init)[...]
    let alternatives = try self.alternatives(&words, in: rule)
    guard words.isEmpty else { throw Fault(text: "rules.\(rule) has a “]” without “[”") }
    return alternatives
  }

  private static func alternatives(_ words: inout ArraySlice<String>, in rule: String) throws(Fault) -> [[String]] {
    var done: [[String]] = []
    var current: [[String]] = [[]]
    while let word = words.first, word != "]" {
      words.removeFirst()
      switch word {
      case "|":
        done += current
        current = [[]]
      case "[":
        let inner = try alternatives(&words, in: rule)
        guard words.first == "]" else { throw Fault(text: "rules.\(rule) has a “[” without “]”") }
        words.removeFirst()
        current = current.flatMap { beginning in [beginning] + inner.map { beginning + $0 } }
      default: current = current.map { $0 + [word] }
      }
    }
    return done + current
  }
}
