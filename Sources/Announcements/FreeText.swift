// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Text from outside (a payer's name, a note, an alert) made fit to be spoken: words, in runs of one language each.
///
/// What comes out holds letters, their marks, single spaces and plain punctuation, and nothing that an engine could
/// take for a number, a sign, markup or a command: the product's rule that words are said, not digits. A long row of
/// possessives or dotted initials, which ends the engine (measured on espeak-ng 1.51), comes out as separate letters.
struct FreeText {
  let book: PhraseBook
  let voices: ScriptVoices

  /// A piece that one voice reads.
  struct Piece: Equatable {
    var language: String
    var voice: String
    var text: String
  }

  /// - Returns: no pieces when nothing in the text can be spoken.
  func pieces(_ text: String) -> [Piece] {
    var pieces: [Piece] = []
    for scalar in spelledOut(text).unicodeScalars {
      let (language, voice): (String, String)
      if let script = WritingSystem.of(scalar) {
        if book.writingSystems.contains(script) {
          (language, voice) = (book.locale, book.voice)
        } else if let other = voices.voice(for: script) {
          (language, voice) = (other.language, other.voice)
        } else {
          continue
        }
      } else if scalar.properties.isAlphabetic {
        continue  // a letter of a script that no voice reads
      } else if let last = pieces.indices.last {
        pieces[last].text.unicodeScalars.append(scalar)
        continue
      } else {
        continue
      }
      if let last = pieces.indices.last, pieces[last].voice == voice {
        pieces[last].text.unicodeScalars.append(scalar)
      } else {
        pieces.append(Piece(language: language, voice: voice, text: String(scalar)))
      }
    }
    return pieces.compactMap { piece in
      let tidied = Self.tidied(piece.text)
      return tidied.isEmpty ? nil : Piece(language: piece.language, voice: piece.voice, text: tidied)
    }
  }

  // MARK: Digits and signs to words

  private var grammar: AmountGrammar { AmountGrammar(book: book) }

  /// The text with its numbers, currency signs and symbols as words of the book's language.
  private func spelledOut(_ text: String) -> String {
    let scalars = Array(Self.folded(text).unicodeScalars)
    var words = ""
    var index = 0
    var consumed = 0
    while index < scalars.count {
      let scalar = scalars[index]
      if let number = WrittenNumber(scalars, at: index) {
        // A sign may stand before or behind the number; either way the unit is said after it. The sign behind one
        // number does not stand before the next.
        let before = index > consumed ? leadingSign(scalars, at: index - 1) : nil
        let after = number.end < scalars.count ? currency(scalars[number.end]) : nil
        if let before, number.isScaled {
          // ¥1.5万: the unit comes behind what multiplies the number, or the sum would sound ten thousand times smaller.
          let scale = scalars[number.end]
          words +=
            " \(said(number, currency: nil)) \(book.content.symbols[String(scale)] ?? String(scale)) \(unit(before)) "
          index = number.end + 1
        } else {
          words += " " + said(number, currency: before ?? after) + " "
          index = number.end + (before == nil && after != nil ? 1 : 0)
        }
        consumed = index
      } else if let currency = currency(scalar), !scalar.properties.isAlphabetic {
        let numberFollows = index + 1 < scalars.count && WrittenNumber(scalars, at: index + 1) != nil
        if !numberFollows, leadingSign(scalars, at: index) != nil { words += " " + unit(currency) + " " }
        index += 1
      } else if isMinus(scalars, at: index) {
        words += " " + book.content.minus + " "
        index += 1
      } else {
        words += book.content.symbols[String(scalar)].map { " \($0) " } ?? Self.plain(scalar)
        index += 1
      }
    }
    return words
  }

