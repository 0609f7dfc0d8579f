// SPDX-License-Identifier: Apache-2.0

/// The scripts of letters, as ISO 15924 codes.
///
/// The standard library cannot tell the script of a letter. The table therefore lists the Unicode blocks of the scripts
/// that a voice of the engine or a recorded voice reads, from Unicode's Scripts.txt (15.0). Whole blocks are precise
/// enough, because the table is used only to select the voice for a letter, and to find the borders of words.
enum WritingSystem {
  /// Returns the script of a letter.
  ///
  /// - Returns: `nil` for a scalar that belongs to no particular script (such as a space, punctuation, or a combining
  ///   mark of many scripts), and for a script that no voice reads.
  static func of(_ scalar: Unicode.Scalar) -> String? {
    var low = 0
    var high = blocks.count
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].range.upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < blocks.count && blocks[low].range.contains(scalar.value) ? blocks[low].script : nil
  }

  /// The alphabets that are written without spaces between words. A word has several letters, so a letter is never a
  /// whole word, as it is in Chinese. Tibetan is not among them, because a sign separates its syllables.
  static let unspacedAlphabets: Set<String> = ["Khmr", "Laoo", "Mymr", "Thai"]

  /// The blocks in ascending order, without overlaps.
  private static let blocks: [(range: ClosedRange<UInt32>, script: String)] = [
    (0x41...0x5A, "Latn"), (0x61...0x7A, "Latn"), (0xAA...0xAA, "Latn"), (0xBA...0xBA, "Latn"),
    (0xC0...0xD6, "Latn"), (0xD8...0xF6, "Latn"), (0xF8...0x2B8, "Latn"), (0x370...0x3FF, "Grek"),
    (0x400...0x52F, "Cyrl"), (0x531...0x58F, "Armn"), (0x591...0x5F4, "Hebr"), (0x600...0x6FF, "Arab"),
    (0x750...0x77F, "Arab"), (0x8A0...0x8FF, "Arab"), (0x900...0x97F, "Deva"), (0x980...0x9FF, "Beng"),
    (0xA00...0xA7F, "Guru"), (0xA80...0xAFF, "Gujr"), (0xB00...0xB7F, "Orya"), (0xB80...0xBFF, "Taml"),
    (0xC00...0xC7F, "Telu"), (0xC80...0xCFF, "Knda"), (0xD00...0xD7F, "Mlym"), (0xD80...0xDFF, "Sinh"),
    (0xE01...0xE3A, "Thai"), (0xE40...0xE5B, "Thai"), (0xE80...0xEFF, "Laoo"), (0xF00...0xFFF, "Tibt"),
    (0x1000...0x109F, "Mymr"), (0x10A0...0x10FF, "Geor"), (0x1100...0x11FF, "Hang"), (0x1200...0x139F, "Ethi"),
    (0x13A0...0x13FF, "Cher"), (0x1780...0x17DA, "Khmr"), (0x17DC...0x17F9, "Khmr"), (0x1C80...0x1C8F, "Cyrl"),
    (0x1C90...0x1CBF, "Geor"), (0x1E00...0x1EFF, "Latn"), (0x1F00...0x1FFF, "Grek"),
    (0x2C60...0x2C7F, "Latn"), (0x2DE0...0x2DFF, "Cyrl"), (0x3005...0x3007, "Hani"), (0x3041...0x3096, "Hira"),
    (0x309B...0x309F, "Hira"), (0x30A1...0x30FF, "Kana"), (0x3131...0x318E, "Hang"), (0x31F0...0x31FF, "Kana"),
    (0x3400...0x4DBF, "Hani"), (0x4E00...0x9FFF, "Hani"), (0xA640...0xA69F, "Cyrl"), (0xA720...0xA7FF, "Latn"),
    (0xA8E0...0xA8FF, "Deva"), (0xA9E0...0xA9FE, "Mymr"), (0xAA60...0xAA7F, "Mymr"), (0xAC00...0xD7A3, "Hang"),
    (0xF900...0xFAFF, "Hani"), (0xFB00...0xFB06, "Latn"),
    (0x20000...0x323AF, "Hani"),
  ]
}
