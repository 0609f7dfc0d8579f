// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Respellings of words that one voice of the engine would otherwise mispronounce:
/// `Templates/pronunciation/<voice>.json`.
///
/// Only the engine receives a respelling. The report, the read-back of the amount, the marks and the recording sheets
/// keep the real words.
struct Pronunciation: Sendable {
  /// The contents of the file.
  struct Content: Decodable, Sendable {
    /// The engine's voice, without a variant.
    var voice: String
    /// The lower-case letters and the marks that the voice can read inside a word, in the form of
    /// ``ScalarSet/init(ranges:)``.
    var reads: String
    /// The letters that the voice cannot read. Each has its spelling for the voice.
    var letters: [String: String]?
    /// Whole words. Each has its spelling for the voice.
    var words: [String: String]?
    /// Parts of a text that are replaced in any position. Each has its spelling for the voice.
    var phrases: [String: String]?
    /// Groups of two or three consonants, separated by spaces. The voice spells a word that starts with such a group.
    var spelledStarts: String?
    /// Whether the voice says every word of the capitals I, V, X, L, C, D and M as a Roman numeral, such as CD and MIX.
    /// It then gets these words in small letters.
    var saysRomanNumerals: Bool?
  }

  private let reads: ScalarSet
  private let letters: [Unicode.Scalar: String]
  /// The groups of ``Content/spelledStarts``, each packed into a number, because every word is looked up.
  private let spelledStarts: Set<UInt64>
  /// The second letters of ``spelledStarts``. The second letter of most words is a vowel, so these words need no search
  /// in the groups.
  private let secondLetters: ScalarSet
  private let saysRomanNumerals: Bool
  private var table = ReplacementTable()

