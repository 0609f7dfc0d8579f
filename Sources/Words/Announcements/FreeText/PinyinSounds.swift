// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The sounds of the Chinese characters in words for numbers and units. They serve to find a sum that is written in
/// pinyin: `jiu3 bai3 yuan2`.
///
/// One of the characters with the same sound, such as 元 and 圓, stands for all of them, both in the words and in the
/// searched text.
struct PinyinSounds: Sendable {
  /// The characters by their sounds: pinyin with a tone digit.
  private var characters: [String: Unicode.Scalar] = [:]
  /// The words, with one character for each sound.
  private let table: NumberWordTable

  init(_ table: NumberWordTable) {
    let all = Set((table.words.keys + table.units.keys).joined().filter { WritingSystem.of($0) == "Hani" }).sorted()
    // ICU gives each character its most frequent sound, with a tone mark.
    let spaced = all.map { String($0) }.joined(separator: " ")
    let latin = spaced.applyingTransform(.mandarinToLatin, reverse: false) ?? ""
    var same: [Unicode.Scalar: Unicode.Scalar] = [:]
    for (character, syllable) in zip(all, latin.split(separator: " ")) {
      guard let sound = try? NameReading(String(syllable), .pinyin, ownScripts: []).said else { continue }
      let first = characters[sound] ?? character
      characters[sound] = first
      same[character] = first
    }
    // 一 has another tone before most syllables: yì bǎi.
    for tone in ["yi2", "yi4"] where characters[tone] == nil { characters[tone] = characters["yi1"] }
    self.table = table.mapCharacters { same[$0] ?? $0 }
  }

  /// Returns whether a pronunciation sounds like a sum of money.
  ///
  /// - Parameter said: ``NameReading/said``.
  func isSum(_ said: String) -> Bool {
    let heard = said.split(separator: " ").map { part in
      characters[String(part)].map { String($0) } ?? String(part.filter(\.isLetter))
    }.joined()
    return !table.sums(in: FoldedText(heard), speaksOfPayment: false).isEmpty
  }
}
