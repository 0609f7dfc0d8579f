// SPDX-License-Identifier: Apache-2.0

/// Recognises those numbers of a text that are not sums, and returns their words: dates, times, telephone and order
/// numbers, fractions, ordinals, percentages and counts.
///
/// Each function examines one place in the text. It returns the words and the index after the recognised text, or
/// `nil`.
struct WrittenText {
  typealias Spoken = (words: String, end: Int)

  let text: FoldedText
  let book: PhraseBook

  private var scalars: [Unicode.Scalar] { text.scalars }
  private var numbers: SpokenNumbers { SpokenNumbers(book: book) }

  // MARK: Looking

  /// Returns the digits that begin at `index`; `nil` when there are none, or more than `longest`.
  private func digits(at index: Int, atMost longest: Int = 18) -> (digits: [Int], end: Int)? {
    var end = index
    while end < scalars.count, scalars[end].digit != nil { end += 1 }
    guard end > index, end - index <= longest else { return nil }
    return (scalars[index..<end].compactMap(\.digit), end)
  }

  private func scalar(at index: Int) -> Unicode.Scalar? { scalars.indices.contains(index) ? scalars[index] : nil }

  private func skippingSpace(_ index: Int) -> Int { scalar(at: index) == " " ? index + 1 : index }

  /// Returns the end of the first of these words that occurs at `index` as a whole word, in any letter case.
  private func end(of words: [String], at index: Int) -> Int? {
    for word in words {
      let end = index + word.unicodeScalars.count
      guard end <= scalars.count, text.lowered[index..<end].elementsEqual(word.unicodeScalars),
        !(scalar(at: end)?.isWordPart ?? false)
      else { continue }
      return end
    }
    return nil
  }

  // MARK: Dates and times

  /// Reads a date: `2026-11-21`, `21/11/2026`.
  func date(at index: Int) -> Spoken? {
    guard let rules = book.content.text?.date, let first = digits(at: index, atMost: 4),
      let separator = scalar(at: first.end), "-/.".unicodeScalars.contains(separator),
      let second = digits(at: first.end + 1, atMost: 2), scalar(at: second.end) == separator,
      let third = digits(at: second.end + 1, atMost: 4), scalar(at: third.end) != separator
    else { return nil }
    let values = [first, second, third].map { Int(SpokenNumbers.value($0.digits)) }
    let (year, month, day): (Int, Int, Int)
    if first.digits.count == 4, third.digits.count <= 2 {
      (year, month, day) = (values[0], values[1], values[2])
    } else if third.digits.count == 4, first.digits.count <= 2 {
      // The first number may be only a day, only a month, or either.
      let isMonthFirst = values[1] > 12 || (values[0] <= 12 && rules.order == .mdy)
      (year, month, day) = (values[2], values[isMonthFirst ? 0 : 1], values[isMonthFirst ? 1 : 0])
    } else {
      return nil
    }
    return numbers.date(year: year, month: month, day: day).map { ($0, third.end) }
  }

  /// Reads a year before the language's word for it, digit by digit (1998年), or a decade (the 1990s).
  func year(at index: Int) -> Spoken? {
    guard let rules = book.content.text?.date, let (digits, end) = digits(at: index, atMost: 4) else { return nil }
    let value = Int(SpokenNumbers.value(digits))
    if rules.decades != nil, digits.count == 2 || digits.count == 4 && value > 1_000 {
      let letter = scalar(at: end) == "'" ? end + 1 : end
      guard let words = numbers.decade(value), let markEnd = self.end(of: ["s"], at: letter) else { return nil }
      return (words, markEnd)
    }
    // A number with fewer digits, or a round thousand, is more often a number of years.
    guard rules.year == .digits, let mark = rules.yearMark, scalars[end...].starts(with: mark.unicodeScalars),
      digits.count == 4 ? value % 1_000 != 0 || value == 2_000 : digits.count == 2 && value < 10
    else { return nil }
    return (AmountGrammar(book: book).digits(digits), end)
  }

