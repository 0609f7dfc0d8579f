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
    let scalars = Array(text.precomposedStringWithCompatibilityMapping.unicodeScalars)
    var words = ""
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      if let number = WrittenNumber(scalars, at: index) {
        // A sign may stand before or behind the number; either way the unit is said after it.
        let before = index > 0 ? currency(scalars[index - 1]) : nil
        let after = number.end < scalars.count ? currency(scalars[number.end]) : nil
        words += " " + said(number, currency: before ?? after) + " "
        index = number.end + (before == nil && after != nil ? 1 : 0)
      } else if let currency = currency(scalar), !scalar.properties.isAlphabetic {
        let numberFollows = index + 1 < scalars.count && WrittenNumber(scalars, at: index + 1) != nil
        if !numberFollows { words += " " + (book.content.currencies[currency.code]?.major.other ?? "") + " " }
        index += 1
      } else {
        words += book.content.symbols[String(scalar)].map { " \($0) " } ?? Self.plain(scalar)
        index += 1
      }
    }
    return words
  }

  private func currency(_ scalar: Unicode.Scalar) -> Currency? {
    book.content.currencySigns[String(scalar)].flatMap(Currency.init(code:))
  }

  private func said(_ number: WrittenNumber, currency: Currency?) -> String {
    if let currency, let money = try? Money(decimalText: number.decimalText, currency: currency),
      let words = try? grammar.words(money)
    {
      return words.joined()
    }
    return ([number.whole] + (number.fraction.isEmpty ? [] : [number.fraction])).enumerated().map { part in
      // A long row of digits, or one that begins with zero, is a name (a telephone, an order) and not a quantity.
      let value = part.element.count <= 4 && part.element.first != 0 && part.offset == 0
      return value
        ? grammar.cardinal(part.element.reduce(0) { $0 * 10 + Int64($1) })
        : grammar.digits(part.element)
    }.joined(separator: book.content.wordSeparator + book.content.decimalPoint + book.content.wordSeparator)
      + (currency.flatMap { book.content.currencies[$0.code]?.major.other }.map { book.content.wordSeparator + $0 }
        ?? "")
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

  /// Single spaces, no punctuation before the first word or twice in a row, at most one apostrophe a word and only
  /// inside it.
  private static func tidied(_ text: String) -> String {
    var words: [String] = []
    for chunk in text.split(separator: " ") {
      let stop = chunk.last.flatMap { $0 == "," || $0 == "." ? $0 : nil }
      let letters = chunk.filter { $0 != "," && $0 != "." }
      var pieces = letters.split(separator: "'").map(String.init)
      // One apostrophe is a name or a possessive; more are no word, and each piece is said by itself.
      if pieces.count == 2 { pieces = [pieces.joined(separator: "'")] }
      words += pieces
      if let stop, let last = words.indices.last, words[last].last != ",", words[last].last != "." {
        words[last].append(stop)
      }
    }
    let joined = words.joined(separator: " ")
    return joined.contains(where: \.isLetter) ? joined : ""
  }
}

/// A number as people write it in a text: digits of any script, grouped by commas, with a decimal part.
private struct WrittenNumber {
  var whole: [Int] = []
  var fraction: [Int] = []

  /// The first index behind it.
  var end: Int

  /// - Returns: `nil` when no digit stands at `start`.
  init?(_ scalars: [Unicode.Scalar], at start: Int) {
    func digit(_ index: Int) -> Int? {
      guard index < scalars.count, scalars[index].properties.generalCategory == .decimalNumber else { return nil }
      return scalars[index].properties.numericType == .decimal
        ? scalars[index].properties.numericValue.map { Int($0) } : nil
    }
    end = start
    while true {
      if let value = digit(end) {
        whole.append(value)
        end += 1
      } else if !whole.isEmpty, end < scalars.count, scalars[end] == ",", digit(end + 1) != nil, digit(end + 2) != nil {
        end += 1
      } else {
        break
      }
    }
    guard !whole.isEmpty else { return nil }
    guard end < scalars.count, scalars[end] == ".", digit(end + 1) != nil else { return }
    end += 1
    while let value = digit(end) {
      fraction.append(value)
      end += 1
    }
  }

  var decimalText: String {
    let digits = whole.map(String.init).joined()
    return fraction.isEmpty ? digits : digits + "." + fraction.map(String.init).joined()
  }
}
