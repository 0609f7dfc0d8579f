// SPDX-License-Identifier: Apache-2.0

/// The words of a language as a trie over folded scalars. The trie is stored in one hash table with open addressing.
/// Following one scalar takes one multiplication and usually one lookup.
struct Lexicon: Sendable {
  let separatesWords: Bool

  private struct Edge {
    /// The node and the scalar; `empty` for an unused slot.
    var key: UInt64
    var child: Int32
  }

  private static let empty = UInt64.max
  private var edges: [Edge]
  private let shift: UInt64
  /// For each node, the index in `tokens` of the word that ends there; -1 if none does.
  private var words: [Int32] = [-1]
  private var tokens: [Token] = []

  /// Builds a lexicon.
  ///
  /// - Precondition: no spelling has two meanings. Two meanings would be a mistake in a table, which any test of the
  ///   language would find.
  init(words entries: [Word], units: [UnitName], separatesWords: Bool) {
    self.separatesWords = separatesWords
    var spellings = entries.map { ($0.text, $0.token) }
    for name in units {
      let token = Token(kind: .unit, tag: name.unit.tag, value: 0, unit: name.unit)
      spellings += name.names.map { ($0, token) }
    }
    let folded = spellings.map { (Folding.scalars(of: $0.0, separatesWords: separatesWords), $0.1) }
    let most = folded.reduce(1) { $0 + $1.0.count }
    var bits: UInt64 = 4
    while (1 << bits) < most * 2 { bits += 1 }
    shift = 64 - bits
    edges = Array(repeating: Edge(key: Self.empty, child: 0), count: 1 << bits)
    for (scalars, token) in folded { add(scalars, token) }
  }

  private mutating func add(_ scalars: [UInt32], _ token: Token) {
    var node: Int32 = 0
    for scalar in scalars {
      let slot = slot(node, scalar)
      if edges[slot].key == Self.empty {
        edges[slot] = Edge(key: Self.key(node, scalar), child: Int32(words.count))
        words.append(-1)
      }
      node = edges[slot].child
    }
    let known = words[Int(node)]
    // Not from outside: the words are those of the languages of this module.
    precondition(node != 0, "A word must have at least one letter.")
    // Not from outside: the words are those of the languages of this module.
    precondition(known < 0 || tokens[Int(known)] == token, "A spelling has two meanings: \(scalars)")
    guard known < 0 else { return }
    words[Int(node)] = Int32(tokens.count)
    tokens.append(token)
  }

  private static func key(_ node: Int32, _ scalar: UInt32) -> UInt64 {
    UInt64(UInt32(bitPattern: node)) << 21 | UInt64(scalar)
  }

  /// Returns the slot of an edge or, if the edge does not exist yet, the slot in which to put it.
  private func slot(_ node: Int32, _ scalar: UInt32) -> Int {
    let key = Self.key(node, scalar)
    var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while edges[slot].key != key && edges[slot].key != Self.empty {
      slot = (slot + 1) & (edges.count - 1)
    }
    return slot
  }

  /// Returns whether a word for a number, a scale or a point is at the start of folded text.
  func beginsWithNumber(_ scalars: ArraySlice<UInt32>) -> Bool {
    var node: Int32 = 0
    for scalar in scalars {
      let edge = edges[slot(node, scalar)]
      if edge.key == Self.empty { return false }
      node = edge.child
      let word = words[Int(node)]
      if word >= 0, ![.unit, .joiner].contains(tokens[Int(word)].kind) { return true }
    }
    return false
  }

  /// Divides folded text into words. At each position the longest possible word is used.
  ///
  /// - Throws: `.unreadable` when a word is not in the lexicon.
  func tokens(of scalars: ArraySlice<UInt32>) throws(Refusal) -> [Token] {
    var result: [Token] = []
    result.reserveCapacity(24)
    var start = scalars.startIndex
    let end = scalars.endIndex
    while start < end {
      var node: Int32 = 0
      var index = start
      var word: Int32 = -1
      var wordEnd = start
      while index < end {
        let edge = edges[slot(node, scalars[index])]
        if edge.key == Self.empty { break }
        node = edge.child
        index += 1
        let found = words[Int(node)]
        if found >= 0, !separatesWords || index == end || scalars[index] == Folding.space {
          word = found
          wordEnd = index
        }
      }
      guard word >= 0 else { throw .unreadable }
      result.append(tokens[Int(word)])
      start = wordEnd
      if separatesWords, start < end { start += 1 }
    }
    return result
  }
}