  /// Reads the day, and the year if it follows, after the name of a month: Nov 3, November 3, 2026.
  func dayBehindMonth(at index: Int) -> Spoken? {
    guard let rules = book.content.text?.date, rules.order == .mdy, let days = rules.days,
      let (digits, end) = digits(at: index, atMost: 2), scalar(at: index - 1) == " "
    else { return nil }
    let day = Int(SpokenNumbers.value(digits))
    guard (1...31).contains(day), isMonth(before: index - 1) else { return nil }
    // In the texts Nov 3:30, Nov 3%, Nov 3rd and Nov 3.5, the number is not a day.
    if let next = scalar(at: end), next.isWordPart || "%:/-'".unicodeScalars.contains(next) { return nil }
    if scalar(at: end) == ".", scalar(at: end + 1)?.digit != nil { return nil }
    guard scalar(at: end) == ",", scalar(at: end + 1) == " ", let year = self.digits(at: end + 2, atMost: 4),
      year.digits.count == 4, scalar(at: year.end) != ",", !(scalar(at: year.end)?.isWordPart ?? false)
    else { return (days[day - 1], end) }
    return (days[day - 1] + ", " + numbers.year(Int(SpokenNumbers.value(year.digits)), rules.year), year.end)
  }

  /// Returns whether the name of a month or its first three letters end at `end`, with a capital as in a name.
  private func isMonth(before end: Int) -> Bool {
    let wordEnd = scalar(at: end - 1) == "." ? end - 1 : end
    let start = (scalars[..<wordEnd].lastIndex { !$0.isWordPart } ?? -1) + 1
    guard start < wordEnd, scalars[start] != text.lowered[start] else { return false }
    let word = String(String.UnicodeScalarView(text.lowered[start..<wordEnd]))
    return (book.content.text?.date?.months ?? []).contains { month in
      let month = month.lowercased()
      return word == month || word == month.prefix(3) || word == "sept" && month.hasPrefix(word)
    }
  }

  /// Reads an abbreviation of “number” before a number: No. 5, Nº 5.
  func numberSign(at index: Int) -> Spoken? {
    guard let said = book.content.symbols["#"] else { return nil }
    for sign in book.content.text?.numberSigns ?? [] {
      let end = index + sign.unicodeScalars.count
      guard end < scalars.count, text.lowered[index..<end].elementsEqual(sign.unicodeScalars) else { continue }
      let start = skippingSpace(end)
      // In “yes or no. 5 pieces” a sentence ends.
      let isWord = sign.hasSuffix(".") && start > end && scalars[index] == text.lowered[index]
      guard scalar(at: start)?.digit != nil, !isWord else { continue }
      return (said, start)
    }
    return nil
  }

  /// Reads a time: `12:30`, `9:00 am`, `9 pm`.
  func time(at index: Int) -> Spoken? {
    guard book.content.text?.time != nil, let hour = digits(at: index, atMost: 2) else { return nil }
    var (minute, second) = (0, 0)
    var end = hour.end
    let hasMinutes = scalar(at: end) == ":"
    if hasMinutes {
      guard let minutes = digits(at: end + 1, atMost: 2), minutes.digits.count == 2 else { return nil }
      minute = Int(SpokenNumbers.value(minutes.digits))
      end = minutes.end
      if scalar(at: end) == ":", let seconds = digits(at: end + 1, atMost: 2), seconds.digits.count == 2 {
        second = Int(SpokenNumbers.value(seconds.digits))
        guard second < 60 else { return nil }
        end = seconds.end
      }
    }
    let period = skippingSpace(end)
    let morning = self.end(of: ["a.m.", "a.m", "am"], at: period)
    let afternoon = morning == nil ? self.end(of: ["p.m.", "p.m", "pm"], at: period) : nil
    guard hasMinutes || morning != nil || afternoon != nil else { return nil }
    let isMorning = morning != nil ? true : afternoon != nil ? false : nil
    let words = numbers.time(
      hour: Int(SpokenNumbers.value(hour.digits)), minute: minute, second: second, isMorning: isMorning)
    return words.map { ($0, morning ?? afternoon ?? end) }
  }

