// SPDX-License-Identifier: Apache-2.0

/// The words for those numbers in a text that are not sums, by the rules of a phrase book.
struct SpokenNumbers {
  let book: PhraseBook

  private var grammar: AmountGrammar { AmountGrammar(book: book) }
  private var rules: TextRules? { book.content.text }

  /// Returns the words of a number without context. A quantity is read as a number, and a long row of digits is read
  /// digit by digit.
  func number(_ number: WrittenNumber) -> String {
    guard let (whole, fraction) = number.value else {
      return number.groups.map { grammar.digits($0) }.joined(separator: ", ")
    }
    guard isQuantity(whole, isGrouped: !number.isPlain) else {
      return fraction.isEmpty ? grammar.numberDigits(whole) : decimal(grammar.digits(whole), fraction)
    }
    let words = book.numbers.words(Self.value(whole))
    return fraction.isEmpty
      ? grammar.joined(words) : decimal(grammar.joined(grammar.beforePoint(words)), fraction)
  }

  private func decimal(_ whole: String, _ fraction: [Int]) -> String {
    [whole, book.content.decimalPoint, grammar.digits(fraction)].joined(separator: book.content.wordSeparator)
  }

  /// Returns whether digits are a quantity. A long row of digits, or a row that begins with zero, is an identifier,
  /// such as a telephone or order number.
  func isQuantity(_ digits: [Int], isGrouped: Bool = false) -> Bool {
    digits.count <= (isGrouped ? 12 : 4) && (digits.first != 0 || digits.count == 1)
  }

  static func value(_ digits: some Sequence<Int>) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1) } }

  func cardinal(_ value: Int64) -> String { grammar.cardinal(value) }

  func identifier(_ digits: [Int]) -> String { grammar.numberDigits(digits) }

  // MARK: Numbers that change

  /// Returns the words of an ordinal.
  ///
  /// - Returns: `nil` when the language has no such ordinal.
  func ordinal(_ value: Int64, _ rule: TextRules.Ordinal) -> String? {
    var words = book.numbers.words(value)
    guard let last = words.last else { return nil }
    if let changed = rule.words[last.text] {
      guard rule.ending != nil || words.count == 1 else { return nil }
      words[words.count - 1] = NumberWord(changed)
    } else if let ending = rule.ending {
      words[words.count - 1] = NumberWord(last.text + ending)
    } else {
      return nil
    }
    return grammar.joined(words)
  }

  /// Returns the words of a number and the counted noun after it: `いっぱい`, `두 잔`, `两杯`.
  func counted(_ value: Int64, _ counter: TextRules.Counter) -> String {
    if let exact = counter.exact?[String(value)] { return exact }
    var words = book.numbers.words(counting: value)
    if counter.isNative == true, (1...99).contains(value) {
      words = book.content.summary.counting(value, by: book.numbers)
    }
    guard let endings = counter.endings, let last = words.last else {
      return grammar.joined(words) + book.content.wordSeparator + counter.other
    }
    // The longest matching ending is used: じゅう before う.
    let ending = endings.filter { last.text.hasSuffix($0.key) }.max { $0.key.count < $1.key.count }
    guard let ending else { return grammar.joined(words) + counter.other }
    words[words.count - 1] = NumberWord(String(last.text.dropLast(ending.key.count)) + ending.value)
    return grammar.joined(words)
  }

  /// Returns the words of a number in the form that stands before a noun: `una torta`.
  ///
  /// - Parameter gender: the noun's gender, as the book names it.
  func agreeing(_ value: Int64, gender: String?) -> String {
    grammar.joined(book.numbers.words(counting: value, gender: gender))
  }

  func fraction(_ numerator: Int64, _ denominator: Int64) -> String? {
    if let words = rules?.fractions?["\(numerator)/\(denominator)"] { return words }
    return rules?.fraction?
      .replacing("{numerator}", with: cardinal(numerator)).replacing("{denominator}", with: cardinal(denominator))
  }

  func mixedFraction(_ whole: Int64, _ fraction: String) -> String? {
    rules?.mixedFraction?.replacing("{whole}", with: cardinal(whole)).replacing("{fraction}", with: fraction)
  }

  func percent(_ number: WrittenNumber) -> String? {
    guard number.value != nil else { return nil }
    return rules?.percent?.replacing("{number}", with: self.number(number))
  }

  // MARK: Times and dates

  func time(hour: Int, minute: Int, second: Int, isMorning: Bool?) -> String? {
    guard let rules = rules?.time, (0...24).contains(hour), (0...59).contains(minute) else { return nil }
    let spokenHour = rules.hours[hour]
    var time: String
    if minute == 0 {
      let plain = hour > 12 ? rules.wholeHourAfterNoon ?? rules.wholeHour : rules.wholeHour
      // The hour is “twelve a m” and not “twelve o'clock a m”.
      time = (isMorning == nil ? plain : rules.wholeHourWithPeriod ?? plain).replacing("{hour}", with: spokenHour)
    } else {
      let words = rules.minute.map { counted(Int64(minute), $0) } ?? cardinal(Int64(minute))
      time = (minute < 10 ? rules.minuteBelowTen ?? rules.hourAndMinute : rules.hourAndMinute)
        .replacing("{hour}", with: spokenHour).replacing("{minute}", with: words)
    }
    if second > 0, let seconds = rules.seconds {
      time = seconds.replacing("{time}", with: time).replacing("{second}", with: cardinal(Int64(second)))
    }
    if let isMorning { time = (isMorning ? rules.am : rules.pm).replacing("{time}", with: time) }
    return time
  }

  func date(year: Int, month: Int, day: Int) -> String? {
    guard let rules = rules?.date, (1...12).contains(month), (1...31).contains(day) else { return nil }
    return rules.full
      .replacing("{month}", with: rules.months[month - 1])
      .replacing("{day}", with: rules.days?[day - 1] ?? cardinal(Int64(day)))
      .replacing("{year}", with: self.year(year, rules.year))
  }

  /// Returns the words of a decade, by its first year: nineteen nineties.
  func decade(_ year: Int) -> String? {
    let (century, rest) = year.quotientAndRemainder(dividingBy: 100)
    guard let decade = rules?.date?.decades?[(rest < 10 ? "0" : "") + String(rest)] else { return nil }
    return century == 0 ? decade : cardinal(Int64(century)) + book.content.wordSeparator + decade
  }

  func year(_ year: Int, _ style: TextRules.Date.Year) -> String {
    switch style {
    case .cardinal: return cardinal(Int64(year))
    case .digits: return grammar.digits(String(year).compactMap(\.wholeNumberValue))
    case .pairs:
      let (century, rest) = year.quotientAndRemainder(dividingBy: 100)
      // The year 2005 is “two thousand five”, because “nineteen oh five” would be 1905.
      return rest >= 10
        ? cardinal(Int64(century)) + book.content.wordSeparator + cardinal(Int64(rest)) : cardinal(Int64(year))
    }
  }
}
