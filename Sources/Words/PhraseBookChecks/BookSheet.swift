// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// A sheet of amounts in words that a native speaker reads, corrects and signs.
///
/// The amounts are chosen so that as many number words, forms of units and pairs of neighbouring words as possible
/// occur. A signed sheet is kept as `Templates/sheets/<locale>.tsv`. From then on, the book must say these amounts in
/// these words.
public struct BookSheet: Sendable, Hashable {
  public struct Line: Sendable, Hashable {
    /// The amount as a decimal number: `12.50`.
    public var amount: String
    /// The ISO 4217 code.
    public var currency: String
    public var words: String
  }

  public static let lineCount = 60

  public var locale: String
  public var lines: [Line]
  /// The name of the person who confirmed the words; empty if nobody has confirmed them.
  public var confirmedBy = ""

  /// Chooses the amounts of a book, and writes them.
  ///
  /// - Throws: `AnnouncementError` if an amount cannot be written.
  public init(_ writer: ScriptWriter) throws(AnnouncementError) {
    locale = writer.book.locale
    var candidates: [Candidate] = []
    let currencies = BookCheck.currencies(of: writer)
    for (index, currency) in currencies.enumerated() {
      for minorUnits in Self.amounts(currency, isOwn: index == 0) {
        candidates.append(try Candidate(minorUnits, currency, writer))
      }
    }
    var (chosen, words) = Self.choose(from: candidates)
    if let own = currencies.first {
      // Some languages have a word of their own for each number below a hundred, or for each number of thousands.
      let long = try Self.longAmounts(own).map { minorUnits throws(AnnouncementError) in
        try Candidate(minorUnits, own, writer)
      }
      if !(candidates + long).allSatisfy({ $0.words.isSubset(of: words) }) {
        (chosen, words) = Self.choose(from: candidates + long)
      }
    }
    lines = chosen
  }

  /// An amount that may be chosen for the sheet.
  private struct Candidate {
    var line: Line
    var words: Set<String>
    /// The pairs of neighbouring words.
    var pairs: Set<String>

    init(_ minorUnits: Int64, _ currency: Currency, _ writer: ScriptWriter) throws(AnnouncementError) {
      let money = try Money(minorUnits: minorUnits, currency: currency)
      let script = try writer.script(for: .payment(Payment(amount: money)), shortenings: [.amountOnly])
      let words = script.pieces.filter { $0.segment.role == .amount }.compactMap(\.token?.name)
      line = Line(amount: money.decimalText, currency: currency.code, words: script.amountText)
      self.words = Set(words)
      pairs = Set(zip(words, words.dropFirst()).map { "\($0) \($1)" })
    }
  }

  /// Chooses the amounts with the most words, and then with the most pairs of words, that do not occur in the amounts
  /// chosen before.
  ///
  /// - Returns: The lines in the order of the candidates, and their words.
  private static func choose(from candidates: [Candidate]) -> (lines: [Line], words: Set<String>) {
    var words: Set<String> = []
    var pairs: Set<String> = []
    var chosen: [Int] = []
    while chosen.count < lineCount {
      var best = (index: -1, gain: 0)
      for (index, candidate) in candidates.enumerated() {
        let gain = 4 * candidate.words.count { !words.contains($0) } + candidate.pairs.count { !pairs.contains($0) }
        if gain > best.gain { best = (index, gain) }
      }
      guard best.gain > 0 else { break }
      chosen.append(best.index)
      words.formUnion(candidates[best.index].words)
      pairs.formUnion(candidates[best.index].pairs)
    }
    return (chosen.sorted().map { candidates[$0].line }, words)
  }

  /// Returns amounts in minor units. In the first ones, the thousands and the last two digits are numbers below a
  /// hundred, such as in 37,512. The others end with round hundreds, such as 111,100.
  private static func longAmounts(_ currency: Currency) -> [Int64] {
    let scale = currency.minorUnitsPerMajor
    func minor(_ number: Int64) -> Int64 { scale == 100 ? number * 53 % 99 + 1 : 0 }
    let full = (Int64(1)...99).map { number in
      (number * 1_000 + (number * 7 % 10) * 100 + number * 37 % 99 + 1) * scale + minor(number)
    }
    let round = (Int64(1)...9).map { digit in
      (digit * 100_000 + (10 + digit) * 1_000 + digit * 100) * scale + minor(digit)
    }
    return full + round
  }

