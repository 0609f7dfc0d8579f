// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The pronunciation of a name that a payload gives, in the spelling that a book's own voice reads.
///
/// A voice reads other spellings wrongly, and reports no error: the Japanese voice spells `watanabe` in English, and
/// the Chinese voice needs a tone in each syllable. A pronunciation in another spelling is refused with the place of
/// the first letter that does not fit, and the name itself is spoken. The payment is announced in any case.
struct NameReading: Equatable {
  /// The way in which a language spells pronunciations.
  enum Spelling: String, Decodable, Sendable {
    /// Pinyin with tone digits or tone marks (`li3 zong1 sheng4`, `Lǐ Zōngshèng`), or Chinese characters.
    case pinyin
    /// Kana, or romaji of the Hepburn or Kunrei system (`watanabe`).
    case kana
    /// The letters of the book's own scripts, such as Hangul.
    case ownScripts
  }

  /// The reason why a reading is refused.
  struct Fault: Error, Equatable {
    /// The number of the first character that does not fit, or of the first letter of a syllable, counted from 1.
    var place: Int
  }

  /// The text for the voice: syllables of pinyin with tone digits, or the letters of the language.
  private(set) var said = ""
  /// Whether ``said`` contains pinyin.
  private(set) var isPinyin = false

  /// Reads a pronunciation.
  ///
  /// - Throws: ``Fault`` if a character does not fit, or if there is no letter.
  init(_ reading: String, _ spelling: Spelling, ownScripts: Set<String>) throws(Fault) {
    let characters = Array(reading)
    var start = 0
    while start < characters.count {
      let end = characters[start...].firstIndex { !Self.isWordPart($0) } ?? characters.count
      let word = Array(characters[start..<end])
      if word.isEmpty {
        guard Self.isSeparator(characters[start]) else { throw Fault(place: start + 1) }
        start += 1
        continue
      }
      switch spelling {
      case .ownScripts: try append(word, from: start, scripts: ownScripts)
      case .kana where Self.isLatin(word[0]): try append(romaji: word, from: start)
      case .kana: try append(word, from: start, scripts: ["Hira", "Kana"])
      case .pinyin where Self.isLatin(word[0]): try append(pinyin: word, from: start)
      case .pinyin: try append(word, from: start, scripts: ["Hani"])
      }
      start = end
    }
    guard !said.isEmpty else { throw Fault(place: 1) }
  }

  private mutating func append(_ word: String) { said += (said.isEmpty ? "" : " ") + word }

  private mutating func append(_ word: [Character], from start: Int, scripts: Set<String>) throws(Fault) {
    let wrong = word.firstIndex { character in
      !character.unicodeScalars.allSatisfy { scalar in
        WritingSystem.of(scalar).map(scripts.contains) ?? (scalar.isMark || scalar == "ー")
      }
    }
    if let wrong { throw Fault(place: start + wrong + 1) }
    append(String(word))
  }

  // MARK: Romaji

  private mutating func append(romaji word: [Character], from start: Int) throws(Fault) {
    // An optional consonant, which may be doubled, and a vowel; or a syllabic n, which may also be written as m before
    // b, m and p.
    let syllable =
      #/
      (?: kk?y? | ss?[hy]? | tt?[sy]? | [ct]?ch | nn?y? | hh?y? | ff?y? | mm?y? | y | rr?y? | w | v | gg?y? | zz?y? |
      jj?y? | dd?y? | bb?y? | pp?y? )? [aiueoāīūēōâîûêô] | n | m(?=[bmp])
      /#
    let lowered = String(word).lowercased()
    var rest = lowered[...]
    while !rest.isEmpty {
      guard let match = rest.prefixMatch(of: syllable) else {
        throw Fault(place: start + lowered.distance(from: lowered.startIndex, to: rest.startIndex) + 1)
      }
      rest = rest[match.range.upperBound...]
    }
    // ICU does not know these spellings. It writes a long vowel with a mark (トーキョー), as the voice reads it.
    let others = [
      ("sy", "sh"), ("ty", "ch"), ("zy", "j"), ("dy", "j"), ("jy", "j"), ("tch", "cch"), ("mb", "nb"), ("mp", "np"),
      ("mm", "nm"),
    ]
    let spelled = others.reduce(lowered) { $0.replacing($1.0, with: $1.1) }
    append(spelled.applyingTransform(.latinToKatakana, reverse: false) ?? spelled)
  }

  // MARK: Pinyin

  private typealias Letters = [(letter: Character, tone: Character?, place: Int)]

  private mutating func append(pinyin word: [Character], from start: Int) throws(Fault) {
    var letters: Letters = []
    for (offset, character) in word.enumerated() {
      let scalars = String(character).lowercased().decomposedStringWithCanonicalMapping.unicodeScalars
      guard let letter = scalars.first else { continue }
      if letter.isASCII, letter.properties.isAlphabetic {
        let marks = Set(scalars.dropFirst())
        let tones = marks.compactMap { Self.tones[$0] }
        guard tones.count <= 1, marks.count - tones.count == (marks.contains("\u{308}") ? 1 : 0) else {
          throw Fault(place: start + offset + 1)
        }
        let isUmlaut = marks.contains("\u{308}")
        guard !isUmlaut || letter == "u" else { throw Fault(place: start + offset + 1) }
        letters.append((isUmlaut ? "v" : Character(letter), tones.first, start + offset + 1))
      } else {
        letters.append((Character(letter), nil, start + offset + 1))
      }
    }
    let hasTone = letters.contains { $0.tone != nil || ("0"..."5").contains($0.letter) }
    guard hasTone else { throw Fault(place: start + 1) }
    guard let syllables = Self.syllables(letters) else {
      let wrong = letters.indices.last { Self.syllables(Array(letters[..<$0])) != nil } ?? 0
      throw Fault(place: letters[wrong].place)
    }
    append(syllables.joined(separator: " "))
    isPinyin = true
  }

