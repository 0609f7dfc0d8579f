// SPDX-License-Identifier: Apache-2.0

// The lookup tables for free text. They are built from the words of a phrase book when the book is read.

extension PhraseBook.Content {
  var unitNames: ReplacementTable {
    let words = Set(text?.ambiguousUnits ?? [])
    var table = ReplacementTable()
    for (code, units) in currencies {
      // 元 behind 新台币 is not a name of its own, but 新台币元 is.
      let before = units.major.before
      for name in units.major.allNames.map({ (before ?? "") + $0 }) {
        let isUnspaced = name.unicodeScalars.allSatisfy(\.isUnspaced)
        if isUnspaced || !words.contains(code) { table.add(name, code, isWholeWord: !isUnspaced) }
      }
    }
    return table
  }

  /// The signs and abbreviations of ``currencySigns``, each mapped to its currency's code.
  var currencySignTable: ReplacementTable {
    var table = ReplacementTable()
    for (sign, code) in currencySigns {
      let isWord = sign.unicodeScalars.first.map { $0.isWordPart && !$0.isUnspaced } ?? false
      table.add(String(String.UnicodeScalarView(FoldedText(sign).lowered)), code, isWholeWord: isWord)
    }
    return table
  }

  /// The words of ``TextRules/scales``, each mapped to its power of ten.
  var scaleTable: ReplacementTable {
    var table = ReplacementTable()
    for (word, power) in text?.scales ?? [:] {
      // Free text is composed before the lookup, and composition divides some letters of India.
      for form in Set([word, String(String.UnicodeScalarView(FoldedText(word).scalars))]) {
        table.add(form, String(power), isWholeWord: !form.unicodeScalars.allSatisfy(\.isUnspaced))
      }
    }
    return table
  }

  var readingTable: ReplacementTable {
    var table = ReplacementTable()
    for (text, said) in readings ?? [:] {
      table.add(text, said, isWholeWord: !text.unicodeScalars.allSatisfy(\.isUnspaced))
    }
    return table
  }

  /// The names of ``TextRules/counters``. Each is mapped to itself.
  var counterNames: ReplacementTable {
    var table = ReplacementTable()
    for name in (text?.counters ?? [:]).keys {
      table.add(name, name, isWholeWord: !name.unicodeScalars.allSatisfy(\.isUnspaced))
    }
    return table
  }

  /// The fixed words of the payment sentences, divided into clauses, and the complete phrases of channels.
  var sentenceWords: ReplacementTable {
    var table = ReplacementTable()
    for phrase in channels.values.compactMap({ $0.phrase(for: .received) }) where phrase.utf8.count > 8 {
      table.add(phrase, "", isWholeWord: !phrase.unicodeScalars.allSatisfy(\.isUnspaced))
    }
    for forms in Array(sentences.values) + channels.values.flatMap(\.sentences.values) {
      for (_, sentence) in forms.named {
        for case .words(let words) in SentenceTemplate.pieces(of: sentence, filled: []) {
          for clause in words.split(whereSeparator: { !$0.isLetter && !$0.isWhitespace && !$0.isMark }) {
            let phrase = String(clause).trimmed
            // Words of one or two letters do not indicate a payment: a, の, 의.
            guard phrase.unicodeScalars.count > 1, phrase.utf8.count > 3 else { continue }
            table.add(phrase, "", isWholeWord: !phrase.unicodeScalars.allSatisfy(\.isUnspaced))
          }
        }
      }
    }
    return table
  }

  /// The names of all units, major and minor.
  var allUnitNames: Set<String> {
    var names: Set<String> = []
    for units in currencies.values {
      for unit in [units.major] + units.minor {
        names.formUnion(unit.allNames.union(unit.alone?.all ?? []).union([unit.before].compactMap(\.self)))
      }
    }
    for name in (currencyNames ?? [:]).values { names.formUnion(name.all) }
    for shared in minorUnits ?? [] { names.formUnion(shared.unit.allNames) }
    return names.subtracting([""])
  }

  /// Returns every word that a number can contain. The words are collected by writing out sample numbers.
  func numberWords(_ numbers: NumberWords) -> Set<String> {
    Set(samples(numbers).flatMap { $0.forms.joined() }).union(digits).subtracting([""])
  }

  /// Returns every word with which a number can begin or end, and ``numberSounds``, as they are heard. A word that only
  /// joins other words, such as the Spanish y and de, is not among them.
  func heardNumbers(_ numbers: NumberWords) -> Set<String> {
    var words = Set(digits + (numberSounds ?? []))
    for (value, forms) in samples(numbers) {
      // Before a unit, a number of millions ends with a joining word: un millón de.
      for form in value < 1_000 ? forms : Array(forms.prefix(1)) {
        words.formUnion([form.first, form.last].compactMap(\.self))
      }
    }
    return Set(words.map(HeardText.word).filter { !$0.isEmpty })
  }

  /// Returns sample numbers that contain every number word. Each has its words as a number, its words in both genders
  /// before a unit, and its native words.
  private func samples(_ numbers: NumberWords) -> [(value: Int64, forms: [[String]])] {
    var values = Array(Int64(0)...100)
    var power: Int64 = 1_000
    while power < Money.largestMajorUnits {
      // Each digit may change the word of the power, or its own word: さんぜん, はっせん.
      values += (1...9).map { $0 * power }
      power *= 10
    }
    for hundreds in Int64(2)...9 { values += [hundreds * 100, hundreds * 100 + 1] }
    return values.map { value in
      let native = (1...99).contains(value) ? summary.belowHundred?.words(Int(value)) ?? [] : []
      let forms = numbers.forms(value) + [native]
      return (value, forms.map { $0.map { word in word.text.filter { $0.isLetter || $0.isMark } } })
    }
  }

  /// The words that stand between two words of a sum.
  var joiners: Set<String> { Set([majorMinorSeparator.trimmed, decimalPoint]).filter { !$0.isEmpty } }
}

extension Character {
  /// Whether the character consists of combining marks only.
  fileprivate var isMark: Bool { unicodeScalars.allSatisfy(\.isMark) }
}
