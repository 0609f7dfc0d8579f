// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ScriptWriter {
  /// Returns every token that the book's announcements can contain. The tokens are collected by writing sample
  /// announcements. There is thus no second list that could differ from the spoken words.
  ///
  /// The sample amounts cover the grammar: all numbers of the first hundreds, and 1 to 99 at every power of ten, each
  /// alone and with a one at the end. `make check` verifies this with every amount up to 9,999.99 and with random
  /// larger ones.
  ///
  /// - Parameters:
  ///   - currencies: the required currencies (ISO 4217). If it is `nil`, the currency of the locale's region is
  ///     required, or else the book's first currency.
  ///   - includesOtherCurrencies: whether the book's other currencies follow in blocks that are not required.
  /// - Throws: `.currencyUnspeakable` if the book cannot speak a required currency.
  public func vocabulary(
    currencies: [Currency]? = nil, includesOtherCurrencies: Bool = true
  ) throws(AnnouncementError) -> Vocabulary {
    let asked = currencies ?? [ownCurrency].compactMap(\.self)
    guard let main = asked.first else { return Vocabulary(locale: book.locale, blocks: []) }
    var builder = VocabularyBuilder(writer: self)
    builder.writer.smallSums = SmallSums()
    // The words around the amount come first. Each further block then makes complete announcements possible.
    try builder.addSentence(.received, in: main)
    for currency in asked { try builder.addAmounts(in: currency) }
    // A person who records only the required rows stops after them, so the other rows come last.
    let kinds = Payment.Kind.allCases
    for kind in kinds.filter(\.hasRequiredWords) + kinds.filter({ !$0.hasRequiredWords }) {
      try builder.addSentence(kind, in: main)
    }
    try builder.addChannels(in: main)
    for kind in Payment.Kind.allCases { try builder.addOptionalParts(kind, in: main) }
    try builder.addSummaries(in: main)
    try builder.addOnly(in: main)
    for currency in bookCurrencies where includesOtherCurrencies && !asked.contains(currency) {
      try builder.addUnits(of: currency)
    }
    return Vocabulary(locale: book.locale, blocks: builder.blocks)
  }

  /// The currencies that have units in the book, in alphabetical order.
  public var bookCurrencies: [Currency] { book.content.currencies.keys.sorted().compactMap(Currency.init(code:)) }

  /// The currency of the locale's region if the book has units for it, or else the book's first currency.
  public var ownCurrency: Currency? {
    let own = Locale(identifier: book.locale).currency?.identifier
    return bookCurrencies.first { $0.code == own } ?? bookCurrencies.first
  }
}

extension Payment.Kind {
  /// Whether a voice pack must have the words of this kind. A pack that somebody recorded before the kind `pending`
  /// existed is still complete.
  fileprivate var hasRequiredWords: Bool { self != .pending }
}

/// Collects tokens in the order in which announcements first need them.
private struct VocabularyBuilder {
  var writer: ScriptWriter
  /// The blocks without their words, each with the number of its words in ``words``.
  private var spans: [(block: Vocabulary.Block, count: Int)] = []
  private var known: Set<String> = []
  private var words: [Vocabulary.Word] = []
  private var places: [String: Int] = [:]

  init(writer: ScriptWriter) { self.writer = writer }

  var blocks: [Vocabulary.Block] {
    var start = 0
    return spans.map { block, count in
      defer { start += count }
      var block = block
      block.words = Array(words[start..<start + count])
      return block
    }
  }

  /// Adds amounts from small to large, with a block for each power of ten that needs new words.
  mutating func addAmounts(in currency: Currency) throws(AnnouncementError) {
    let code = currency.code
    var power: Int64 = 1
    for exponent in 1...12 {
      let lowest = power
      power *= 10
      var numbers: [Int64] = []
      if exponent <= 3 {
        numbers = Array(lowest..<power)
      } else {
        for digit in Int64(1)...9 { numbers += [digit * lowest, digit * lowest + 1] }
        for count in Int64(10)...99 where exponent > 4 { numbers += [count * lowest / 10, count * lowest / 10 + 1] }
      }
      for number in numbers { try add(major: number, minor: 0, currency) }
      close("every whole amount under \(Self.grouped(power)) in \(code)", isRequired: true, widens: exponent > 1)
    }
    // The largest sums have one digit group more than the last power of ten.
    for count in Int64(1)...9 { try add(major: count * power, minor: 0, currency) }
    close("every whole amount in \(code)", isRequired: true, widens: true)
    for minor in 1..<max(1, currency.minorUnitsPerMajor) {
      try add(major: 0, minor: minor, currency)
      try add(major: 1, minor: minor, currency)
    }
    // Before a decimal point a number may have a different form than before a unit: veintiún dólares, veintiuno punto
    // cinco.
    for major in Int64(1)...999 where currency.minorUnitsPerMajor > 1 { try add(major: major, minor: 1, currency) }
    close("every amount in \(code)", isRequired: true)
  }

  /// Adds the fixed words of one kind of payment.
  mutating func addSentence(_ kind: Payment.Kind, in currency: Currency) throws(AnnouncementError) {
    try add(Payment(amount: example(currency), kind: kind), smallestAmount: nil)
    // The verb may agree with an amount of one unit.
    let one = try Money(minorUnits: currency.minorUnitsPerMajor, currency: currency)
    try add(Payment(amount: one, kind: kind), smallestAmount: nil)
    close(
      "the words around every payment that is \(kind.rawValue), without channel and names",
      isRequired: kind.hasRequiredWords)
  }

