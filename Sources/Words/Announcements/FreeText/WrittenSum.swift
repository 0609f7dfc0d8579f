// SPDX-License-Identifier: Apache-2.0

/// A sum of money as people write it in a text: a number, an optional multiplier and a currency.
///
/// Examples: `$1,234.50`, `1 000 €`, `₹5 lakh`, `¥1万2千`, `US$5bn`, `50¢`, `-$5` and, if no other text follows, `($5)`.
struct WrittenSum {
  /// The sum without a minus; `nil` when the digits can be read as more than one sum, or are not valid for the
  /// currency.
  let money: Money?
  let isNegative: Bool

  /// Whether the number counts minor units.
  let isMinor: Bool

  /// The number as written. Its digits are spoken one by one when there is no ``money``.
  let number: WrittenNumber

  /// The multiplier as written, if it could not be applied to the number.
  let scale: String

  /// The currency that the text names.
  let currency: Currency

  /// The index after the sum.
  let end: Int
}

/// Finds sums in a text.
struct SumScanner {
  let book: PhraseBook
  let text: FoldedText

  private var scalars: [Unicode.Scalar] { text.scalars }

  /// Returns the sum that begins at `start`; `nil` when none does.
  func sum(at start: Int) -> WrittenSum? {
    guard start < scalars.count else { return nil }
    var index = start
    if scalars[index] == "(" {
      guard isBracketOfSum(at: index), let sum = sum(at: index + 1), sum.end < scalars.count, scalars[sum.end] == ")"
      else { return nil }
      return WrittenSum(
        money: sum.money, isNegative: true, isMinor: sum.isMinor, number: sum.number, scale: sum.scale,
        currency: sum.currency,
        end: sum.end + 1)
    }
    var isNegative = takeMinus(&index, isFirst: true)
    var currency = takeCurrencyBefore(&index)
    if currency != nil, !isNegative { isNegative = takeMinus(&index, isFirst: false) }
    guard let number = number(at: index, isSum: currency != nil) else { return nil }
    let isUncertain = joinsNumbersByChance(number, from: index)
    index = number.end
    let scaleStart = index
    var amount = scaled(number, from: number.end - number.length, end: &index, isSum: currency != nil)
    if isUncertain { amount = nil }
    let scale = String(String.UnicodeScalarView(scalars[scaleStart..<index])).trimmed
    var isMinor = false
    if currency != nil, let code = codeBehind(index) {
      // In $5 USD and $5 MXN the code says which dollar or peso the sign stands for.
      (currency, index) = code
    } else if let named = currency, let end = endOfName(of: named, behind: index) {
      // In $5 million dollars the name repeats the sign.
      index = end
    } else if currency == nil {
      var behind = index
      if behind < scalars.count, scalars[behind] == " " || scalars[behind] == FoldedText.groupingSpace { behind += 1 }
      guard let (found, minor, end) = currencyBehind(behind, isAfterSpace: behind > index, number: number) else {
        return nil
      }
      (currency, isMinor, index) = (found, minor, end)
    }
    guard let currency else { return nil }
    // In a currency with three decimals, 12.500 is twelve and a half to some writers, and thousands to others.
    if currency.minorDigits == 3, book.decimalSeparator == ",", number.separators == ["."], number.groups[1].count == 3
    {
      amount = nil
    }
    var money: Money?
    if let amount {
      money = isMinor ? amount.minorUnits(of: currency) : amount.money(in: currency)
      if !isMinor, number.isPlain, let compound = minorParts(behind: index, of: currency, money: money) {
        (money, index) = (compound.money, compound.end)
      }
    }
    // A sum that is uncertain, too large, or has too many decimals is said as it is written, with its multiplier.
    return WrittenSum(
      money: money, isNegative: isNegative, isMinor: isMinor, number: number, scale: money == nil ? scale : "",
      currency: currency,
      end: index)
  }

  // MARK: Signs

  /// Returns whether a bracket means a negative sum, as in accounting. Such a bracket opens the text or follows a
  /// colon. Any other bracket encloses a remark.
  private func isBracketOfSum(at index: Int) -> Bool {
    var before = index - 1
    while before >= 0, scalars[before] == " " { before -= 1 }
    return before < 0 || scalars[before] == ":"
  }

