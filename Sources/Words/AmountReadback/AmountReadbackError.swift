// SPDX-License-Identifier: Apache-2.0

/// The reason why the words of an amount or a count were refused.
///
/// The description contains neither words nor amounts, so that it can be logged.
public struct AmountReadbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no reader for the language of the locale.
    case languageUnknown = "language_unknown"
    /// The file of the language's reader has a fault.
    case readerInvalid = "reader_invalid"
    /// A word is unknown, in the wrong place, missing or superfluous.
    case unreadable
    /// The words name no currency, or a currency other than the requested one.
    case wrongCurrency = "wrong_currency"
    /// The words can be understood as two amounts, such as 一百一 (110 to most listeners, 101 to some).
    case ambiguous
    /// The amount does not fit into 64-bit minor units, its number of minor digits is too large for them, or a count is
    /// outside ``AmountReader/counts``.
    case outOfRange = "out_of_range"
  }

  /// The kind of number that was to be read: an amount or a count.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    case amount, count
  }

  public var code: Code

  /// The locale, spelled as the caller gave it.
  public var locale: String

  /// The ISO 4217 code of the requested currency. It is `nil` for a count, and for an error that occurred before an
  /// amount was read.
  public var currency: String?

  public var subject = Subject.amount

  /// The fault in the reader's file; `nil` for all codes but `.readerInvalid`.
  public var problem: String?

  public var description: String {
    let what = subject == .count ? "a count" : "an amount\(currency.map { " of \($0)" } ?? "")"
    let subject = "\(what) in the locale \(locale)"
    switch code {
    case .languageUnknown:
      return "Amounts cannot be read back in the locale \(locale). Add a file for its language to Readers/."
    case .readerInvalid:
      return "The file in Readers/ for the locale \(locale) is invalid: \(problem ?? "unknown"). Correct it."
    case .unreadable:
      return "The words of \(subject) could not be read back. Correct the grammar that wrote them."
    case .wrongCurrency:
      return "The words of \(subject) do not name that currency. Correct the unit names of the grammar."
    case .ambiguous:
      return "The words of \(subject) can be understood as two numbers. Use the full form in the grammar."
    case .outOfRange where self.subject == .count:
      let (least, most) = (AmountReader.counts.lowerBound, AmountReader.counts.upperBound)
      return
        "The words of \(subject) mean a number that is not between \(least) and \(most). Use a count in that range."
    case .outOfRange:
      return "The words of \(subject) exceed 64-bit minor units. Use a smaller amount."
    }
  }
}

/// An error inside this module. The reader adds the locale and the currency.
struct Refusal: Error {
  var code: AmountReadbackError.Code

  static var unreadable: Refusal { Refusal(code: .unreadable) }
  static var wrongCurrency: Refusal { Refusal(code: .wrongCurrency) }
  static var ambiguous: Refusal { Refusal(code: .ambiguous) }
  static var outOfRange: Refusal { Refusal(code: .outOfRange) }
}