  /// Small numbers, round numbers, and numbers at which languages change their rules.
  private static func amounts(_ currency: Currency, isOwn: Bool) -> [Int64] {
    let scale = currency.minorUnitsPerMajor
    var minorUnits: [Int64] = scale > 1 ? [1, 2, 5, 11, 21, 22, 50, 99, scale + 1, 2 * scale + 2, 5 * scale + 50] : []
    var major: [Int64] = [1, 2, 3, 5, 11, 21, 22, 25, 100, 101, 1_000, 1_000_000]
    if isOwn {
      major += Array(0...110).filter { $0 > 0 } + [111, 112, 120, 121, 199, 200, 201, 221]
      major += (3...9).map { $0 * 100 } + [110, 301, 555, 999, 1_001, 1_010, 1_100, 1_111, 1_200, 1_999]
      for power in [Int64(1_000), 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000] {
        major += [1, 2, 3, 5, 9, 11, 21].map { $0 * power } + [power + 1, power + power / 10, 2 * power + 100]
      }
      for power in [Int64(1_000_000_000), 10_000_000_000, 100_000_000_000, 1_000_000_000_000] {
        major += [1, 2, 5].map { $0 * power } + [power + 1_001]
      }
      if scale > 1 { minorUnits += Array(1..<min(scale, 100)) }
    }
    let all = Set(minorUnits + major.map { $0 * scale }).sorted()
    return all.filter { $0 <= Money.largestMajorUnits * scale }
  }

  // MARK: The file

  /// The sheet as a text with tabs.
  public var text: String {
    """
    # The amounts of \(locale) in words. A native speaker reads each line aloud. Faults are corrected in the
    # book, and the sheet is printed again. Whoever confirms the words writes the name and the date behind the colon.
    # Confirmed by:\(confirmedBy.isEmpty ? "" : " \(confirmedBy)")

    """ + lines.map { "\($0.amount)\t\($0.currency)\t\($0.words)\n" }.joined()
  }

  /// Reads a sheet from a file.
  ///
  /// - Returns: Nil if a line does not have the three columns amount, currency and words.
  public init?(text: String, locale: String) {
    self.locale = locale
    lines = []
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("#") {
        if let colon = line.firstIndex(of: ":"), line[..<colon] == "# Confirmed by" {
          confirmedBy = String(line[line.index(after: colon)...].drop { $0.isWhitespace })
        }
        continue
      }
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard columns.count == 3 else { return nil }
      lines.append(Line(amount: columns[0], currency: columns[1], words: columns[2]))
    }
  }

  /// Compares the sheet with the words that the book writes now.
  ///
  /// - Returns: A problem for each amount whose words are now different, for each amount that cannot be written, and
  ///   for missing lines; a note if nobody signed the sheet.
  public func findings(_ writer: ScriptWriter) -> [BookFinding] {
    var findings = differences(writer)
    if lines.count != Self.lineCount {
      findings.append(
        BookFinding(.problem, "The sheet has \(lines.count) amounts instead of \(Self.lineCount). Print it again."))
    }
    if confirmedBy.isEmpty {
      findings.append(
        BookFinding(.note, "The sheet has no name behind “Confirmed by:”, so nobody has signed the words."))
    }
    return findings
  }

  private func differences(_ writer: ScriptWriter) -> [BookFinding] {
    lines.compactMap { line in
      let name = "\(line.amount) \(line.currency)"
      guard let currency = Currency(code: line.currency),
        let money = try? Money(decimalText: line.amount, currency: currency),
        let script = try? writer.script(for: .payment(Payment(amount: money)), shortenings: [.amountOnly])
      else { return BookFinding(.problem, "\(name) of the sheet cannot be written by the book.") }
      guard script.amountText != line.words else { return nil }
      return BookFinding(
        .problem, "\(name) is said “\(script.amountText)”, and the sheet has “\(line.words)”.")
    }
  }
}
