// SPDX-License-Identifier: Apache-2.0

/// A folded text in the form that a listener perceives. Sums in words are searched in this form. Silent characters are
/// removed, and letters that sound or look the same are unified.
///
/// Katakana become hiragana with う for a long vowel. A Cyrillic letter that looks like a Latin letter becomes the Latin
/// letter. Any separator between two words becomes one space.
struct HeardText {
  /// Letters, marks of Indian and Southeast Asian scripts, ASCII digits, currency signs and single spaces.
  private(set) var scalars: [Unicode.Scalar] = []
  /// The index of each scalar in the folded text.
  private(set) var sources: [Int] = []

  /// Creates the text.
  ///
  /// - Parameter lowered: ``FoldedText/lowered``.
  init(_ lowered: [Unicode.Scalar]) {
    scalars.reserveCapacity(lowered.count)
    sources.reserveCapacity(lowered.count)
    for (source, scalar) in lowered.enumerated() {
      guard let heard = Self.heard(scalar) else { continue }
      if heard == " ", scalars.last == " " { continue }
      // Two of these vowel signs look like one other vowel sign: the Thai เเ and แ, and the Lao ເເ and ແ.
      if heard == "\u{E40}" || heard == "\u{EC0}", scalars.last == heard,
        let double = Unicode.Scalar(heard.value + 1)
      {
        scalars[scalars.count - 1] = double
        continue
      }
      scalars.append(heard)
      sources.append(source)
    }
  }

  /// Returns a word of a table in the same form as the text.
  static func word(_ word: String) -> String {
    String(String.UnicodeScalarView(HeardText(FoldedText(word).lowered).scalars))
  }

  /// Returns the unified form of a scalar. The result is `nil` for a silent character that does not separate words,
  /// such as a joiner, or a mark that does not combine with any letter.
  private static func heard(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    if scalar.isASCII { return scalar.isWordPart || scalar.digit != nil || scalar == "$" ? scalar : " " }
    if let same = sameLetters[scalar] { return same }
    // The mark of a long vowel in katakana: キュー is きゅう.
    if scalar == "ー" { return "う" }
    // Katakana have the same order as hiragana.
    if (0x30A1...0x30F6).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0x60) }
    if scalar.value == 0x93C || scalar.properties.isDefaultIgnorableCodePoint || isLeftOut(scalar) { return nil }
    if scalar.isMark, WritingSystem.of(scalar) == nil { return nil }
    if scalar.isWordPart || scalar.properties.generalCategory == .currencySymbol { return scalar }
    return " "
  }

  /// Returns whether a scalar is a tone mark, or a sign above a letter, of Thai or Lao. People leave these signs out.
  /// People also write a sign either before or after the vowel sign of the same letter, and both orders look the same.
  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    (0xE47...0xE4E).contains(scalar.value) || (0xEC8...0xECE).contains(scalar.value)
  }

  private static let sameLetters: [Unicode.Scalar: Unicode.Scalar] = {
    let pairs: [(others: String, letters: String)] = [
      // Cyrillic, Greek and Armenian letters, and Latin letters with a stroke, each mapped to the Latin letter that it
      // looks like.
      ("аеорсухѕіјһԁԛԝѵкмтпӏ", "aeopcyxsijhdqwvkmtnl"), ("οαινρυκτϲχ", "oaivpuktcx"), ("оօոհսց", "oonhug"),
      ("đðłøħŧıɑɡɩßƒɪɴ", "ddlohtiagisfin"),
      // Hindi spellings that sound alike: पाँच and पांच, डॉलर and डालर, रूपया and रुपया.
      ("\u{901}\u{949}\u{942}", "\u{902}\u{93E}\u{941}"),
      // The Thai and the Lao am, whose sign above the letter is left out.
      ("\u{E33}\u{EB3}", "\u{E32}\u{EB2}"),
    ]
    return pairs.reduce(into: [:]) { table, pair in
      for (other, letter) in zip(pair.others.unicodeScalars, pair.letters.unicodeScalars) { table[other] = letter }
    }
  }()
}
