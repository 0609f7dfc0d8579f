// SPDX-License-Identifier: Apache-2.0

/// Turns the numbers and signs of a text into words of a phrase book's language. It reads the text from left to right.
///
/// Each kind of number has one function. The function examines one place in the text and consumes what it recognises.
/// At each place the first function that recognises something is used.
struct FreeTextScanner {
  /// The kind of text. It determines whether the text may sound like a sentence, and whether it may contain a sum.
  enum Kind {
    /// An alert, or a text that is announced by itself.
    case text
    /// A payer's message. A full stop in it does not end a sentence.
    case note
    /// The name of a payer or a channel. It has no pauses, and its digits are read one by one. A sum in the name is not
    /// spoken, because a listener would mistake it for the sum paid.
    case name
  }

  /// A part of the text as it will be spoken.
  enum Item: Equatable {
    case words(String)
    /// Words for which a lexicon gives a pronunciation.
    case reading(text: String, said: String)
  }

  let book: PhraseBook
  let kind: Kind
  let lexicon: ReplacementTable
  /// The words that sums can contain, in all languages that have a phrase book.
  let sumWords: SumWords
  let text: FoldedText

  private(set) var items: [Item] = []

  /// The parts of the text that are not spoken, spelled as in the text.
  private(set) var leftOut: [String] = []

  /// Whether a sum is spoken digit by digit because it can be read in two ways.
  private(set) var hasUncertainSum = false

  /// Whether a sum was left out because the book's voice has no name for its currency.
  private(set) var hasSumWithoutName = false

  /// Whether a sum in a name was left out.
  private(set) var hasSumInName = false

  private var index = 0

  /// The index after the end of the last spoken number.
  private var numberEnd: Int?
  private var scalars: [Unicode.Scalar] { text.scalars }
  private var numbers: SpokenNumbers { SpokenNumbers(book: book) }
  private let sums: SumScanner

  /// Whether the text has the sign of a currency that the book does not know.
  private var hasUnknownSign = false

  /// The sums in words that a name contains: the start index of each, with the index after its end.
  private var endsOfSums: [Int: Int] = [:]

  init(_ text: String, book: PhraseBook, kind: Kind, lexicon: ReplacementTable, sumWords: SumWords) {
    self.book = book
    self.kind = kind
    self.lexicon = lexicon
    self.sumWords = sumWords
    self.text = FoldedText(text)
    sums = SumScanner(book: book, text: self.text)
    if kind == .name {
      let speaksOfPayment = book.sentenceWords.occurs(in: self.text.lowered)
      for sum in sumWords.table.sums(in: self.text, speaksOfPayment: speaksOfPayment) {
        endsOfSums[sum.lowerBound] = sum.upperBound
      }
    }
    hasUnknownSign = kind != .name && scalars.indices.contains(where: isUnknownSign)
    while index < scalars.count { takeNext() }
  }

  private mutating func takeNext() {
    if kind != .name, takeSum() { return }
    if !lexicon.isEmpty, let entry = lexicon.match(text.lowered, at: index) {
      items.append(.reading(text: slice(index..<index + entry.key.count), said: entry.value))
      index += entry.key.count
      return
    }
    let scalar = scalars[index]
    if kind == .name {
      if leaveOutSum() || takeNumberSign() { return }
      if scalar.digit != nil { return takeDigitsOfName() }
    } else if takeNumberSign() || takeAddress() || takeSumWithoutName() || takeNumber() || takeMinus()
      || takeCurrencyName()
    {
      return
    }
    if takeMask() || takeRomanNumeral() || takeEmoji() { return }
    index += 1
    if let words = book.content.symbols[String(scalar)] { return say(" \(words) ") }
    append(plain(scalar))
  }

  // MARK: Writing

  private mutating func append(_ text: String) {
    if case .words(let words) = items.last {
      items[items.count - 1] = .words(words + text)
    } else {
      items.append(.words(text))
    }
  }

  /// Appends words from the text without changing them.
  private mutating func say(_ words: String) { append(" \(words) ") }

