// SPDX-License-Identifier: Apache-2.0

/// A folded text as a listener hears it: what is not heard is away, and letters that are heard or seen as the same are
/// one. Sums in words are looked for in it.
///
/// Katakana are hiragana, a Cyrillic letter that looks like a Latin one is the Latin one, and whatever stands between two
/// words is one space.
struct HeardText {
  /// Letters, marks of Indian scripts, ASCII digits, signs of currencies, and single spaces.
  private(set) var scalars: [Unicode.Scalar] = []
  /// Where each scalar stands in the folded text.
  private(set) var sources: [Int] = []

  /// - Parameter lowered: ``FoldedText/lowered``.
  init(_ lowered: [Unicode.Scalar]) {
    scalars.reserveCapacity(lowered.count)
    sources.reserveCapacity(lowered.count)
    for (source, scalar) in lowered.enumerated() {
      guard let heard = Self.heard(scalar) else { continue }
      if heard == " ", scalars.last == " " { continue }
      scalars.append(heard)
      sources.append(source)
    }
  }

  /// A word of a table in the same form.
  static func word(_ word: String) -> String {
    String(String.UnicodeScalarView(HeardText(FoldedText(word).lowered).scalars))
  }

  /// `nil` for what nobody hears and what parts no words: joiners, marks that no letter is composed with.
  private static func heard(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    if scalar.isASCII { return scalar.isWordPart || scalar.digit != nil || scalar == "$" ? scalar : " " }
    if let same = sameLetters[scalar] { return same }
    // Katakana stand in the same order as hiragana.
    if (0x30A1...0x30F6).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0x60) }
    if scalar.value == 0x93C || scalar.properties.isDefaultIgnorableCodePoint { return nil }
    if scalar.isMark, WritingSystem.of(scalar) == nil { return nil }
    if scalar.isWordPart || scalar.properties.generalCategory == .currencySymbol { return scalar }
    return " "
  }

  private static let sameLetters: [Unicode.Scalar: Unicode.Scalar] = {
    let pairs: [(others: String, letters: String)] = [
      // Cyrillic, Greek, Armenian, and Latin letters with a stroke.
      ("аеорсухѕіјһԁԛԝѵкмтпӏ", "aeopcyxsijhdqwvkmtnl"), ("οαινρυκτϲχ", "oaivpuktcx"), ("оօոհսց", "oonhug"),
      ("đðłøħŧıɑɡɩßƒɪɴ", "ddlohtiagisfin"),
      // Spellings of Hindi that sound alike: पाँच and पांच, डॉलर and डालर, रूपया and रुपया.
      ("\u{901}\u{949}\u{942}", "\u{902}\u{93E}\u{941}"),
    ]
    return pairs.reduce(into: [:]) { table, pair in
      for (other, letter) in zip(pair.others.unicodeScalars, pair.letters.unicodeScalars) { table[other] = letter }
    }
  }()
}