  /// Adds each channel of the book, and the words around a channel.
  mutating func addChannels(in currency: Currency) throws(AnnouncementError) {
    for channel in writer.book.content.channels.keys.sorted() {
      for kind in Payment.Kind.allCases {
        try add(Payment(amount: example(currency), kind: kind, channel: channel), smallestAmount: nil)
      }
    }
    close("the channels of the phrase book", isRequired: false)
  }

  /// Adds the words around a name, around a note, and around a channel that the book does not know. The engine speaks
  /// the name, the note and the channel.
  mutating func addOptionalParts(_ kind: Payment.Kind, in currency: Currency) throws(AnnouncementError) {
    // Any word of the book's own script can stand for a name.
    let name = writer.book.content.digits[1]
    let payment = Payment(amount: try example(currency), kind: kind, channel: name, payer: name, note: name)
    try add(.payment(payment), smallestAmount: nil, isFixed: { $0 != .channel })
    close("a payer and a note, spoken between recorded words, when the payment is \(kind.rawValue)", isRequired: false)
  }

  /// Adds summaries with all words that a number of waiting payments may need. A count may have a special form before
  /// the counted noun.
  mutating func addSummaries(in currency: Currency) throws(AnnouncementError) {
    var counts = Array(1...100)
    for digit in 1...9 { for place in [100, 1_000] { counts += [digit * place, digit * place + 1] } }
    for count in counts {
      let total = try PaymentSummary.Total(count: count, amount: example(currency))
      try add(.summary(try PaymentSummary(totals: [total])), smallestAmount: nil)
    }
    close("a summary of up to 9,999 payments", isRequired: false)
  }

  /// Adds the word before a very small sum.
  mutating func addOnly(in currency: Currency) throws(AnnouncementError) {
    let usual = writer.smallSums
    writer.smallSums = SmallSums("\(currency.code)=1000") ?? usual
    try add(Payment(amount: example(currency)), smallestAmount: nil)
    writer.smallSums = usual
    close("the word that the setting 'small_sums' puts before a very small sum", isRequired: false)
  }

  /// Adds the words that another currency needs in addition to the numbers: its units, and the forms of numbers before
  /// its units.
  mutating func addUnits(of currency: Currency) throws(AnnouncementError) {
    var numbers = Array(Int64(1)...100)
    var power: Int64 = 100
    for _ in 3...13 {
      for digit in Int64(1)...9 { numbers.append(digit * power) }
      power *= 10
    }
    for number in numbers {
      try add(major: number, minor: 0, currency)
      if currency.minorUnitsPerMajor > 1 { try add(major: number, minor: 1, currency) }
    }
    for minor in 1..<max(1, currency.minorUnitsPerMajor) {
      try add(major: 0, minor: minor, currency)
      try add(major: 2, minor: minor, currency)
    }
    close("every amount in \(currency.code)", isRequired: false)
  }

  /// Returns an amount whose words are short.
  private func example(_ currency: Currency) throws(AnnouncementError) -> Money {
    try Money(minorUnits: 12 * currency.minorUnitsPerMajor, currency: currency)
  }

  private mutating func add(major: Int64, minor: Int64, _ currency: Currency) throws(AnnouncementError) {
    let units = major * currency.minorUnitsPerMajor + minor
    let amount = try Money(minorUnits: units, currency: currency)
    try add(
      Payment(amount: amount), smallestAmount: "\(amount.decimalText) \(currency.code)", shortenings: [.amountOnly])
  }

  private mutating func add(
    _ payment: Payment, smallestAmount: String?, shortenings: Set<ScriptWriter.Shortening> = []
  ) throws(AnnouncementError) {
    try add(.payment(payment), smallestAmount: smallestAmount, shortenings: shortenings)
  }

  private mutating func add(
    _ announcement: Announcement, smallestAmount: String?, shortenings: Set<ScriptWriter.Shortening> = [],
    isFixed: (Script.Role) -> Bool = { _ in true }
  ) throws(AnnouncementError) {
    let source = try writer.written(announcement, shortenings: shortenings)
    let script = source.script
    for piece in script.pieces {
      // The words of a sum are collected in the blocks of its currency.
      guard let token = piece.token, isFixed(token.role), smallestAmount != nil || token.role != .amount else {
        continue
      }
      let ends = piece.pause == .end || piece.pause == .sentence
      if known.insert(token.name).inserted {
        places[token.name] = words.count
        words.append(
          Vocabulary.Word(
            token: token.name, text: ClipToken.words(ofName: token.name), role: token.role, mayEnd: ends,
            example: shortenings.isEmpty ? script.text : try writer.script(for: announcement).text,
            smallestAmount: token.role == .amount ? smallestAmount : nil, source: source))
      } else if ends, let place = places[token.name] {
        words[place].mayEnd = true
      }
    }
  }

  /// Ends a block. The block contains the words that are new since the previous block. A block without new words is
  /// dropped. If `widens` is true, the previous block then gets the coverage of the dropped block.
  private mutating func close(_ coverage: String, isRequired: Bool, widens: Bool = false) {
    let count = words.count - spans.reduce(0) { $0 + $1.count }
    if count > 0 {
      spans.append((Vocabulary.Block(coverage: coverage, isRequired: isRequired, words: []), count))
    } else if widens, let last = spans.indices.last {
      spans[last].block.coverage = coverage
    }
  }

  /// Returns a number with its digits grouped: 1,000,000.
  private static func grouped(_ number: Int64) -> String {
    let digits = Array(String(number))
    return digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
    }.joined()
  }
}
