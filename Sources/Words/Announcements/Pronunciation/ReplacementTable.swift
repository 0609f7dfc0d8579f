// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Replacements of words and phrases in a text. If several entries match at one place, the longest is used.
///
/// Letter case and the marks on Latin letters are ignored. Matching proceeds from left to right and continues after the
/// replaced text. An entry that maps a phrase to itself therefore protects the phrase from shorter entries inside it.
struct ReplacementTable: Sendable {
  struct Entry: Sendable {
    /// The key in lower case, without the marks on Latin letters.
    let key: [Unicode.Scalar]
    let value: String
    /// Whether the entry matches only between two word boundaries.
    let isWholeWord: Bool
    /// The length of the ending that the key and the value have in common, in scalars. The ending is always shorter
    /// than the key.
    let commonEnding: Int

    init(key: [Unicode.Scalar], value: String, isWholeWord: Bool) {
      self.key = key
      self.value = value
      self.isWholeWord = isWholeWord
      commonEnding = zip(key.dropFirst().reversed(), value.unicodeScalars.reversed()).prefix { $0 == $1 }.count
    }
  }

  /// The entries by the first two scalars of their key, or by the only scalar of a shorter key. The entry with the
  /// longest key is first.
  private var entries: [UInt64: [Entry]] = [:]

  /// The first scalars of all keys. Most letters of a text do not begin a key, so the entries are not searched for
  /// these letters. ``singles`` contains the keys that have only one scalar.
  private var starts = ScalarSet()
  private var singles = ScalarSet()

  /// The first scalars of the entries that may match inside a word. Most tables have only whole words, so the entries
  /// are not searched for most letters inside a word.
  private var innerStarts = ScalarSet()

  var isEmpty: Bool { entries.isEmpty }

  /// The keys, in no order.
  var keys: [[Unicode.Scalar]] { entries.values.joined().map(\.key) }

  /// Returns the table with each scalar of the keys transformed. If two keys become the same, only one of their entries
  /// is kept.
  func mapKeys(_ transform: (Unicode.Scalar) -> Unicode.Scalar) -> ReplacementTable {
    var table = ReplacementTable()
    for entry in entries.values.joined() {
      table.add(
        String(String.UnicodeScalarView(entry.key.map(transform))), entry.value, isWholeWord: entry.isWholeWord)
    }
    return table
  }

  /// Adds an entry. It replaces an earlier entry with the same key. An entry with an empty key is ignored.
  mutating func add(_ key: String, _ value: String, isWholeWord: Bool) {
    let scalars = key.unicodeScalars.map(\.lowercased.baseLetter)
    guard let first = scalars.first else { return }
    if !isWholeWord { innerStarts.insert(first) }
    starts.insert(first)
    if scalars.count == 1 { singles.insert(first) }
    let place = Self.place(first, scalars.count > 1 ? scalars[1] : nil)
    var list = entries[place] ?? []
    list.removeAll { $0.key == scalars }
    let entry = Entry(key: scalars, value: value, isWholeWord: isWholeWord)
    list.insert(entry, at: list.firstIndex { $0.key.count < scalars.count } ?? list.count)
    entries[place] = list
  }

  /// Adds the entries of another table. They replace entries with the same key.
  mutating func add(_ other: ReplacementTable) {
    for entry in other.entries.values.joined() {
      add(String(String.UnicodeScalarView(entry.key)), entry.value, isWholeWord: entry.isWholeWord)
    }
  }

  /// Returns the longest entry that matches at `index`; `nil` if none matches, or if `index` is after the end.
  ///
  /// - Parameter scalars: the text in lower case, scalar by scalar.
  func match(_ scalars: [Unicode.Scalar], at index: Int) -> Entry? {
    guard let first = start(scalars, at: index) else { return nil }
    if let entry = longer(first, scalars, at: index)?.first(where: { Self.matches($0, scalars, at: index) }) {
      return entry
    }
    return single(first).flatMap { Self.matches($0, scalars, at: index) ? $0 : nil }
  }

  /// Returns all entries that match at `index`, the longest first.
  func matches(_ scalars: [Unicode.Scalar], at index: Int) -> [Entry] {
    guard let first = start(scalars, at: index) else { return [] }
    var found = longer(first, scalars, at: index)?.filter { Self.matches($0, scalars, at: index) } ?? []
    if let single = single(first), Self.matches(single, scalars, at: index) { found.append(single) }
    return found
  }

  /// Returns the scalar at `index` in the form that the keys have; `nil` if no entry can match there.
  private func start(_ scalars: [Unicode.Scalar], at index: Int) -> Unicode.Scalar? {
    guard index < scalars.count else { return nil }
    let first = scalars[index].baseLetter
    return starts.contains(first) && mayMatch(scalars, at: index) ? first : nil
  }

