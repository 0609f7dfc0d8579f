// SPDX-License-Identifier: Apache-2.0

/// A text, with the words and the numbers that were found in it so far.
struct WordLattice {
  /// A number that was read, and the place where the next word begins.
  struct Reading: Equatable {
    var value: Int64
    var end: Int
    /// Whether people understand the number's words in two ways.
    var isDoubtful: Bool
  }

  let text: [UInt32]
  private let words: WordTree

  /// For each place of the text, the range of its words in ``found``; the end is -1 if the words have not been looked
  /// for.
  private var places: [(start: Int32, end: Int32, classes: UInt64)]
  private var found: [WordTree.Match] = []

  /// The numbers that rules have read. The numbers of one rule at one place are consecutive.
  private var readings: [Reading] = []
  /// The numbers of the rules that are being read.
  private var pending: [Reading] = []
  /// The positions of the numbers of a rule at a place, as an open hash table; a key of 0 marks an unused entry.
  private var known: [(key: UInt32, start: Int32, end: Int32)]
  private var knownCount = 0

  init(_ text: [UInt32], _ words: WordTree) {
    self.text = text
    self.words = words
    places = Array(repeating: (0, -1, 0), count: text.count + 1)
    found.reserveCapacity(32)
    readings.reserveCapacity(32)
    pending.reserveCapacity(16)
    known = Array(repeating: (0, 0, 0), count: 64)
  }

  /// Returns the range of the words that begin at a place, for use with ``match(_:)``.
  mutating func matches(at place: Int) -> Range<Int> {
    find(place)
    return Int(places[place].start)..<Int(places[place].end)
  }

  /// Returns the classes of all words that begin at an index of the text. Each class is one bit.
  mutating func classes(at place: Int) -> UInt64 {
    find(place)
    return places[place].classes
  }

  /// Returns whether a word fits the number before it: одна копейка, две копейки.
  func fits(_ meaning: WordTree.Meaning, _ count: Int64) -> Bool { words.fits(meaning, count) }

  func match(_ index: Int) -> WordTree.Match { found[index] }

  func reading(_ index: Int) -> Reading { readings[index] }

  private mutating func find(_ place: Int) {
    guard places[place].end < 0 else { return }
    let start = found.count
    words.appendMatches(in: text, at: place, to: &found)
    var classes: UInt64 = 0
    for index in start..<found.count where found[index].meaning.kind == .word {
      classes |= 1 << UInt64(found[index].meaning.place)
    }
    places[place] = (Int32(start), Int32(found.count), classes)
  }

  /// Returns whether the text consists of known words only.
  ///
  /// - Parameter classes: the permitted classes of words, one bit for each.
  mutating func consistsOfWords(_ classes: UInt64) -> Bool {
    var reached: Set<Int> = [0]
    for place in 0..<text.count where reached.contains(place) {
      for index in matches(at: place) {
        let meaning = found[index].meaning
        if meaning.kind != .word || classes & 1 << UInt64(meaning.place) != 0 { reached.insert(found[index].end) }
      }
    }
    return reached.contains(text.count)
  }

  // MARK: Numbers

  /// Returns the range of the numbers that a rule has read at a place, for use with ``reading(_:)``; `nil` if the rule
  /// was not read there.
  func readings(of rule: Int, at place: Int) -> Range<Int>? {
    let entry = known[slot(rule, place)]
    return entry.key == 0 ? nil : Int(entry.start)..<Int(entry.end)
  }

  /// Begins to collect the numbers of a rule. Rules that are read meanwhile append their numbers.
  ///
  /// - Returns: the index at which the rule's numbers begin.
  func beginRule() -> Int { pending.count }

  /// Adds a number of the rule that began last, unless the number is there already.
  mutating func add(_ reading: Reading, since first: Int) {
    for index in first..<pending.count where pending[index] == reading { return }
    pending.append(reading)
  }

  /// Stores the numbers of the rule that began last.
  mutating func endRule(since first: Int, _ rule: Int, at place: Int) -> Range<Int> {
    let start = readings.count
    for index in first..<pending.count { readings.append(pending[index]) }
    pending.removeLast(pending.count - first)
    if knownCount * 2 >= known.count { grow() }
    known[slot(rule, place)] = (Self.key(rule, place), Int32(start), Int32(readings.count))
    knownCount += 1
    return start..<readings.count
  }

  private static func key(_ rule: Int, _ place: Int) -> UInt32 { UInt32(rule) << 16 | UInt32(place + 1) }

  private func slot(_ rule: Int, _ place: Int) -> Int {
    let key = Self.key(rule, place)
    var slot = Int((key &* 0x9E37_79B1) >> 16) & (known.count - 1)
    while known[slot].key != 0 && known[slot].key != key { slot = (slot + 1) & (known.count - 1) }
    return slot
  }

  private mutating func grow() {
    let old = known
    known = Array(repeating: (0, 0, 0), count: old.count * 2)
    for entry in old where entry.key != 0 {
      known[slot(Int(entry.key >> 16), Int(entry.key & 0xFFFF) - 1)] = entry
    }
  }
}
