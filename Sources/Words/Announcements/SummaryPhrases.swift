// SPDX-License-Identifier: Apache-2.0

/// A book's wording for the summary of several payments, and for a number of payments: the key `summary` of a phrase
/// book.
struct SummaryPhrases: Sendable, Decodable {
  /// The sentence for one payment, if it differs from `other`.
  var one: String?
  /// The sentence for several payments. It has the placeholders `{count}` and `{amount}`.
  var other: String
  /// The separator between two sentences. Each currency has one sentence.
  var separator: String

  /// The gender of the counted noun: veintiuna operaciones, but veintiún pagos.
  var gender: String?
  /// The special words for the tens and ones of a count, if the language has them: 스물한 건.
  var belowHundred: CountsBelowHundred?
  /// The form that a count's last word takes before the counted noun: `いち` + `けん` becomes いっけん.
  var contractions: [String: String]?

  /// The words for the tens 10 to 90 and for the ones 1 to 9, nine words each.
  struct CountsBelowHundred: Sendable, Decodable {
    var tens: [String]
    var ones: [String]

    func words(_ number: Int) -> [NumberWord] {
      let (ten, one) = number.quotientAndRemainder(dividingBy: 10)
      let words = ten > 0 ? [NumberWord(tens[ten - 1], isBound: one > 0)] : []
      return one > 0 ? words + [NumberWord(ones[one - 1])] : words
    }
  }

  func sentence(of count: Int) -> String { count == 1 ? one ?? other : other }

  /// Returns the words for a number of payments.
  func counting(_ count: Int64, by numbers: NumberWords) -> [NumberWord] {
    var words = numbers.words(counting: count, gender: gender)
    let rest = count % 100
    if let belowHundred, rest > 0 {
      let plain = numbers.words(counting: rest, gender: gender)
      // The words for the hundreds and above stay the same, and so does their connection to the rest: 백이십일 becomes
      // 백스물한.
      words = words.dropLast(plain.count) + belowHundred.words(Int(rest))
    }
    if let last = words.last, let contracted = contractions?[last.text] {
      words[words.count - 1] = NumberWord(contracted)
    }
    return words
  }

  /// What is wrong with the phrases, phrased to follow the word `summary` in a message; `nil` if they are valid.
  var fault: String? {
    for (name, sentence) in [("one", one), ("other", other)] {
      if let sentence, let fault = SentenceTemplate.summaryFault(in: sentence) { return ".\(name) \(fault)" }
    }
    if separator.isEmpty || separator.contains(where: { $0.isLetter || $0.isNumber }) {
      return ".separator must be the punctuation between two sentences"
    }
    for (name, row) in [("tens", belowHundred?.tens), ("ones", belowHundred?.ones)] {
      if let row, row.count != 9 { return ".belowHundred.\(name) has \(row.count) words instead of nine" }
    }
    let words = (belowHundred?.tens ?? []) + (belowHundred?.ones ?? []) + (contractions.map { Array($0.values) } ?? [])
    // The character 百 is numeric according to Unicode, but is a valid word.
    let isWord = { (word: String) in
      word.contains(where: \.isLetter)
        && !word.unicodeScalars.contains { $0.properties.generalCategory == .decimalNumber }
    }
    return words.allSatisfy(isWord) ? nil : " contains an invalid word for a count"
  }
}
