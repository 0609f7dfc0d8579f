// SPDX-License-Identifier: Apache-2.0

extension [Character] {
  /// The largest distance, in characters, to the white space at which a text is cut instead of within a word.
  private static let longestStep = 24

  /// Returns the first characters with an ellipsis; nil if none are left.
  ///
  /// A part of an amount would be another amount. The result therefore never ends with a digit, a currency sign or a
  /// character that may stand between digits. It ends within a word only if the word is long: `12 lakh` is not cut to
  /// `12 la…`.
  ///
  /// - Parameter count: The largest number of characters to keep. It is less than the length of the text.
  func shortened(to count: Int) -> String? {
    var end = Swift.min(count, self.count)
    if end > 0, end < self.count, self[end - 1].isLetter, self[end].isLetter {
      let space = self[Swift.max(0, end - Self.longestStep)..<end].lastIndex(where: \.isWhitespace)
      if let space { end = space }
    }
    while end > 0, self[end - 1].isWhitespace || self[end - 1].mayBelongToAmount { end -= 1 }
    return end == 0 ? nil : String(self[..<end]) + "…"
  }
}

extension Character {
  /// Whether the character may be a part of a written amount. This includes numerals such as 万.
  fileprivate var mayBelongToAmount: Bool {
    // Amounts in Arabic and Hebrew texts have marks of direction, which are characters of their own.
    let isMark = unicodeScalars.count == 1 && unicodeScalars.first?.properties.generalCategory == .format
    let isOfNumber = unicodeScalars.contains {
      $0.properties.numericType != nil || $0.properties.generalCategory == .currencySymbol
    }
    return isMark || isOfNumber || ".,·'’٫٬-−+".contains(self)
  }
}