  /// Compatibility forms as plain ones (full-width letters, ligatures). A superscript or a fraction stays apart from
  /// the digits beside it: 3½ is not 31, nor 10² a hundred and two.
  private static func folded(_ text: String) -> String {
    var apart = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isOtherNumber = scalar.properties.generalCategory == .otherNumber
      if isOtherNumber { apart.append(" ") }
      apart.append(scalar)
      if isOtherNumber { apart.append(" ") }
    }
    return String(apart).precomposedStringWithCompatibilityMapping
  }

  /// A hyphen or minus that opens a number, and does not join it to what stands before.
  private func isMinus(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    guard ["-", "\u{2212}"].contains(scalars[index]), index + 1 < scalars.count else { return false }
    let opens =
      index == 0 || !(scalars[index - 1].properties.isAlphabetic || scalars[index - 1].properties.numericType != nil)
    let next = currency(scalars[index + 1]) == nil ? index + 1 : index + 2
    return opens && WrittenNumber(scalars, at: next) != nil
  }

  /// The currency that a sign before a number means. A letter before the sign makes it another currency's (HK$, A$),
  /// and a letter as sign (元) stands behind numbers only.
  private func leadingSign(_ scalars: [Unicode.Scalar], at index: Int) -> Currency? {
    guard !scalars[index].properties.isAlphabetic else { return nil }
    guard index == 0 || !scalars[index - 1].properties.isAlphabetic else { return nil }
    return currency(scalars[index])
  }

  private func currency(_ scalar: Unicode.Scalar) -> Currency? {
    book.content.currencySigns[String(scalar)].flatMap(Currency.init(code:))
  }

  private func unit(_ currency: Currency) -> String {
    book.content.currencies[currency.code]?.major.other ?? ""
  }

  private func said(_ number: WrittenNumber, currency: Currency?) -> String {
    let separator = book.content.wordSeparator
    if let currency, number.isPlain, let money = try? Money(decimalText: number.decimalText, currency: currency),
      let words = try? grammar.words(money)
    {
      return words.joined()
    }
    // Digits that the currency does not have tell that the sign means another one: ¥12.50 is no yen.
    let isOther = currency.map { number.isPlain && number.fraction.count > $0.minorDigits } ?? true
    let unit = isOther ? "" : currency.map { separator + self.unit($0) } ?? ""
    guard number.isCounted else {
      // 12,50 is twelve and a half to some and no number to others: its digits are said as they stand.
      return number.groups.map { grammar.digits($0) }.joined(separator: ", ") + unit
    }
    return ([number.whole] + (number.fraction.isEmpty ? [] : [number.fraction])).enumerated().map { part in
      // A long row of digits, or one that begins with zero, is a name (a telephone, an order) and not a quantity.
      let isQuantity = part.element.count <= 4 && part.element.first != 0 && part.offset == 0
      return isQuantity
        ? grammar.cardinal(part.element.reduce(0) { $0 * 10 + Int64($1) })
        : grammar.digits(part.element)
    }.joined(separator: separator + book.content.decimalPoint + separator) + unit
  }

  // MARK: What may reach the engine

  private static func plain(_ scalar: Unicode.Scalar) -> String {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark:
      return String(scalar)
    default: break
    }
    switch scalar {
    case "'", "\u{2019}": return "'"
    case ",", "、", "，", ";", ":": return ", "
    case ".", "。", "!", "?", "।": return ". "
    case "\n", "\r": return ", "
    // A joiner shapes the letters beside it (Hindi, Persian) and is no break between words.
    case "\u{200C}", "\u{200D}": return ""
    default: return " "
    }
  }

  /// Longer words, and clauses without a stop, are cut: the engine drops what goes over its tables and says nothing of
  /// it (measured on espeak-ng 1.51: a word of 55 Hangul syllables, 72 kana, 150 letters; a clause of 150 syllables).
  private static let longestWord = 36
  private static let longestClause = 90

  /// Single spaces, no punctuation before the first word or twice in a row, at most one apostrophe a word and only
  /// inside it.
  private static func tidied(_ text: String) -> String {
    var words: [String] = []
    var clause = 0
    for chunk in text.split(separator: " ") {
      let stop = chunk.last.flatMap { $0 == "," || $0 == "." ? $0 : nil }
      let letters = chunk.filter { $0 != "," && $0 != "." }
      var pieces = letters.split(separator: "'").map(String.init)
      // One apostrophe is a name or a possessive; more are no word, and each piece is said by itself.
      if pieces.count == 2 { pieces = [pieces.joined(separator: "'")] }
      for piece in pieces.flatMap(parts(of:)) {
        if clause + piece.count > longestClause, let last = words.indices.last, words[last].last?.isLetter == true {
          words[last].append(",")
          clause = 0
        }
        clause += piece.count
        words.append(piece)
      }
      if let stop, let last = words.indices.last, words[last].last != ",", words[last].last != "." {
        words[last].append(stop)
        clause = 0
      }
    }
    let joined = words.joined(separator: " ")
    return joined.contains(where: \.isLetter) ? joined : ""
  }

  private static func parts(of word: String) -> [String] {
    guard word.count > longestWord else { return [word] }
    var parts: [String] = []
    var rest = Substring(word)
    while !rest.isEmpty {
      parts.append(String(rest.prefix(longestWord)))
      rest = rest.dropFirst(longestWord)
    }
    return parts
  }
}