  /// Consumes a minus that starts a sum. A hyphen that joins the sum to the text before it is not consumed.
  private func takeMinus(_ index: inout Int, isFirst: Bool) -> Bool {
    let signs: [Unicode.Scalar] = ["-", "\u{2013}", FoldedText.minus]
    guard index < scalars.count, signs.contains(scalars[index]) else { return false }
    guard !isFirst || index == 0 || !(scalars[index - 1].isWordPart || scalars[index - 1].digit != nil) else {
      return false
    }
    var next = index + 1
    // A dash followed by a space starts an item of a list. A mathematical minus followed by a space still belongs to
    // the sum.
    if next < scalars.count, scalars[next] == " ", scalars[index] == FoldedText.minus { next += 1 }
    guard next < scalars.count, scalars[next] != " " else { return false }
    index = next
    return true
  }

  // MARK: Currencies

  /// Consumes a sign, a sign after letters (`HK$`), a code or an abbreviation before the number. One space may follow.
  private func takeCurrencyBefore(_ index: inout Int) -> Currency? {
    guard index < scalars.count, index == 0 || !scalars[index - 1].isWordPart || scalars[index - 1].isUnspaced
    else { return nil }
    var end = index
    var currency: Currency?
    if let sign = sign(at: end), !scalars[end].isWordPart || !scalars[end].isUnspaced {
      currency = sign.currency
      if scalars[end].isWordPart, sign.end < scalars.count, scalars[sign.end] == "." {
        end = sign.end + 1
      } else {
        end = sign.end
      }
    } else {
      var word = ""
      while end < scalars.count, scalars[end].isASCII, scalars[end].isWordPart, word.count < 4 {
        word.unicodeScalars.append(scalars[end])
        end += 1
      }
      guard !word.isEmpty else { return nil }
      if end < scalars.count, scalars[end] == "$" || scalars[end] == "¥" || scalars[end] == "￥" {
        currency = CurrencyAbbreviations.withSign(word, scalars[end])
        end += 1
      } else {
        currency = CurrencyAbbreviations.currency(word, in: book)
        if currency != nil, end < scalars.count, scalars[end] == "." { end += 1 }
      }
    }
    guard let currency else { return nil }
    if end < scalars.count, scalars[end] == " " || scalars[end] == FoldedText.groupingSpace { end += 1 }
    // A currency sign without a number is not a sum, and neither is a sign followed by a letter.
    guard end < scalars.count, scalars[end].digit != nil || "-.\u{2013}\u{2212}".unicodeScalars.contains(scalars[end])
    else {
      return nil
    }
    index = end
    return currency
  }

  private func sign(at index: Int) -> (currency: Currency, end: Int)? {
    guard let match = book.currencySigns.match(text.lowered, at: index), let currency = Currency(code: match.value)
    else { return nil }
    return (currency, index + match.key.count)
  }

  /// Returns the currency after a number: a sign, a code, or the book's name for the unit.
  private func currencyBehind(
    _ index: Int, isAfterSpace: Bool, number: WrittenNumber
  ) -> (currency: Currency, isMinor: Bool, end: Int)? {
    guard index < scalars.count else { return nil }
    if let code = book.content.text?.minorSigns?[String(scalars[index])], let currency = Currency(code: code) {
      return (currency, true, index + 1)
    }
    if let sign = sign(at: index) {
      // A sign directly before another number belongs to that number: `5 €3`.
      let isOfNext = isAfterSpace && index + 1 < scalars.count && scalars[index + 1].digit != nil
      return isOfNext ? nil : (sign.currency, false, sign.end)
    }
    if let match = book.unitNames.match(text.lowered, at: index), let currency = Currency(code: match.value) {
      return (currency, false, index + match.key.count)
    }
    return code(at: index).map { ($0.currency, false, $0.end) }
  }

  /// Returns a code after a number, with one optional space between them.
  private func codeBehind(_ index: Int) -> (currency: Currency, end: Int)? {
    guard index < scalars.count else { return nil }
    return code(at: scalars[index] == " " || scalars[index] == FoldedText.groupingSpace ? index + 1 : index)
  }

