// SPDX-License-Identifier: Apache-2.0

/// Text from outside (a payer's name, a note, an alert) in a form that can be spoken: words, divided into pieces that
/// one voice reads.
///
/// The result contains letters, their marks, single spaces and plain punctuation. It contains nothing that an engine
/// could take for a number, a sign, markup or a command, because Crier speaks words and not digits. A long row of
/// possessives or dotted initials makes the engine exit (measured on espeak-ng 1.51), so such a row becomes separate
/// letters.
struct FreeText {
  let book: PhraseBook
  let voices: ScriptVoices
  let pronunciations: Pronunciations
  /// The user's lexicon for the book's language, combined with the book's own readings.
  let lexicon: ReplacementTable
  /// The words that sums can contain, in all languages that have a phrase book.
  let sumWords: SumWords

  /// A piece of text that one voice reads.
  struct Piece: Equatable {
    var language: String
    /// The engine's voice; `nil` for words that only recordings can say.
    var voice: String?
    var text: String
    /// The pronunciation from a lexicon, if there is one.
    var said: String?
  }

  /// The spoken and the unspoken parts of a text.
  struct Reading {
    /// The pieces to speak; empty when nothing in the text can be spoken.
    var pieces: [Piece] = []
    /// The parts of the text that are not spoken, in order.
    var unspoken: [String] = []
    var warnings: [Warning] = []
  }

  enum Warning: Hashable {
    case uncertainSum
    /// The voice has no name for the currency of a sum.
    case sumWithoutName
    case sumInName
    /// A voice of another language reads a script that belongs to the book's own language.
    case borrowedVoice(language: String)
  }

  func reading(of text: String, as kind: FreeTextScanner.Kind) -> Reading {
    let scanner = FreeTextScanner(text, book: book, kind: kind, lexicon: lexicon, sumWords: sumWords)
    var reading = Reading(unspoken: scanner.leftOut)
    if scanner.hasUncertainSum { reading.warnings.append(.uncertainSum) }
    if scanner.hasSumWithoutName { reading.warnings.append(.sumWithoutName) }
    if scanner.hasSumInName { reading.warnings.append(.sumInName) }
    for item in scanner.items {
      switch item {
      case .reading(let text, let said):
        reading.pieces.append(Piece(language: book.locale, voice: book.voice, text: text, said: said))
      case .words(let words):
        append(words, to: &reading)
      }
    }
    reading.pieces = Self.spaced(reading.pieces)
    if kind == .name, saysSum(reading.pieces) {
      let whole = String(String.UnicodeScalarView(scanner.text.scalars)).trimmed
      return Reading(unspoken: [whole], warnings: [.sumInName])
    }
    return reading
  }

  /// Returns whether the remaining words of a name sound like a sum. This can happen because unreadable letters and
  /// removed sums no longer separate the words.
  private func saysSum(_ pieces: [Piece]) -> Bool {
    let said = pieces.map { $0.said ?? $0.text }
    return ["", " "].contains { separator in
      !sumWords.table.sums(in: FoldedText(said.joined(separator: separator)), speaksOfPayment: false).isEmpty
    }
  }

  /// Assigns each letter to a voice that can speak it, and records the letters that no voice can speak.
  private func append(_ words: String, to reading: inout Reading) {
    var pieces: [Piece] = []
    var leftOut = String.UnicodeScalarView()
    func closeLeftOut() {
      if !leftOut.isEmpty { reading.unspoken.append(String(leftOut)) }
      leftOut = String.UnicodeScalarView()
    }
    // CLDR separates the words of some names with a middle dot, which no voice can say: トンガ パ・アンガ.
    for scalar in words.unicodeScalars.map({ $0 == "・" ? " " : $0 }) {
      guard let script = WritingSystem.of(scalar) else {
        if scalar.isWordPart, !scalar.isMark || !leftOut.isEmpty {
          leftOut.append(scalar)  // A letter of a script that no voice reads, or a mark on such a letter.
        } else {
          if !scalar.isWordPart { closeLeftOut() }
          if let last = pieces.indices.last { pieces[last].text.unicodeScalars.append(scalar) }
        }
        continue
      }
      guard let (language, voice) = voice(for: scalar, script) else {
        leftOut.append(scalar)
        continue
      }
      closeLeftOut()
      if language != book.locale, book.content.borrowedScripts?.contains(script) == true {
        let warning = Warning.borrowedVoice(language: language)
        if !reading.warnings.contains(warning) { reading.warnings.append(warning) }
      }
      if let last = pieces.indices.last, pieces[last].voice == voice {
        pieces[last].text.unicodeScalars.append(scalar)
      } else {
        pieces.append(Piece(language: language, voice: voice, text: String(scalar)))
      }
    }
    closeLeftOut()
    reading.pieces += pieces.compactMap { piece in
      let tidied = Self.tidied(piece.text)
      return tidied.isEmpty ? nil : Piece(language: piece.language, voice: piece.voice, text: tidied)
    }
  }

  /// Returns the voice for a letter: the book's own voice if it reads the letter's script, or else the voice for that
  /// script.
  private func voice(for scalar: Unicode.Scalar, _ script: String) -> (language: String, voice: String)? {
    if let voice = book.voice, book.writingSystems.contains(script), pronunciations.canSay(scalar, by: voice) {
      return (book.locale, voice)
    }
    guard let other = voices.voice(for: script), pronunciations.canSay(scalar, by: other.voice) else { return nil }
    return other
  }

  /// Inserts a space between consecutive pieces of the same voice. Such pieces come from a lexicon and from the text
  /// around its entry.
  private static func spaced(_ pieces: [Piece]) -> [Piece] {
    var spaced = pieces
    for index in spaced.indices.dropLast() where spaced[index].voice == spaced[index + 1].voice {
      guard let last = spaced[index].text.unicodeScalars.last, !last.isUnspaced else { continue }
      spaced[index].text += " "
      spaced[index].said?.append(" ")
    }
    return spaced
  }

  /// The largest length of a word. Longer words, and clauses without a stop, are divided, because the engine silently
  /// drops text that exceeds its tables. Measured on espeak-ng 1.51, the tables hold a word of 55 Hangul syllables, 72
  /// kana or 150 letters, and a clause of 150 syllables.
  private static let longestWord = 36
  private static let longestClause = 90

  /// Returns the text with single spaces, without punctuation before the first word, and without two punctuation marks
  /// in a row. An apostrophe remains only inside a word, at most once per word.
  private static func tidied(_ text: String) -> String {
    var words: [String] = []
    var clause = 0
    for chunk in text.split(separator: " ") {
      let stop = chunk.last.flatMap { $0 == "," || $0 == "." ? $0 : nil }
      let letters = chunk.filter { $0 != "," && $0 != "." }
      var pieces = letters.split(separator: "'").map(String.init)
      // A name or a possessive has one apostrophe. Text with more apostrophes is not a word, so its pieces are spoken
      // separately.
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
