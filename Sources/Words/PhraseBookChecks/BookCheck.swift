// SPDX-License-Identifier: Apache-2.0

public import AmountReadback
public import Announcements

/// Checks a phrase book with the reader of its language: each amount must be read back as the amount paid, no two
/// amounts may have the same words, and damaged words must not mean the amount any more.
///
/// A check of one locale takes some seconds. It needs no engine; see ``BookSheet`` for what a person must judge.
public struct BookCheck {
  private let writer: ScriptWriter
  private let reader: AmountReader
  /// The largest number of examples for one kind of finding.
  private static let mostExamples = 3

  public private(set) var findings: [BookFinding] = []
  /// The number of amounts that were written and read.
  public private(set) var amountCount = 0
  /// The amounts that were written, by their words.
  private var meanings: [String: String] = [:]
  private var counts: [String: Int] = [:]

  public init(writer: ScriptWriter, reader: AmountReader) {
    self.writer = writer
    self.reader = reader
  }

  /// The currencies of the book. The locale's own currency comes first.
  public static func currencies(of writer: ScriptWriter) -> [Currency] {
    let own = writer.ownCurrency
    return [own].compactMap(\.self) + writer.bookCurrencies.filter { $0 != own }
  }

  /// Checks the amounts from 1 to 99,999 minor units of the locale's own currency, and some of these amounts in the
  /// other currencies of the book. It also checks round amounts, and random amounts below 10^13.
  ///
  /// - Parameter progress: Called with the number of finished currencies, and the number of all currencies.
  /// - Throws: `AnnouncementError` if an amount cannot be written.
  public mutating func checkAmounts(progress: (Int, Int) -> Void = { _, _ in }) throws(AnnouncementError) {
    let currencies = Self.currencies(of: writer)
    var random = SeededNumbers(seed: 20_261_129)
    for (index, currency) in currencies.enumerated() {
      for amount in Self.amounts(currency, step: index == 0 ? 1 : 97, &random) { try checkAmount(amount, currency) }
      progress(index + 1, currencies.count)
    }
  }

  private static func amounts(_ currency: Currency, step: Int, _ random: inout SeededNumbers) -> [Int64] {
    let scale = currency.minorUnitsPerMajor
    let largest = Money.largestMajorUnits * scale
    var amounts = Array(stride(from: Int64(1), through: 99_999, by: step))
    var power: Int64 = 1
    for _ in 0..<13 {
      for digit in Int64(1)...9 {
        amounts += [digit * power * scale, (digit * power + 1) * scale, digit * power * scale + 1]
      }
      power *= 10
    }
    amounts += (0..<20_000 / step).map { _ in Int64(random.next() % UInt64(largest)) + 1 }
    return amounts.filter { $0 <= largest }
  }

  private mutating func checkAmount(_ minorUnits: Int64, _ currency: Currency) throws(AnnouncementError) {
    amountCount += 1
    let money = try Money(minorUnits: minorUnits, currency: currency)
    let words = try words(money).joined()
    let name = "\(money.decimalText) \(currency.code)"
    switch read(words, currency) {
    case .success(let amount) where amount == minorUnits: break
    case .success(let amount):
      let other = (try? Money(minorUnits: amount, currency: currency))?.decimalText ?? "\(amount) minor units"
      add("\(name) is said “\(words)”, and the reader hears \(other).", as: "wrong")
    case .failure(let error):
      add("\(name) is said “\(words)”, and the reader cannot read it (\(error.code.rawValue)).", as: "unread")
    }
    if let other = meanings.updateValue(name, forKey: words), other != name {
      add("\(other) and \(name) are both said “\(words)”.", as: "alike")
    }
  }