  /// Reads the respellings of a voice.
  ///
  /// - Parameters:
  ///   - data: the file's contents, JSON.
  ///   - name: the file's name, for errors.
  /// - Throws: `.phraseBookInvalid`, with the file's name and the fault in the file.
  init(data: Data, name: String) throws(AnnouncementError) {
    let content: Content
    do {
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch {
      throw Self.invalid(name, "is not a valid table of pronunciations")
    }
    guard name == "\(content.voice).json" else {
      throw Self.invalid(name, "is for the voice \(content.voice), but the file must be named after its voice")
    }
    guard let reads = ScalarSet(ranges: content.reads) else {
      throw Self.invalid(name, "has a part in reads that is neither a letter nor a range such as a-z")
    }
    self.reads = reads
    var letters: [Unicode.Scalar: String] = [:]
    for (letter, respelling) in content.letters ?? [:] {
      guard let scalar = letter.unicodeScalars.first, letter.unicodeScalars.count == 1 else {
        throw Self.invalid(name, "has a key in letters that is not one Unicode scalar")
      }
      letters[scalar] = respelling
    }
    self.letters = letters
    let starts = (content.spelledStarts ?? "").split(separator: " ").map(\.unicodeScalars)
    guard starts.allSatisfy({ (2...3).contains($0.count) }) else {
      throw Self.invalid(name, "has a group in spelledStarts with fewer than two or more than three letters")
    }
    spelledStarts = Set(starts.map(Self.packed))
    secondLetters = ScalarSet(starts.compactMap { $0.dropFirst().first })
    saysRomanNumerals = content.saysRomanNumerals ?? false
    for (word, respelling) in content.words ?? [:] { table.add(word, respelling, isWholeWord: true) }
    for (phrase, respelling) in content.phrases ?? [:] { table.add(phrase, respelling, isWholeWord: false) }
  }

  private static func invalid(_ name: String, _ problem: String) -> AnnouncementError {
    AnnouncementError(
      .phraseBookInvalid, "pronunciation/\(name)", problem, remedy: "see docs/phrase-books.md for the fields")
  }

  /// Returns whether the voice can speak the letter unchanged, respelled, or without its marks.
  func canSay(_ letter: Unicode.Scalar) -> Bool {
    letter == Self.iterationMark ? reads.contains("一") : spelling(of: letter) != nil
  }

  /// The mark 々, which repeats the kanji before it.
  private static let iterationMark: Unicode.Scalar = "\u{3005}"

  /// Returns the segments with the respellings that the voice needs. All other segments stay unchanged.
  ///
  /// Words are looked up across segments, because a word may sound different before its unit: 一元, 十一元.
  func respell(_ segments: [Script.Segment]) -> [Script.Segment] {
    var scalars: [Unicode.Scalar] = []
    var ends: [Int] = []
    scalars.reserveCapacity(96)
    ends.reserveCapacity(segments.count)
    for segment in segments {
      scalars.append(contentsOf: (segment.respelled ?? segment.text).unicodeScalars)
      ends.append(scalars.count)
    }
    let lowered = scalars.map(\.lowercased)
    let looksAtStarts = !spelledStarts.isEmpty || saysRomanNumerals
    var respelling = SegmentRespelling(segments, scalars, ends: ends)
    var index = 0
    while index < scalars.count {
      if let entry = table.match(lowered, at: index) {
        let end = index + entry.key.count
        let value = entry.value.unicodeScalars
        // An ending that the key and its replacement have in common stays in its own segment. Capitals are replaced,
        // because the engine divides a word at a capital: CoDi.
        let ending = value.suffix(entry.commonEnding)
        let kept = zip(scalars[..<end].reversed(), ending.reversed()).prefix { $0 == $1 }.count
        let changedEnd = end - kept
        respelling.replace(index..<changedEnd, with: value.dropLast(kept))
        for _ in changedEnd..<end { respelling.keep() }
        index = end
        continue
      }
      let startsWord = looksAtStarts && (index == 0 || !scalars[index - 1].isWordPart)
      if startsWord, !spelledStarts.isEmpty, let start = spelledStart(of: scalars, lowered, at: index) {
        let value = Self.sayable(start)
        respelling.replace(index..<index + start.count, with: value.unicodeScalars[...])
        index += start.count
        continue
      }
      if startsWord, saysRomanNumerals, let end = Self.endOfNumeral(in: scalars, at: index) {
        respelling.replace(index..<end, with: String.UnicodeScalarView(lowered[index..<end])[...])
        index = end
        continue
      }
      let scalar = scalars[index]
      if scalar == " " || reads.contains(lowered[index]) {
        respelling.keep()
      } else if scalar == Self.iterationMark, index > 0 {
        let repeated = spelling(of: scalars[index - 1]) ?? ""
        respelling.replace(index..<index + 1, with: repeated.unicodeScalars[...])
      } else if !scalar.isWordPart {
        respelling.keep()
      } else {
        respelling.replace(index..<index + 1, with: (spelling(of: scalar) ?? "").unicodeScalars[...])
      }
      index += 1
    }
    return respelling.segments
  }

  /// Returns the consonants at the start of a word that would make the voice spell the word. The result is `nil` if the
  /// word, which starts at `index`, does not start with such consonants. It is also `nil` for abbreviations, which are
  /// words in capitals or without a vowel.
  private func spelledStart(
    of scalars: [Unicode.Scalar], _ lowered: [Unicode.Scalar], at index: Int
  ) -> [Unicode.Scalar]? {
    guard index + 2 < scalars.count, scalars[index + 1] == lowered[index + 1],
      secondLetters.contains(lowered[index + 1].baseLetter), scalars[index].isWordPart
    else { return nil }
    for count in [3, 2] where index + count < scalars.count {
      let letters = lowered[index..<index + count].lazy.map { $0.baseLetter }
      guard spelledStarts.contains(Self.packed(letters)) else { continue }
      let start = Array(letters)
      let rest = lowered[(index + count)...].prefix { $0.isWordPart }
      return rest.contains { "aeiouy".unicodeScalars.contains($0.baseLetter) } ? start : nil
    }
    return nil
  }

  /// Returns two or three scalars as one number. A scalar has 21 bits.
  private static func packed(_ scalars: some Sequence<Unicode.Scalar>) -> UInt64 {
    scalars.reduce(0) { $0 << 21 | UInt64($1.value) }
  }

  /// Returns the end of the word that starts at `index`; `nil` if the word has only one letter, or a letter that is not
  /// one of the capitals in Roman numerals.
  private static func endOfNumeral(in scalars: [Unicode.Scalar], at index: Int) -> Int? {
    let end = index + scalars[index...].prefix { "IVXLCDM".unicodeScalars.contains($0) }.count
    return end - index >= 2 && (end == scalars.count || !scalars[end].isWordPart) ? end : nil
  }

  /// Returns the consonants with a vowel at the place where a listener would hear one: Devorak, Enguyen.
  private static func sayable(_ start: [Unicode.Scalar]) -> String {
    let letters = start.map { String($0) }
    let (before, last) = (letters.dropLast().joined(), letters[letters.count - 1])
    if last == "h" || last == letters[letters.count - 2] { return before }
    return letters.count == 2 && ["m", "n"].contains(before) ? "e" + before + last : before + "e" + last
  }

  /// Returns the letter's spelling for the voice; `nil` when the voice cannot speak it.
  private func spelling(of letter: Unicode.Scalar) -> String? {
    let lowered = letter.lowercased
    if reads.contains(lowered) { return String(letter) }
    if let respelling = letters[lowered] { return respelling }
    // A mark that the voice cannot read is left out, so that only its letter is read.
    if letter.isMark { return "" }
    var parts = Array(String(lowered).decomposedStringWithCanonicalMapping.unicodeScalars)
    while parts.count > 1 {
      parts.removeLast()
      let shorter = String(String.UnicodeScalarView(parts)).precomposedStringWithCanonicalMapping.unicodeScalars
      guard shorter.count == 1, let base = shorter.first else { continue }
      let plain = base.lowercased
      if reads.contains(plain) { return String(base) }
      if let respelling = letters[plain] { return respelling }
    }
    return nil
  }
}

/// Builds the respelled text of consecutive segments.
///
/// Most segments stay as they are, so the text of a segment is copied only when something in it changes.
private struct SegmentRespelling {
  private(set) var segments: [Script.Segment]
  /// The scalars of all segments.
  private let scalars: [Unicode.Scalar]
  /// The end of each segment, in scalars.
  private let ends: [Int]
  private var segment = 0
  private var position = 0
  /// The changed text of the current segment up to the position; nil while nothing in the segment has changed.
  private var output: String.UnicodeScalarView?

  init(_ segments: [Script.Segment], _ scalars: [Unicode.Scalar], ends: [Int]) {
    self.segments = segments
    self.scalars = scalars
    self.ends = ends
    closeFinished()
  }

  /// Keeps the scalar at the position.
  mutating func keep() {
    output?.append(scalars[position])
    position += 1
    closeFinished()
  }

  /// Replaces the range with `replacement`. The segment in which the range begins receives the whole replacement.
  mutating func replace(_ range: Range<Int>, with replacement: Substring.UnicodeScalarView) {
    if !scalars[range].elementsEqual(replacement) { change() }
    output?.append(contentsOf: replacement)
    while position < range.upperBound {
      position = min(range.upperBound, ends[segment])
      closeFinished()
      if position < range.upperBound { change() }
    }
  }

  /// Begins a copy of the current segment, because its text changes at the position.
  private mutating func change() {
    guard output == nil else { return }
    let start = segment > 0 ? ends[segment - 1] : 0
    output = String.UnicodeScalarView(scalars[start..<position])
  }

  private mutating func closeFinished() {
    while segment < ends.count, position >= ends[segment] {
      if let output { segments[segment].respelled = String(output) }
      output = nil
      segment += 1
    }
  }
}