  /// Returns the end of the currency's name if the name is repeated after a sum. The words `de` or `of` may stand
  /// before it.
  private func endOfName(of currency: Currency, behind index: Int) -> Int? {
    var start = index
    for word in [" de", " of"] where text.lowered[index...].starts(with: word.unicodeScalars) { start += 3 }
    if start < scalars.count, scalars[start] == " " { start += 1 }
    guard start < scalars.count else { return nil }
    if let sign = sign(at: start), sign.currency == currency, scalars[start].isWordPart { return sign.end }
    if let major = book.content.currencies[currency.code]?.major, major.before != nil, !major.names.other.isEmpty,
      text.lowered[start...].starts(with: major.names.other.unicodeScalars)
    {
      return start + major.names.other.unicodeScalars.count  // NT$100元
    }
    guard let match = book.unitNames.match(text.lowered, at: start), match.value == currency.code else { return nil }
    return start + match.key.count
  }

  private func code(at index: Int) -> (currency: Currency, end: Int)? {
    var end = index
    var word = ""
    // In Chinese and Japanese, the next word follows without a space: 500 USDです.
    while end < scalars.count, scalars[end].isWordPart, !scalars[end].isUnspaced, word.count < 4 {
      word.unicodeScalars.append(scalars[end])
      end += 1
    }
    guard word.count == 3, let currency = CurrencyAbbreviations.currency(word, in: book) else { return nil }
    return (currency, end)
  }

  // MARK: Numbers

  /// Returns whether a plain space may separate two unrelated numbers, as in `Table 4 350 dollars` and `$20 100 times`.
  private func joinsNumbersByChance(_ number: WrittenNumber, from start: Int) -> Bool {
    guard number.separators.contains(" ") else { return false }
    let isRound = number.groups.dropFirst().allSatisfy { $0 == [0, 0, 0] }
    let next = number.end + 1
    let isBeforeWord = next < scalars.count && scalars[number.end] == " " && scalars[next].isWordPart
    let isBehindWord =
      start >= 1 && scalars[start - 1].isWordPart
      || start >= 2 && scalars[start - 1] == " " && scalars[start - 2].isWordPart
    return !isRound && isBeforeWord || isBehindWord
  }

  private func number(at index: Int, isSum: Bool) -> WrittenNumber? {
    guard let joined = WrittenNumber(scalars, at: index, of: book, joinsSpaces: true, isSum: true) else { return nil }
    if isSum || !joined.separators.contains(" ") { return joined }
    // Spaces group the digits of a sum only if the currency follows directly.
    var behind = joined.end
    if behind < scalars.count, scalars[behind] == " " { behind += 1 }
    return currencyBehind(behind, isAfterSpace: behind > joined.end, number: joined) == nil
      ? WrittenNumber(scalars, at: index, of: book, isSum: true) : joined
  }

  /// Returns the number with its multipliers: `1.5 million`, `1万2千`, `3百万`.
  ///
  /// - Parameter end: the end of the number, which is moved to the end of its multipliers.
  /// - Returns: the amount; `nil` if it cannot be read with certainty.
  private func scaled(
    _ number: WrittenNumber, from start: Int, end: inout Int, isSum: Bool
  ) -> ExactAmount? {
    var first = number.value.flatMap { ExactAmount(whole: $0.whole, fraction: $0.fraction) }
    let written = WrittenText(text: text, book: book)
    if let fraction = written.plainFraction(at: start) {
      first = ExactAmount(whole: [], over: fraction.numerator, under: fraction.denominator)
      end = fraction.end
    } else if number.isPlain, end < scalars.count, scalars[end] == " ", let whole = number.value?.whole,
      let fraction = written.plainFraction(at: end + 1)
    {
      first = ExactAmount(whole: whole, over: fraction.numerator, under: fraction.denominator)
      end = fraction.end
    }
    // A folded fraction is surrounded by spaces. Only one of them is kept.
    while end + 1 < scalars.count, scalars[end] == " ", scalars[end + 1] == " " { end += 1 }
    guard var (power, next) = scale(at: end, isSum: isSum) else {
      guard let unknown = endOfUnknownScale(at: end, isSum: isSum) else { return first }
      end = unknown
      return nil
    }
    // Two consecutive multipliers are multiplied: 3百万, two hundred thousand, 1.5 lakh crore.
    while let (further, after) = scale(at: next, isSum: isSum) { (power, next) = (power + further, after) }
    end = next
    guard var total = first?.multiplied(byPowerOfTen: power) else { return nil }
    // Further digits after a multiplier belong to the same sum: 1万2千, 1万2500.
    while let partStart = startOfPart(at: end), let part = WrittenNumber(scalars, at: partStart, of: book) {
      var partEnd = part.end
      // A number that follows a space and has no multiplier is a separate number: $1 million 500 times.
      if partStart > end, scale(at: partEnd, isSum: isSum) == nil { break }
      guard part.isPlain, let value = part.value, var amount = ExactAmount(whole: value.whole, fraction: []) else {
        end = part.end
        return nil
      }
      var partPower = 0
      while let (further, after) = scale(at: partEnd, isSum: isSum) {
        (partPower, partEnd) = (partPower + further, after)
        if let multiplied = amount.multiplied(byPowerOfTen: further) { amount = multiplied }
      }
      // Some readers understand 1万5 as fifteen thousand. The digits after the multiplier must therefore fill the
      // remaining places.
      let isFull = partPower > 0 || value.whole.count == min(power, 4) || value.whole.count == 3
      guard isFull, value.whole.count + partPower <= power, let sum = total.adding(amount) else {
        end = partEnd
        return nil
      }
      (total, power, end) = (sum, partPower, partEnd)
      if partPower == 0 { break }
    }
    return total
  }