  // MARK: Numbers that are names

  /// The largest number of digit groups in one number. A search starts at every digit, so a longer limit would make
  /// long rows slow.
  private static let mostGroups = 16

  /// Reads a telephone, card or order number: `555-123-4567`, `138****1234`, `INV-0042`, the digits after 尾号.
  func identifier(at index: Int) -> Spoken? {
    guard let first = digits(at: index, atMost: 64) else { return nil }
    var groups = [first.digits]
    var end = first.end
    var isMasked = false
    var separators: [Unicode.Scalar] = []
    while groups.count < Self.mostGroups, let (next, separator) = nextGroup(behind: end) {
      groups.append(next.digits)
      separators.append(separator)
      isMasked = isMasked || separator == "*"
      end = next.end
    }
    let count = groups.reduce(0) { $0 + $1.count }
    if groups.count > 1, isMasked || Self.isNumberName(groups, separators, digits: count) {
      return (groups.map { numbers.identifier($0) }.joined(separator: ", "), end)
    }
    guard isNamedIdentifier(at: index), first.digits.count > 2 || first.digits[0] == 0 else { return nil }
    // A number with a decimal part is a quantity.
    if let separator = scalar(at: first.end), ",.".unicodeScalars.contains(separator),
      scalar(at: first.end + 1)?.digit != nil
    {
      return nil
    }
    return (numbers.identifier(first.digits), first.end)
  }

  /// Returns the next group of digits. It comes after one hyphen, space, point or bracket, or after signs that mask
  /// digits.
  private func nextGroup(behind end: Int) -> (group: (digits: [Int], end: Int), separator: Unicode.Scalar)? {
    guard var separator = scalar(at: end) else { return nil }
    var start = end + 1
    if "*xX".unicodeScalars.contains(separator) {
      while let hidden = scalar(at: start), "*xX".unicodeScalars.contains(hidden) { start += 1 }
      guard separator == "*" || start - end >= 2 else { return nil }
      separator = "*"
    } else if separator == ")" {
      if let space = scalar(at: start), space == " " || space == "-" { start += 1 }
    } else if !"- .".unicodeScalars.contains(separator) {
      return nil
    }
    return digits(at: start).map { ($0, separator) }
  }

  private static func isNumberName(_ groups: [[Int]], _ separators: [Unicode.Scalar], digits: Int) -> Bool {
    let sizes = groups.map(\.count)
    if separators.contains(".") {
      return Set(separators) == ["."] && groups.count >= 4 || digits >= 10 && groups.count == 3
    }
    // Two numbers separated by a space may be unrelated quantities, whereas the groups of a telephone number are long.
    if separators.contains(" ") { return digits >= 7 && sizes.allSatisfy { $0 >= 2 } }
    return digits >= 7 && sizes.allSatisfy { $0 >= 2 } || groups.count >= 3 && digits >= 6
      || digits >= 6 && sizes.allSatisfy { $0 >= 3 }
  }

  /// Returns whether the number at `index` is marked as an identifier by letters, a hyphen after letters, `#`, or a
  /// word such as “order”.
  private func isNamedIdentifier(at index: Int) -> Bool {
    guard let before = scalar(at: index - 1) else { return false }
    if before.isWordPart && !before.isUnspaced || before == "#" || before == "№" || before == "+" { return true }
    if before == "-", let letter = scalar(at: index - 2), letter.isWordPart { return true }
    var end = index
    while end > 0, " :#.：".unicodeScalars.contains(scalars[end - 1]) { end -= 1 }
    for word in book.content.text?.identifiers ?? [] {
      let start = end - word.unicodeScalars.count
      guard start >= 0, text.lowered[start..<end].elementsEqual(word.unicodeScalars) else { continue }
      let isUnspaced = word.unicodeScalars.allSatisfy(\.isUnspaced)
      if isUnspaced || !(scalar(at: start - 1)?.isWordPart ?? false) { return true }
    }
    return false
  }