  /// Leaves out and doubles each word of random amounts. A damaged text must not be read as the same amount. If it
  /// were, the reader would not notice the same mistake in the book.
  ///
  /// - Throws: `AnnouncementError` if an amount cannot be written.
  public mutating func checkDamage() throws(AnnouncementError) {
    guard let currency = Self.currencies(of: writer).first else { return }
    var random = SeededNumbers(seed: 5)
    var optional: [String: Int] = [:]
    for _ in 0..<400 {
      let minorUnits = Int64(random.next() % 99_999_999) + 1
      let words = try words(try Money(minorUnits: minorUnits, currency: currency))
      for index in words.indices {
        var changed = words
        changed.remove(at: index)
        if (try? read(changed.joined(), currency).get()) == minorUnits {
          optional[words[index].withoutStops, default: 0] += 1
        }
        changed = words
        changed.insert(words[index], at: index)
        if (try? read(changed.joined(), currency).get()) == minorUnits, words.count > 1 {
          let text = changed.joined()
          add("“\(text)” has a word twice, and the reader still reads an amount.", as: "doubled")
        }
      }
    }
    for (word, count) in optional.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      findings.append(
        BookFinding(
          .note,
          "The reader understands \(count) amounts also without “\(word)”. That is right only if people leave it out."))
    }
  }

  /// Writes sums as names of payers. None of these sums may be spoken, because a listener would mistake it for the sum
  /// paid.
  ///
  /// - Throws: `AnnouncementError` if an amount cannot be written.
  public mutating func checkNames() throws(AnnouncementError) {
    let currencies = Self.currencies(of: writer)
    guard let own = currencies.first else { return }
    var random = SeededNumbers(seed: 3)
    for index in 0..<300 {
      let currency = currencies[index % currencies.count]
      // Short sums are included: one unit of each currency, and numbers below two hundred.
      let number = index < currencies.count ? 1 : index < 200 ? index : Int(random.next() % 90_000_000) + 1
      let minorUnits = Int64(number) * (index < 200 ? currency.minorUnitsPerMajor : 1)
      let sum = try words(try Money(minorUnits: minorUnits, currency: currency)).joined()
      let payment = Payment(amount: try Money(minorUnits: 500, currency: own), payer: "Anna " + sum)
      let script = try writer.script(for: .payment(payment))
      // Long texts get pauses, so only letters are compared.
      let payer = script.runs.flatMap(\.segments).filter { $0.role == .payer }.map(\.text).joined()
      if payer.filter(\.isLetter).contains(sum.filter(\.isLetter)) {
        add(
          "The payer “Anna \(sum)” is spoken with the sum. Add the unit of the sum to guard.units, or its number "
            + "words to guard.numbers.", as: "name")
      }
    }
  }

  /// The words of an amount, each with the space before or after it.
  private func words(_ money: Money) throws(AnnouncementError) -> [String] {
    let script = try writer.script(for: .payment(Payment(amount: money)), shortenings: [.amountOnly])
    return script.runs.flatMap(\.segments).filter { $0.role == .amount }.map(\.text)
  }

  private func read(_ words: String, _ currency: Currency) -> Result<Int64, AmountReadbackError> {
    do throws(AmountReadbackError) {
      return .success(
        try reader.minorUnits(in: words, currency: currency.code, minorDigits: currency.minorDigits))
    } catch {
      return .failure(error)
    }
  }

  /// Adds a problem, unless there are already enough examples of its kind.
  private mutating func add(_ text: String, as kind: String) {
    counts[kind, default: 0] += 1
    if counts[kind, default: 0] <= Self.mostExamples { findings.append(BookFinding(.problem, text)) }
  }

  /// The number of problems of this check, including those without an example in ``findings``.
  public var problemCount: Int { counts.values.reduce(0, +) }
}

/// The same random numbers in each run (SplitMix64), so that a check can be repeated.
struct SeededNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

extension String {
  fileprivate var withoutStops: String {
    String(
      drop { $0.isWhitespace || ",.".contains($0) }.reversed().drop { $0.isWhitespace || ",.".contains($0) }.reversed())
  }
}