  /// Appends the words of a number that starts at `start`. A comma separates the number from a previous number. Without
  /// the comma, “five to ten” would be heard as fifty.
  private mutating func sayNumber(_ words: String, from start: Int) {
    if let numberEnd, kind != .name, start > numberEnd || !goesOn(at: start),
      scalars[numberEnd..<start].allSatisfy({ " -\u{2013}~・/\u{A0}".unicodeScalars.contains($0) })
    {
      append(", ")
    }
    say(words)
    numberEnd = index
  }

  /// Returns whether the number follows the counter before it without a pause: 三块五.
  private func goesOn(at start: Int) -> Bool {
    (book.content.text?.joinedCounters ?? []).contains {
      scalars[..<start].suffix($0.unicodeScalars.count).elementsEqual($0.unicodeScalars)
    }
  }

  private func slice(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

  private func plain(_ scalar: Unicode.Scalar) -> String {
    if scalar.isWordPart { return String(scalar) }
    switch scalar {
    case "'": return "'"
    case ",", "、", ";", ":", "\n", "\r": return kind == .name ? " " : ", "
    // A full stop in a name or a note does not end a sentence. The words after it must not sound like a new
    // announcement.
    case ".", "。", "!", "?", "।", "…": return kind == .text ? ". " : kind == .note ? ", " : " "
    // A joiner changes the shape of the letters next to it (Hindi, Persian) and does not separate words.
    case "\u{200C}", "\u{200D}": return ""
    default: return " "
    }
  }

  // MARK: Names

  private mutating func takeDigitsOfName() {
    let start = index
    while index < scalars.count, scalars[index].digit != nil { index += 1 }
    let digits = scalars[start..<index].compactMap(\.digit)
    say(digits.count > 2 ? numbers.identifier(digits) : AmountGrammar(book: book).digits(digits))
  }

  /// Leaves out a sum of money in a name, written in digits or in words. If the name contains words of the book's
  /// payment sentences, any number in words counts as a sum.
  private mutating func leaveOutSum() -> Bool {
    guard let end = [sums.sum(at: index)?.end, endsOfSums[index]].compactMap(\.self).max() else { return false }
    leftOut.append(slice(index..<end))
    hasSumInName = true
    index = end
    append(" ")
    return true
  }

  // MARK: Sums

  private mutating func takeSum() -> Bool {
    guard mayBeginSum(scalars[index]), let sum = sums.sum(at: index) else { return false }
    let start = index
    index = sum.end
    let sign = sum.isNegative ? book.content.minus + " " : ""
    if let money = sum.money, let words = try? AmountGrammar(book: book).words(money) {
      sayNumber(sign + words.joined(), from: start)
      return true
    }
    guard let unit = AmountGrammar(book: book).name(of: sum.currency, isMinor: sum.isMinor) else {
      leaveOutSumWithoutName(start..<index)
      return true
    }
    // It is uncertain which sum was intended, so its digits are spoken as written, with the unit.
    hasUncertainSum = true
    let words = sign + numbers.digitsAsWritten(sum.number) + " " + numbers.withSpokenDigits(sum.scale)
    sayNumber(words + " " + unit, from: start)
    return true
  }

  private func mayBeginSum(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.digit != nil { return true }
    if scalar.isASCII { return "$-(".unicodeScalars.contains(scalar) || isWordStart && scalar.isWordPart }
    return scalar == "\u{2013}" || scalar == FoldedText.minus
      || book.currencySigns.match(text.lowered, at: index) != nil
  }

  /// Leaves out a number next to the sign of a currency for which the book has no name: ₿0.5. The number alone would be
  /// heard as a sum in the shop's currency.
  private mutating func takeSumWithoutName() -> Bool {
    guard hasUnknownSign else { return false }
    let end: Int
    func skipSpace(_ index: Int) -> Int {
      index < scalars.count && (scalars[index] == " " || scalars[index] == FoldedText.groupingSpace) ? index + 1 : index
    }
    if isUnknownSign(at: index) {
      guard let number = WrittenNumber(scalars, at: skipSpace(index + 1), of: book, isSum: true) else { return false }
      end = number.end
    } else if let number = WrittenNumber(scalars, at: index, of: book), isUnknownSign(at: skipSpace(number.end)) {
      end = skipSpace(number.end) + 1
    } else {
      return false
    }
    let start = index
    index = end
    leaveOutSumWithoutName(start..<end)
    return true
  }

  private func isUnknownSign(at index: Int) -> Bool {
    index < scalars.count && !scalars[index].isASCII
      && scalars[index].properties.generalCategory == .currencySymbol
      && book.currencySigns.match(text.lowered, at: index) == nil
  }

  private mutating func leaveOutSumWithoutName(_ range: Range<Int>) {
    leftOut.append(slice(range))
    hasSumWithoutName = true
    append(" ")
  }

  private var isWordStart: Bool {
    index == 0 || !(scalars[index - 1].isWordPart || scalars[index - 1].digit != nil)
      || scalars[index - 1].isUnspaced
  }

  /// Consumes a hyphen or minus that starts a number. A hyphen that joins the number to the text before it is not
  /// consumed.
  private mutating func takeMinus() -> Bool {
    guard scalars[index] == "-" || scalars[index] == FoldedText.minus, index + 1 < scalars.count,
      scalars[index + 1].digit != nil
    else { return false }
    guard index == 0 || !(scalars[index - 1].isWordPart || scalars[index - 1].digit != nil) else { return false }
    say(book.content.minus)
    index += 1
    return true
  }

  /// Consumes a currency sign that belongs to no number.
  private mutating func takeCurrencyName() -> Bool {
    let scalar = scalars[index]
    guard !scalar.isWordPart, let sign = book.currencySigns.match(text.lowered, at: index), sign.key.count == 1,
      let currency = Currency(code: sign.value)
    else { return false }
    index += 1
    if index < 2 || !scalars[index - 2].isWordPart,
      let name = AmountGrammar(book: book).name(of: currency, isMinor: false)
    {
      say(name)
    } else {
      leftOut.append(String(scalar))
    }
    return true
  }

  // MARK: Other numbers

  private mutating func takeNumber() -> Bool {
    guard scalars[index].digit != nil else { return false }
    let written = WrittenText(text: text, book: book)
    if let (words, end) = written.date(at: index) ?? written.year(at: index) ?? written.time(at: index)
      ?? written.dayBehindMonth(at: index) ?? written.identifier(at: index) ?? written.quantity(at: index)
    {
      let start = index
      index = end
      sayNumber(words, from: start)
      return true
    }
    return false
  }

  /// Consumes an abbreviation of “number” before a number.
  private mutating func takeNumberSign() -> Bool {
    guard isWordStart, let (words, end) = WrittenText(text: text, book: book).numberSign(at: index) else {
      return false
    }
    say(words)
    index = end
    return true
  }

  // MARK: Signs and letters that are no words

  /// Consumes signs that mask digits. The digits after such signs are the end of an identifier.
  private mutating func takeMask() -> Bool {
    let isStarred = scalars[index] == "*"
    guard isStarred || isWordStart else { return false }
    var end = index
    while end < scalars.count, scalars[end] == "*" || scalars[end] == "x" || scalars[end] == "X" { end += 1 }
    guard isStarred || end - index >= 2 && end < scalars.count && scalars[end].digit != nil else { return false }
    index = end
    append(" ")
    guard index < scalars.count, scalars[index].digit != nil else { return true }
    let start = index
    while index < scalars.count, scalars[index].digit != nil { index += 1 }
    say(numbers.identifier(scalars[start..<index].compactMap(\.digit)))
    return true
  }

  /// Consumes a Roman numeral and speaks its letters, because a voice would read it as a number. XL is also a size.
  private mutating func takeRomanNumeral() -> Bool {
    guard isWordStart, RomanNumeral.isLetter(scalars[index]) else { return false }
    var end = index
    while end < scalars.count, RomanNumeral.isLetter(scalars[end]) { end += 1 }
    let isEnded =
      end == scalars.count || scalars[end].isUnspaced || !(scalars[end].isWordPart || scalars[end].digit != nil)
    guard end - index >= 2, isEnded,
      RomanNumeral.isNumeral(scalars[index..<end])
    else { return false }
    // In a text that is all capitals, these letters are words: LI, VI, MIX.
    let isShouted = scalars != text.lowered && !zip(scalars, text.lowered).contains { $0 == $1 && $0.isWordPart }
    let isWhole = index == 0 && end == scalars.count
    if isShouted && !isWhole {
      say(String(String.UnicodeScalarView(text.lowered[index..<end])))
    } else {
      say(scalars[index..<end].map { String($0) }.joined(separator: " "))
    }
    index = end
    return true
  }

  private mutating func takeEmoji() -> Bool {
    guard scalars[index].isPictogram else { return false }
    let start = index
    while index < scalars.count, scalars[index].isPictogram || scalars[index].joinsPictograms { index += 1 }
    leftOut.append(slice(start..<index))
    append(" ")
    return true
  }

  /// Consumes an e-mail address or a web address. Its punctuation is spoken as words.
  private mutating func takeAddress() -> Bool {
    guard scalars[index].isASCII, isWordStart, scalars[index].isWordPart || scalars[index].digit != nil,
      let address = WebAddress(scalars, at: index)
    else { return false }
    for part in address.parts {
      switch part {
      case .letters(let letters): append(letters)
      case .digits(let digits): say(numbers.identifier(digits))
      case .sign(let sign): say(book.content.text?.addressSigns?[sign] ?? book.content.symbols[sign] ?? "")
      }
    }
    if !address.path.isEmpty { leftOut.append(address.path) }
    append(" ")
    index = address.end
    return true
  }
}

extension SpokenNumbers {
  /// Returns a text with its digits as words, one by one.
  func withSpokenDigits(_ text: String) -> String {
    let grammar = AmountGrammar(book: book)
    return text.unicodeScalars.map { $0.digit.map { " \(grammar.digits([$0])) " } ?? String($0) }.joined()
  }