  // MARK: Quantities

  /// Reads a fraction, an ordinal, a percentage, a count, or a plain number.
  func quantity(at index: Int) -> Spoken? {
    guard let number = WrittenNumber(scalars, at: index, of: book) else { return nil }
    if let spoken = fraction(at: index) { return spoken }
    if number.isPlain, let whole = number.value?.whole, whole.count <= 9 {
      let value = SpokenNumbers.value(whole)
      if let spoken = mixedFraction(value, behind: number.end) ?? ordinal(value, behind: number.end)
        ?? counted(whole, value, behind: number.end) ?? agreeing(whole, value, behind: number.end)
      {
        return spoken
      }
    }
    let sign = skippingSpace(number.end)
    if let percent = scalar(at: sign), percent == "%" || percent == "٪", let words = numbers.percent(number) {
      return (words, sign + 1)
    }
    return (numbers.number(number), number.end)
  }

  private func fraction(at index: Int) -> Spoken? {
    guard let (over, under, end) = plainFraction(at: index) else { return nil }
    return numbers.fraction(over, under).map { ($0, end) }
  }

  /// Reads a fraction smaller than one: `1/2`, `½`.
  func plainFraction(at index: Int) -> (numerator: Int64, denominator: Int64, end: Int)? {
    guard let numerator = digits(at: index, atMost: 2), let slash = scalar(at: numerator.end),
      slash == "/" || slash == FoldedText.fractionSlash,
      let denominator = digits(at: numerator.end + 1, atMost: 3), scalar(at: denominator.end) != slash,
      scalar(at: index - 1) != slash
    else { return nil }
    let (over, under) = (SpokenNumbers.value(numerator.digits), SpokenNumbers.value(denominator.digits))
    // The text 24/7 is not a fraction.
    guard over > 0, over < under else { return nil }
    return (over, under, denominator.end)
  }

  /// Reads a number with a fraction: `3½`, `1 1/2`.
  private func mixedFraction(_ whole: Int64, behind end: Int) -> Spoken? {
    guard scalar(at: end) == " ", let fraction = fraction(at: end + 1) else { return nil }
    return numbers.mixedFraction(whole, fraction.words).map { ($0, fraction.end) }
  }

  private func ordinal(_ value: Int64, behind end: Int) -> Spoken? {
    for rule in book.content.text?.ordinals ?? [] {
      if let markEnd = self.end(of: rule.marks, at: end), let words = numbers.ordinal(value, rule) {
        return (words, markEnd)
      }
    }
    return nil
  }

  private func counted(_ digits: [Int], _ value: Int64, behind end: Int) -> Spoken? {
    guard numbers.isQuantity(digits), let counters = book.content.text?.counters else { return nil }
    let start = skippingSpace(end)
    guard let entry = book.counterNames.match(text.lowered, at: start), let counter = counters[entry.value] else {
      return nil
    }
    return (numbers.counted(value, counter), start + entry.key.count)
  }

  /// Returns the words of a number before a noun with which the number agrees.
  private func agreeing(_ digits: [Int], _ value: Int64, behind end: Int) -> Spoken? {
    guard numbers.isQuantity(digits), let genders = book.content.text?.genders, scalar(at: end) == " " else {
      return nil
    }
    var wordEnd = end + 1
    while let letter = scalar(at: wordEnd), letter.isWordPart { wordEnd += 1 }
    guard wordEnd > end + 2 else { return nil }
    let noun = String(String.UnicodeScalarView(text.lowered[end + 1..<wordEnd]))
    let isFeminine =
      genders.feminine?.contains(noun) == true
      || !genders.masculine.contains(noun) && genders.feminineEndings.contains { noun.hasSuffix($0) }
    return (numbers.agreeing(value, gender: isFeminine ? "feminine" : nil), end)
  }
}