  /// Returns the entries whose keys have at least two scalars and may match at `index`.
  private func longer(_ first: Unicode.Scalar, _ scalars: [Unicode.Scalar], at index: Int) -> [Entry]? {
    index + 1 < scalars.count ? entries[Self.place(first, scalars[index + 1].baseLetter)] : nil
  }

  private func single(_ scalar: Unicode.Scalar) -> Entry? {
    singles.contains(scalar) ? entries[Self.place(scalar, nil)]?.first : nil
  }

  private static func place(_ first: Unicode.Scalar, _ second: Unicode.Scalar?) -> UInt64 {
    UInt64(first.value) << 32 | UInt64(second.map { $0.value + 1 } ?? 0)
  }

  /// Returns false if no entry can match at `index`, because `index` is inside a word. Only words in Latin letters are
  /// examined, because finding the properties of other letters takes longer than searching the entries.
  private func mayMatch(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    guard index > 0, scalars[index - 1].isASCII, scalars[index - 1].isWordPart else { return true }
    return innerStarts.contains(scalars[index].baseLetter)
  }

  private static func matches(_ entry: Entry, _ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    let end = index + entry.key.count
    guard end <= scalars.count, scalars[index..<end].elementsEqual(entry.key, by: { $0.baseLetter == $1 }) else {
      return false
    }
    return !entry.isWholeWord
      || (isBoundary(scalars, at: index, firstInside: true) && isBoundary(scalars, at: end, firstInside: false))
  }

  /// Returns whether a word may begin or end at `index`. A word may begin or end there if there is no letter or mark on
  /// the outer side.
  private static func isBoundary(_ scalars: [Unicode.Scalar], at index: Int, firstInside: Bool) -> Bool {
    let outer = firstInside ? index - 1 : index
    return outer < 0 || outer >= scalars.count || !scalars[outer].isWordPart
  }
}

/// The forms of Latin, Greek and Cyrillic letters, in tables. They are needed for each letter of a text, and a look-up
/// in Unicode's data makes a string each time.
private enum LetterForms {
  /// Latin with marks, Greek and Cyrillic, and further Latin letters with marks, such as those of Vietnamese.
  private static let ranges: [ClosedRange<UInt32>] = [0x80...0x52F, 0x1E00...0x1EFF]

  static let lowercased = ranges.map { range in
    table(range) { scalar in
      let mapping = scalar.properties.lowercaseMapping.unicodeScalars
      return mapping.count == 1 ? mapping.first : nil
    }
  }

  static let baseLetters = ranges.map { range in
    table(range) { scalar in
      guard scalar.value >= 0xC0, scalar.value <= 0x24F || scalar.value >= 0x1E00 else { return nil }
      return String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first
    }
  }

  /// Returns the scalar's form; `nil` if no table has the scalar.
  static func form(of scalar: Unicode.Scalar, in tables: [[Unicode.Scalar]]) -> Unicode.Scalar? {
    for (range, table) in zip(ranges, tables) where range.contains(scalar.value) {
      return table[Int(scalar.value - range.lowerBound)]
    }
    return nil
  }

  private static func table(
    _ range: ClosedRange<UInt32>, _ form: (Unicode.Scalar) -> Unicode.Scalar?
  ) -> [Unicode.Scalar] {
    range.map { value in
      let scalar = Unicode.Scalar(value) ?? " "
      return form(scalar) ?? scalar
    }
  }
}

extension Unicode.Scalar {
  /// The scalar in lower case, or the scalar itself if its lower case consists of several scalars.
  var lowercased: Unicode.Scalar {
    if isASCII { return (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) + 0x20) : self }
    if let form = LetterForms.form(of: self, in: LetterForms.lowercased) { return form }
    // The scripts of India and East Asia have no letter case, and looking it up is the most expensive step.
    if (0x590...0x109F).contains(value) || (0x1100...0x139F).contains(value) || (0x2E80...0xA63F).contains(value)
      || (0xAC00...0xFAFF).contains(value)
    {
      return self
    }
    let mapping = properties.lowercaseMapping.unicodeScalars
    return mapping.count == 1 ? mapping.first ?? self : self
  }

  /// The letter without its marks if it is a Latin letter, or else the scalar itself.
  var baseLetter: Unicode.Scalar {
    if value < 0xC0 || (value > 0x24F && value < 0x1E00) || value > 0x1EFF { return self }
    return LetterForms.form(of: self, in: LetterForms.baseLetters) ?? self
  }

  /// Whether the scalar is a letter, or a mark on a letter.
  var isWordPart: Bool {
    if isASCII { return (0x61...0x7A).contains(value | 0x20) }
    return properties.isAlphabetic || isMark
  }

  /// Whether the scalar is a combining mark.
  var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }
}
