// SPDX-License-Identifier: Apache-2.0

/// The width of a character in the columns of a terminal.
///
/// Wide and fullwidth characters (UAX #11, East Asian Width W and F) take two columns. Marks that do not advance the
/// cursor take none. All other characters take one column. These include characters of ambiguous width, as is usual
/// outside legacy East Asian encodings. They also include spacing marks, such as the Devanagari vowel signs ा, ि and ी.
/// The C library's `wcwidth`, which terminals follow, treats these in the same way. An emoji takes two columns,
/// whatever its number of scalars.
enum TerminalWidth {
  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if isEmoji(first, scalars) {
      // A spacing mark does not belong to the emoji before it and is drawn after it.
      return 2 + scalars.count { $0.properties.generalCategory == .spacingMark }
    }
    return max(1, scalars.reduce(0) { $0 + of($1) })
  }

  static func of(_ scalar: Unicode.Scalar) -> Int {
    if (0x20..<0x7F).contains(scalar.value) { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    // These are the vowels and final consonants of Hangul syllables that are written as separate letters.
    if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value) { return 0 }
    return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// Returns whether the scalars are drawn as one pictogram.
  private static func isEmoji(_ first: Unicode.Scalar, _ scalars: Character.UnicodeScalarView) -> Bool {
    // A skin tone that does not follow an emoji is drawn separately.
    if first.properties.isEmojiPresentation { return !first.properties.isEmojiModifier }
    guard first.properties.isEmoji else { return false }
    return scalars.dropFirst().contains { scalar in
      // These are the emoji variation selector, a joiner, and the skin tones.
      scalar == "\u{FE0F}" || scalar == "\u{200D}"
        || (scalar.properties.isEmojiModifier && first.properties.isEmojiModifierBase)
    }
  }

  /// The wide and fullwidth ranges of EastAsianWidth.txt (Unicode 16). Emoji are not included, because the standard
  /// library knows them. Unassigned gaps inside a block of wide characters are included.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul initial consonants
    0x2329...0x232A,  // Angle brackets
    0x2630...0x2637,  // Trigrams
    0x268A...0x268F,  // Monograms and digrams
    0x2E80...0x303E,  // Radicals, ideographic description, CJK punctuation
    0x3041...0x3247,  // Kana, bopomofo, compatibility jamo, enclosed letters
    0x3250...0x4DFF,  // Squared words, Han extension A, hexagrams
    0x4E00...0xA4CF,  // Han, Yi
    0xA960...0xA97F,  // Hangul initial consonants, old
    0xAC00...0xD7A3,  // Hangul syllables
    0xF900...0xFAFF,  // Compatibility Han
    0xFE10...0xFE19,  // Vertical forms
    0xFE30...0xFE6F,  // Compatibility and small forms
    0xFF01...0xFF60,  // Fullwidth forms
    0xFFE0...0xFFE6,  // Fullwidth signs
    0x16FE0...0x18DFF,  // Tangut, Khitan, Nüshu marks
    0x1AFF0...0x1B2FF,  // Kana supplements, Nüshu
    0x1D300...0x1D376,  // Tai Xuan Jing, counting rods
    0x1F200...0x1F265,  // Squared Han
    0x20000...0x2FFFD,  // Han extensions B to F
    0x30000...0x3FFFD,  // Han extensions G and on
  ]
}
