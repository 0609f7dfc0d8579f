// SPDX-License-Identifier: Apache-2.0

/// Text from outside, prepared to be shown in a banner.
///
/// A payer chooses the name and the note. Invisible characters can change how the visible text looks, so these
/// characters are removed:
///
/// - control characters, because different screens may show them differently;
/// - the bidirectional controls, because they can show digits in another order: with U+202E, 21 looks like 12;
/// - zero-width and other invisible characters, because two different names would look the same, and a name of
///   invisible characters looks like no name;
/// - private-use characters, because each system shows another picture for them;
/// - combining marks after the fourth on one letter, because they cover the lines above and below.
///
/// Characters that a script needs stay: joiners in Indic and Arabic words and in emoji, and the variants of emoji and
/// of Han characters. Each white space, such as a line break, becomes one space.
enum VisibleText {
  /// Returns the visible characters of a text, without white space at either end.
  ///
  /// - Parameter longest: the largest length of the result in characters. A longer text ends with an ellipsis.
  /// - Returns: `nil` if nothing visible remains.
  static func of(_ text: String, atMost longest: Int) -> String? {
    var visible = String.UnicodeScalarView()
    var isSpaced = false
    var marks = 0
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if scalar.properties.isWhitespace {
        isSpaced = true
        continue
      }
      guard
        isShown(
          scalar, after: isSpaced ? nil : visible.last, before: index + 1 < scalars.count ? scalars[index + 1] : nil)
      else { continue }
      if scalar.isMark {
        marks += 1
        // A mark without a letter of its own would change the character before it.
        guard marks <= mostMarks, !isSpaced, !visible.isEmpty else { continue }
      } else if !isJoiner(scalar) {
        marks = 0
      }
      if isSpaced, !visible.isEmpty { visible.append(" ") }
      isSpaced = false
      visible.append(scalar)
    }
    return visible.isEmpty ? nil : cut(String(visible), longest)
  }

  /// Returns a text that does not change the direction of the words around it. Text with letters that are written from
  /// right to left is put between U+2068 and U+2069; other text is unchanged.
  static func isolated(_ text: String) -> String {
    text.unicodeScalars.contains(where: isRightToLeft) ? "\u{2068}\(text)\u{2069}" : text
  }

  private static let mostMarks = 4

  /// Cuts a text to its largest length. One character, such as a chain of emoji, can have any number of scalars, so the
  /// number of scalars is limited too.
  private static func cut(_ text: String, _ longest: Int) -> String {
    let mostScalars = longest * 8
    guard text.count > longest || text.unicodeScalars.count > mostScalars else { return text }
    var cut = ""
    var scalars = 1
    for character in text.prefix(longest - 1) {
      scalars += character.unicodeScalars.count
      guard scalars <= mostScalars else { break }
      cut.append(character)
    }
    return cut.trimmed + "…"
  }

  private static func isShown(
    _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?
  ) -> Bool {
    if isJoiner(scalar) { return isNeeded(joiner: scalar, after: previous, before: next) }
    switch scalar.value {
    case 0xFE0E, 0xFE0F: return previous?.properties.isEmoji ?? false
    // These scalars select the variants of Han characters that occur in some family names.
    case 0xE0100...0xE01EF: return previous.map { WritingSystem.of($0) == "Hani" } ?? false
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .privateUse, .surrogate: return false
    // An unassigned character may be a new emoji that a phone knows.
    default: return !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isNoncharacterCodePoint
    }
  }

  /// Whether the scalar is the zero-width non-joiner or joiner.
  private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

  /// Returns whether a joiner changes how its neighbours look. Elsewhere, a joiner is only an invisible difference.
  private static func isNeeded(
    joiner: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?
  ) -> Bool {
    guard let previous, let next else { return false }
    // In Indic scripts, a joiner follows the sign that removes the vowel.
    if previous.properties.canonicalCombiningClass == .virama { return next.properties.isAlphabetic }
    if WritingSystem.of(previous) == "Arab" { return WritingSystem.of(next) == "Arab" }
    let follows =
      previous.properties.isEmojiPresentation || previous.properties.isEmojiModifier || previous == "\u{FE0F}"
    return joiner == "\u{200D}" && follows && next.properties.isEmoji && !next.isASCII
  }

  /// Whether the scalar is in a block of scripts written from right to left: Hebrew, Arabic, Syriac, Thaana, and the
  /// historical and African scripts beyond the first plane.
  private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}

extension Payment {
  /// The payer's name as it may be shown: without invisible characters, and without characters that change the order of
  /// other characters. nil if nothing visible remains.
  public var visiblePayer: String? { payer.flatMap { VisibleText.of($0, atMost: Self.longestPayer) } }
}