  /// Returns the digits as words, one by one. A separator becomes a pause, or “point” if it is certainly a decimal
  /// point. Before three digits, a point may also be a grouping sign, as in €1.234.
  func digitsAsWritten(_ number: WrittenNumber) -> String {
    let grammar = AmountGrammar(book: book)
    if let (whole, fraction) = number.value, !fraction.isEmpty, fraction.count != 3 {
      return [grammar.digits(whole), book.content.decimalPoint, grammar.digits(fraction)].joined(separator: " ")
    }
    return number.groups.map { grammar.digits($0) }.joined(separator: ", ")
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a pictogram or a sign that no voice reads.
  var isPictogram: Bool {
    guard !isASCII else { return false }
    switch properties.generalCategory {
    case .otherSymbol, .modifierSymbol, .currencySymbol, .privateUse, .unassigned: return true
    default: return properties.isEmojiPresentation
    }
  }

  /// Whether the scalar joins two pictograms, or modifies the pictogram before it.
  fileprivate var joinsPictograms: Bool {
    ["\u{200D}", "\u{FE0E}", "\u{FE0F}", "\u{20E3}"].contains(self) || (0xE0020...0xE007F).contains(value)
      || properties.isEmojiModifier
  }
}

/// The Roman numerals that the engine recognises: those below fifty (espeak-ng 1.51), in capitals or small letters.
enum RomanNumeral {
  private static let values: [Unicode.Scalar: Int] = ["i": 1, "v": 5, "x": 10, "l": 50]

  /// Letters that, in lower case, are more often a word than a numeral.
  private static let words: Set<String> = ["li", "vi", "xi"]

  static func isLetter(_ scalar: Unicode.Scalar) -> Bool { values[scalar.lowercased] != nil }

  /// Returns whether the letters form a numeral in standard notation: IV and not IIII. The letters are all capitals or
  /// all small.
  static func isNumeral(_ letters: ArraySlice<Unicode.Scalar>) -> Bool {
    let lowered = letters.map(\.lowercased)
    let isSmall = lowered.elementsEqual(letters)
    let text = String(String.UnicodeScalarView(lowered))
    guard isSmall ? !words.contains(text) : letters.allSatisfy({ $0.lowercased != $0 }) else { return false }
    let numbers = lowered.compactMap { values[$0] }
    var total = 0
    for (index, number) in numbers.enumerated() {
      total += index + 1 < numbers.count && number < numbers[index + 1] ? -number : number
    }
    return (1..<50).contains(total) && written(total) == text
  }

  private static func written(_ number: Int) -> String {
    var rest = number
    var letters = ""
    let steps = [
      (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ]
    for (value, numeral) in steps {
      while rest >= value {
        letters += numeral
        rest -= value
      }
    }
    return letters
  }
}