  /// Divides a word into syllables with tone digits; nil if that is impossible. A syllable inside a word begins with a
  /// vowel only after a tone digit, or if there is no other way: fàngàn is fan and gan, because fang and an would be
  /// written with an apostrophe: fang'an.
  private static func syllables(_ letters: Letters) -> [String]? {
    // The best division from each index to the end, found from the end. A division with fewer such vowels is better.
    var best: [(cost: Int, syllables: [String])?] = Array(repeating: nil, count: letters.count + 1)
    best[letters.count] = (0, [])
    for start in letters.indices.reversed() {
      for length in 1...min(longestSyllable, letters.count - start) {
        let part = letters[start..<start + length]
        guard syllableNames.contains(String(part.map(\.letter))) else { continue }
        var end = part.endIndex
        var tones = part.compactMap(\.tone)
        var isParted = false
        if end < letters.count, ("0"..."5").contains(letters[end].letter) {
          tones.append(letters[end].letter == "0" ? "5" : letters[end].letter)
          end += 1
          isParted = true
        }
        guard tones.count <= 1, let rest = best[end] else { continue }
        let follows = end < letters.count && "aeo".contains(letters[end].letter) && !isParted
        let cost = rest.cost + (follows ? 1 : 0)
        guard best[start].map({ cost <= $0.cost }) ?? true else { continue }
        best[start] = (cost, [String(part.map(\.letter)) + String(tones.first ?? "5")] + rest.syllables)
      }
    }
    return best[0]?.syllables
  }

  private static let tones: [Unicode.Scalar: Character] = [
    "\u{304}": "1", "\u{301}": "2", "\u{30C}": "3", "\u{306}": "3", "\u{300}": "4",
  ]

  private static let longestSyllable = 6

  /// The syllables of Standard Chinese, without tones, as the Xinhua dictionary spells them; v is ü. Each was given to
  /// the voice of espeak-ng 1.51, which reads all of them without another language.
  private static let syllableNames: Set<String> = {
    let finals = [
      ("", "a ai an ang ao e ei en eng er o ou"),
      ("b", "a ai an ang ao ei en eng i ian iao ie in ing o u"),
      ("p", "a ai an ang ao ei en eng i ian iao ie in ing o ou u"),
      ("m", "a ai an ang ao e ei en eng i ian iao ie in ing iu o ou u"),
      ("f", "a an ang ei en eng o ou u"),
      ("d", "a ai an ang ao e ei en eng i ia ian iao ie ing iu ong ou u uan ui un uo"),
      ("t", "a ai an ang ao e eng i ian iao ie ing ong ou u uan ui un uo"),
      ("n", "a ai an ang ao e ei en eng i ian iang iao ie in ing iu ong ou u uan uo v ve"),
      ("l", "a ai an ang ao e ei eng i ia ian iang iao ie in ing iu ong ou u uan un uo v ve"),
      ("g", "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo"),
      ("k", "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo"),
      ("h", "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo"),
      ("j", "i ia ian iang iao ie in ing iong iu u uan ue un"),
      ("q", "i ia ian iang iao ie in ing iong iu u uan ue un"),
      ("x", "i ia ian iang iao ie in ing iong iu u uan ue un"),
      ("zh", "a ai an ang ao e ei en eng i ong ou u ua uai uan uang ui un uo"),
      ("ch", "a ai an ang ao e en eng i ong ou u ua uai uan uang ui un uo"),
      ("sh", "a ai an ang ao e ei en eng i ou u ua uai uan uang ui un uo"),
      ("r", "an ang ao e en eng i ong ou u ua uan ui un uo"),
      ("z", "a ai an ang ao e ei en eng i ong ou u uan ui un uo"),
      ("c", "a ai an ang ao e en eng i ong ou u uan ui un uo"),
      ("s", "a ai an ang ao e en eng i ong ou u uan ui un uo"),
      ("y", "a an ang ao e i in ing o ong ou u uan ue un"),
      ("w", "a ai an ang ei en eng o u"),
    ]
    return Set(finals.flatMap { initial, finals in finals.split(separator: " ").map { initial + $0 } })
  }()

  // MARK: Characters

  private static func isLatin(_ character: Character) -> Bool {
    character.unicodeScalars.first.flatMap { WritingSystem.of($0) } == "Latn"
  }

  private static func isWordPart(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "ー"
  }

  /// Returns whether a character separates the names of a person: a space, a hyphen, an apostrophe, a middle dot.
  private static func isSeparator(_ character: Character) -> Bool {
    character.isWhitespace || "-‐'’ʼ·・・.,，、".contains(character)
  }
}
