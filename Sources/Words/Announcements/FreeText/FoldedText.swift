// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Text from outside with its variants unified: full-width and half-width letters, the digits of every script, and the
/// many kinds of spaces and dashes.
///
/// Folding never joins digits. The sign `㏠`, which becomes “1日”, stays separate from the digit before it in `1㏠`, and
/// `½` keeps its fraction slash.
struct FoldedText {
  let scalars: [Unicode.Scalar]

  /// The folded text in lower case, scalar by scalar.
  let lowered: [Unicode.Scalar]

  /// The non-breaking space. It also replaces narrow and thin spaces, because people use all of them to group digits.
  static let groupingSpace: Unicode.Scalar = "\u{A0}"
  static let minus: Unicode.Scalar = "\u{2212}"
  static let fractionSlash: Unicode.Scalar = "\u{2044}"

  /// The largest number of consecutive marks that are kept, from Unicode's stream-safe text format (UAX #15). The time
  /// to compose marks grows with the square of their number, and no language needs this many.
  private static let mostMarks = 30

  /// The size in bytes up to which signs are expanded. There is a limit because one sign may expand to 18 letters (ﷺ).
  /// A text of ordinary letters is always smaller, as is every name and note.
  private static let mostBytes = 6 * Announcement.longestText

  init(_ text: String) {
    if text.utf8.allSatisfy({ $0 < 0x80 && ($0 >= 0x20 || $0 == 0x0A) }) {
      scalars = Array(text.unicodeScalars)
    } else {
      var folded = String.UnicodeScalarView()
      var marks = 0
      for scalar in text.unicodeScalars {
        marks = scalar.isMark ? marks + 1 : 0
        guard marks <= Self.mostMarks else { continue }
        if String(folded).utf8.count < Self.mostBytes {
          Self.fold(scalar, into: &folded)
        } else {
          folded.append(scalar)
        }
      }
      // Only marks and Korean letters can form one scalar with the scalar before them.
      let isComposed = !folded.contains { !$0.isASCII && ($0.isMark || (0x1100...0x11FF).contains($0.value)) }
      scalars = Array(isComposed ? folded : String(folded).precomposedStringWithCanonicalMapping.unicodeScalars)
    }
    lowered = scalars.map(\.lowercased)
  }

  private static func fold(_ scalar: Unicode.Scalar, into folded: inout String.UnicodeScalarView) {
    switch scalar {
    case _ where scalar.isASCII, "º", "ª": folded.append(scalar)
    case "\u{A0}", "\u{2007}", "\u{2008}", "\u{2009}", "\u{200A}", "\u{202F}": folded.append(groupingSpace)
    case minus: folded.append(minus)
    case "\u{2010}", "\u{2011}", "\u{FE63}", "\u{FF0D}": folded.append("-")
    case "\u{301C}", "\u{FF5E}", "\u{2053}": folded.append("~")
    // These invisible characters join their neighbours.
    case "\u{AD}", "\u{2060}", "\u{FEFF}": break
    case "\u{2014}", "\u{2015}": folded.append(contentsOf: ", ".unicodeScalars)
    case "\u{2018}", "\u{2019}", "\u{FF07}": folded.append("'")
    // These signs are not letters. № is one of the abbreviations that a phrase book lists.
    case "™", "®", "©", "℠", "№": folded.append(scalar)
    // Each of these letters, the Thai and the Lao am, stays one letter, although Unicode can divide it.
    case "\u{E33}", "\u{EB3}": folded.append(scalar)
    // These marks mask digits.
    case "•", "●", "＊", "∗", "✱", "×": folded.append("*")
    case _ where unchanged.contains(scalar): folded.append(scalar)
    default: foldByProperties(scalar, into: &folded)
    }
  }

  /// The scalars of most alphabets that folding does not change. They are not looked up, because each look-up makes
  /// several strings.
  private static let unchanged = ScalarSet(
    (UInt32(0x80)..<0x1000).compactMap(Unicode.Scalar.init).filter { scalar in
      var folded = String.UnicodeScalarView()
      foldByProperties(scalar, into: &folded)
      return folded.elementsEqual([scalar])
    })

  private static func foldByProperties(_ scalar: Unicode.Scalar, into folded: inout String.UnicodeScalarView) {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .decimalNumber:
      let value = properties.numericValue.map { UInt8($0) } ?? 0
      folded.append(Unicode.Scalar(UInt8(ascii: "0") + value))
    case .spaceSeparator: folded.append(" ")
    case .otherNumber, .otherSymbol, .otherLetter, .letterNumber:
      let plain = String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars
      guard plain.contains(where: { $0.properties.generalCategory == .decimalNumber }) else {
        return folded.append(contentsOf: plain)
      }
      // A space separates the digits of the expanded sign from the characters around it. A fraction slash needs no
      // space.
      folded.append(" ")
      folded.append(contentsOf: plain)
      folded.append(" ")
    default:
      folded.append(contentsOf: String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars)
    }
  }
}

extension Unicode.Scalar {
  /// The value of an ASCII digit.
  var digit: Int? { (0x30...0x39).contains(value) ? Int(value) - 0x30 : nil }

  /// Whether the scalar belongs to a script that writes no spaces between words.
  var isUnspaced: Bool {
    guard value >= 0xE01, let script = WritingSystem.of(self) else { return false }
    switch script {
    case "Hani", "Hira", "Kana", "Hang": return true
    default: return WritingSystem.unspacedAlphabets.contains(script)
    }
  }

  /// Whether the scalar belongs to an alphabet that is written without spaces between words.
  var isOfUnspacedAlphabet: Bool {
    value >= 0xE01 && WritingSystem.of(self).map(WritingSystem.unspacedAlphabets.contains) == true
  }
}
