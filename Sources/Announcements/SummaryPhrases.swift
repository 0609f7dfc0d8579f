// SPDX-License-Identifier: Apache-2.0

/// How a book tells several payments as one, and how it counts them: the key `summary` of a phrase book.
struct SummaryPhrases: Sendable, Decodable {
  /// The sentence of one payment, where it differs.
  var one: String?
  /// The sentence of a sum, with the places `{count}` and `{amount}`.
  var other: String
  /// Between two sentences: the sums in two currencies.
  var separator: String

  /// Whether what is counted is feminine: veintiuna operaciones, but veintiún pagos.
  var feminine: Bool?
  /// Where the language has words of its own for a count's tens and ones: 스물한 건.
  var belowHundred: CountsBelowHundred?
  /// What the last word of the count becomes before what is counted: `いち` + `けん` is いっけん.
  var contractions: [String: String]?

  /// Nine words each, for 1 to 9 at that place.
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

  /// The words of a count of payments.
  func counting(_ count: Int64, by numbers: NumberWords) -> [NumberWord] {
    var words = numbers.words(counting: count, isFeminine: feminine ?? false)
    let rest = count % 100
    if let belowHundred, rest > 0 {
      let plain = numbers.words(counting: rest, isFeminine: feminine ?? false)
      // What stands above the hundred stays as it is, and as it is bound to the rest: 백이십일 becomes 백스물한.
      words = words.dropLast(plain.count) + belowHundred.words(Int(rest))
    }
    if let last = words.last, let contracted = contractions?[last.text] {
      words[words.count - 1] = NumberWord(contracted)
    }
    return words
  }

  /// What is wrong, to be read after `summary`.
  var fault: String? {
    for (name, sentence) in [("one", one), ("other", other)] {
      if let sentence, let fault = SentenceTemplate.summaryFault(in: sentence) { return ".\(name) \(fault)" }
    }
    if separator.isEmpty || separator.contains(where: { $0.isLetter || $0.isNumber }) {
      return ".separator is not the punctuation between two sentences"
    }
    for (name, row) in [("tens", belowHundred?.tens), ("ones", belowHundred?.ones)] {
      if let row, row.count != 9 { return ".belowHundred.\(name) has \(row.count) words and not nine" }
    }
    let words = (belowHundred?.tens ?? []) + (belowHundred?.ones ?? []) + (contractions.map { Array($0.values) } ?? [])
    // 百 is a number too, and a word.
    let isWord = { (word: String) in
      word.contains(where: \.isLetter)
        && !word.unicodeScalars.contains { $0.properties.generalCategory == .decimalNumber }
    }
    return words.allSatisfy(isWord) ? nil : " has a word of a count that is no word"
  }
}
