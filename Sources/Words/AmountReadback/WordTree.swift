// SPDX-License-Identifier: Apache-2.0

/// All spellings of a language's words, as a tree over folded scalars. It finds every word that begins at a place, and
/// not only the longest one: 三千 is a word, and so is 三.
///
/// The tree is stored in one hash table with open addressing, because reading an amount takes some hundred look-ups.
final class WordTree: Sendable {
  /// The meaning of a word. One spelling can have several meanings.
  struct Meaning: Sendable, Hashable {
    var kind: Kind
    /// The index of the class of words, or of the unit; 0 for the other kinds.
    var place: Int32 = 0
    /// The number, or what a scale multiplies by; 0 for all other words.
    var value: Int64 = 0
    /// The index in ``counts`` of the counts with which the word may stand; -1 if the word may stand with any count.
    var counts: Int32 = -1

    enum Kind: UInt8 {
      /// A word of a class that rules name.
      case word
      case point
      /// A word between two parts of an amount: and.
      case between
      /// A word for a place that is skipped between two units: 零.
      case skipped
      case unit
    }
  }

  /// A word that was found, and the place where the next word begins.
  struct Match {
    var meaning: Meaning
    var end: Int
  }

  private struct Edge {
    /// The node and the scalar; `empty` for an unused slot.
    var key: UInt64
    var child: Int32
  }

  private static let empty = UInt64.max

  let separatesWords: Bool
  private let edges: [Edge]
  private let shift: UInt64
  /// For each node, the index of its first entry in ``entries``; -1 if no word ends at the node.
  private let first: [Int32]
  /// The meanings, each with the index of the next meaning of the same spelling; -1 if there is none.
  private let entries: [(meaning: Meaning, next: Int32)]
  private let counts: [CountEndings]

  /// - Parameter spellings: the words, folded, with their meanings and the counts with which they may stand.
  init(_ spellings: [(text: [UInt32], meaning: Meaning, counts: CountEndings?)], separatesWords: Bool) {
    self.separatesWords = separatesWords
    let most = spellings.reduce(1) { $0 + $1.text.count }
    var bits: UInt64 = 4
    while (1 << bits) < most * 2 { bits += 1 }
    let shift = 64 - bits
    var edges = Array(repeating: Edge(key: Self.empty, child: 0), count: 1 << bits)
    var first: [Int32] = [-1]
    var entries: [(meaning: Meaning, next: Int32)] = []
    var counts: [CountEndings] = []
    for (text, meaning, endings) in spellings where !text.isEmpty {
      var meaning = meaning
      if let endings {
        let known = counts.firstIndex(of: endings)
        if known == nil { counts.append(endings) }
        meaning.counts = Int32(known ?? counts.count - 1)
      }
      var node: Int32 = 0
      for scalar in text {
        let slot = Self.slot(node, scalar, edges, shift)
        if edges[slot].key == Self.empty {
          edges[slot] = Edge(key: Self.key(node, scalar), child: Int32(first.count))
          first.append(-1)
        }
        node = edges[slot].child
      }
      entries.append((meaning, first[Int(node)]))
      first[Int(node)] = Int32(entries.count - 1)
    }
    self.shift = shift
    self.edges = edges
    self.first = first
    self.entries = entries
    self.counts = counts
  }

  private static func key(_ node: Int32, _ scalar: UInt32) -> UInt64 {
    UInt64(UInt32(bitPattern: node)) << 21 | UInt64(scalar)
  }

  /// Returns the slot of an edge or, if the edge does not exist yet, the slot in which to put it.
  private static func slot(_ node: Int32, _ scalar: UInt32, _ edges: [Edge], _ shift: UInt64) -> Int {
    let key = key(node, scalar)
    var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while edges[slot].key != key && edges[slot].key != empty { slot = (slot + 1) & (edges.count - 1) }
    return slot
  }

  /// Appends the words that begin at a place in a folded text. If spaces separate words, each of them ends at a space
  /// or at the end of the text.
  func appendMatches(in text: [UInt32], at start: Int, to matches: inout [Match]) {
    var node: Int32 = 0
    for index in start..<text.count {
      let edge = edges[Self.slot(node, text[index], edges, shift)]
      if edge.key == Self.empty { return }
      node = edge.child
      var entry = first[Int(node)]
      guard entry >= 0, let next = next(after: index + 1, in: text) else { continue }
      while entry >= 0 {
        matches.append(Match(meaning: entries[Int(entry)].meaning, end: next))
        entry = entries[Int(entry)].next
      }
    }
  }

  /// Returns where the next word begins after a word that ends at a place; `nil` if no word can end there.
  func next(after end: Int, in text: [UInt32]) -> Int? {
    guard separatesWords, end < text.count else { return end }
    return text[end] == Folding.space ? end + 1 : nil
  }

  /// Returns whether a word fits the number before it: одна копейка, две копейки.
  func fits(_ meaning: Meaning, _ count: Int64) -> Bool {
    meaning.counts < 0 || counts[Int(meaning.counts)].contains(count)
  }
}
