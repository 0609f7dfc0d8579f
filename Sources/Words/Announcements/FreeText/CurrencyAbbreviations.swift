// SPDX-License-Identifier: Apache-2.0

/// The abbreviations of currencies in texts, in addition to the signs of a phrase book.
enum CurrencyAbbreviations {
  /// Returns the currency for letters before a dollar sign or a yen sign: `HK$`, `CN¥`.
  static func withSign(_ letters: String, _ sign: Unicode.Scalar) -> Currency? {
    let code =
      sign == "$"
      ? [
        "US": "USD", "HK": "HKD", "NT": "TWD", "S": "SGD", "SG": "SGD", "A": "AUD", "AU": "AUD", "C": "CAD",
        "CA": "CAD", "NZ": "NZD", "MX": "MXN", "MEX": "MXN", "R": "BRL",
      ][letters.uppercased()]
      : ["CN": "CNY", "RMB": "CNY", "JP": "JPY"][letters.uppercased()]
    return code.flatMap(Currency.init(code:))
  }

  /// Returns the currency for an ISO 4217 code in capitals, or for `Rs` or `RMB`. A code that is also an English word
  /// counts only if the book has the currency, because a text may contain TOP 10, TRY 1 or COFFEE CUP 2.25.
  static func currency(_ word: String, in book: PhraseBook) -> Currency? {
    switch word.uppercased() {
    case "RS" where word != "rs": return Currency(code: "INR")
    case "RMB": return Currency(code: "CNY")
    default: break
    }
    let words: Set<String> = ["ALL", "BAM", "CUP", "GEL", "LAK", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY"]
    guard !words.contains(word) || book.content.currencies[word] != nil else { return nil }
    return Currency(code: word)
  }

  /// Words after a sum that mean different factors to different readers.
  static let ambiguousScales: Set<String> = ["mil", "mm", "mrd", "mld", "mdd", "l", "g", "md"]

  /// Words that multiply the number before them, each with its power of ten as text. Texts mix the words of different
  /// languages: ₹1.5 करोड़, $5bn. The words of a phrase book take precedence over these words. Next to a currency `M`
  /// means a million, and `k` means a thousand.
  static let scales: ReplacementTable = {
    let powers: [(words: String, power: Int)] = [
      ("十 십", 1), ("hundred सौ 百 백", 2), ("k thousand हज़ार हजार 千 천", 3), ("万 萬 만", 4),
      ("lakh lakhs lac lacs लाख 十万 십만", 5), ("m mn mln mio million millón millones mdp 百万 백만", 6),
      ("cr crore crores करोड़ 千万 천만", 7), ("亿 億 억", 8), ("b bn billion अरब 십억", 9), ("百亿 百億 백억", 10),
      ("खरब 千亿 千億 천억", 11), ("t tn trillion billón billones 万亿 兆 조", 12),
    ]
    var table = ReplacementTable()
    for (words, power) in powers {
      for word in words.split(separator: " ") {
        // Free text is composed before the lookup. Composition divides the nukta letters of Hindi into a letter and a
        // mark.
        for form in Set([String(word), String(String.UnicodeScalarView(FoldedText(String(word)).scalars))]) {
          table.add(form, String(power), isWholeWord: !form.unicodeScalars.allSatisfy(\.isUnspaced))
        }
      }
    }
    table.add("लाख करोड़", "12", isWholeWord: true)
    return table
  }()
}