  /// Returns the index where the next part of a sum may begin. The part follows directly after a letter of a script
  /// without spaces. After any other letter a space comes first.
  private func startOfPart(at end: Int) -> Int? {
    guard end < scalars.count else { return nil }
    if scalars[end].digit != nil { return scalars[end - 1].isUnspaced ? end : nil }
    return scalars[end] == " " && end + 1 < scalars.count && scalars[end + 1].digit != nil ? end + 1 : nil
  }

  /// Returns the end of letters that different people use for different multipliers: `$5mil`, `€1 Mrd`, and `₹5L` if
  /// the currency is not the rupee.
  private func endOfUnknownScale(at index: Int, isSum: Bool) -> Int? {
    guard index < scalars.count else { return nil }
    let start = scalars[index] == " " ? index + 1 : index
    if let match = book.scaleWords.match(text.lowered, at: start), match.value == "0" { return start + match.key.count }
    guard isSum else { return nil }
    var end = start
    while end < scalars.count, scalars[end].isWordPart { end += 1 }
    let word = String(String.UnicodeScalarView(text.lowered[start..<end]))
    return CurrencyAbbreviations.ambiguousScales.contains(word) ? end : nil
  }

  /// Returns the multiplier after a number. One space or hyphen may stand between the two.
  private func scale(at index: Int, isSum: Bool) -> (power: Int, end: Int)? {
    var start = index
    if start < scalars.count, [" ", "-", FoldedText.groupingSpace].contains(scalars[start]) { start += 1 }
    guard start < scalars.count, scalars[start].isWordPart else { return nil }
    guard
      let match = book.scaleWords.match(text.lowered, at: start)
        ?? CurrencyAbbreviations.scales.match(text.lowered, at: start),
      let power = Int(match.value)
    else { return nil }
    guard power > 0 else { return nil }
    let isAbbreviation = match.key.count <= 2 && match.key[0].isASCII
    // The text `$5 m` may contain a length, but `$5m`, `$5 M` and `$5 bn` can be read in only one way.
    if isAbbreviation, !isSum || (start > index && match.key == ["m"] && scalars[start] == "m") {
      return nil
    }
    return (power, start + match.key.count)
  }

  // MARK: Minor units behind major ones

  /// Reads the minor units after major units: 12元5角, 12元5角5分.
  private func minorParts(
    behind index: Int, of currency: Currency, money: Money?
  ) -> (money: Money, end: Int)? {
    guard let money, money.minorPart == 0, let units = book.content.currencies[currency.code]?.minor, !units.isEmpty
    else { return nil }
    var total = money.minorUnits
    var end = index
    var above = currency.minorUnitsPerMajor
    for unit in units {
      guard let part = WrittenNumber(scalars, at: end, of: book), part.isPlain, let whole = part.value?.whole,
        whole.count <= 2
      else { continue }
      let name = Array(unit.names.other.unicodeScalars)
      let nameEnd = part.end + name.count
      guard name.allSatisfy(\.isUnspaced), nameEnd <= scalars.count, scalars[part.end..<nameEnd].elementsEqual(name)
      else { continue }
      let count = whole.reduce(Int64(0)) { $0 * 10 + Int64($1) }
      let value = unit.value ?? 1
      guard count * value < above else { return nil }
      total += count * value
      above = value
      end = nameEnd
    }
    guard end > index, let money = try? Money(minorUnits: total, currency: currency) else { return nil }
    return (money, end)
  }
}
