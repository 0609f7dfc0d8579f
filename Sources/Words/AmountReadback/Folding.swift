// SPDX-License-Identifier: Apache-2.0

/// Unifies spellings that have the same meaning. They differ in letter case, kinds of spaces, hyphens and invisible
/// scalars. In Devanagari they also differ in the nukta and the chandrabindu, which many writers omit (हज़ार and हजार,
/// पाँच and पांच).
///
/// Nothing else is changed. A minus sign, a comma or a digit remains, and makes the text unreadable.
enum Folding {
  static let space: UInt32 = 0x20
  private static let hyphen: UInt32 = 0x2D

  /// Returns the folded scalars of a text.
  ///
  /// - Parameter separatesWords: whether spaces separate words. If true, one space is kept between words, and a hyphen
  ///   inside a word becomes a space. If false, all spaces are removed.
  static func scalars(of text: String, separatesWords: Bool) -> [UInt32] {
    var result: [UInt32] = []
    result.reserveCapacity(text.utf8.count)
    var hasSpace = false
    var hasHyphen = false
    for scalar in text.unicodeScalars {
      var value = scalar.value
      switch value {
      case 0x61...0x7A, 0x3040...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: break
      case space, 0xA0, 0x202F, 0x3000:
        // A hyphen followed by a space is not part of a word.
        if hasHyphen { result.append(hyphen) }
        hasHyphen = false
        hasSpace = separatesWords && !result.isEmpty
        continue
      case hyphen, 0x2010, 0x2011:
        guard separatesWords, !result.isEmpty, !hasSpace, !hasHyphen else {
          result.append(hyphen)
          continue
        }
        hasHyphen = true
        continue
      case 0xAD, 0x200B...0x200D, 0x2060, 0x093C: continue
      case 0x41...0x5A: value += 0x20
      case 0x0900...0x097F: value = devanagari(value)
      case 0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF:
        let lowered = scalar.properties.lowercaseMapping.unicodeScalars
        if let first = lowered.first, lowered.count == 1 { value = first.value }
      default: break
      }
      if hasSpace || hasHyphen {
        result.append(space)
        hasSpace = false
        hasHyphen = false
      }
      result.append(value)
    }
    if hasHyphen { result.append(hyphen) }
    return result
  }

  /// Returns a letter without its nukta (U+0958 to U+095F, and three more letters). Chandrabindu becomes anusvara.
  private static func devanagari(_ value: UInt32) -> UInt32 {
    switch value {
    case 0x0901: 0x0902
    case 0x0929: 0x0928
    case 0x0931: 0x0930
    case 0x0934: 0x0933
    case 0x0958: 0x0915
    case 0x0959: 0x0916
    case 0x095A: 0x0917
    case 0x095B: 0x091C
    case 0x095C: 0x0921
    case 0x095D: 0x0922
    case 0x095E: 0x092B
    case 0x095F: 0x092F
    default: value
    }
  }
}
