// SPDX-License-Identifier: Apache-2.0

/// The reason why the words of an amount or a count were refused.
///
/// The description contains neither words nor amounts, so that it can be logged.
public struct AmountReadbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no reader for the language of the locale.
    case languageUnknown = "language_unknown"
    /// A word is unknown, misplaced, missing or left over.
    case unreadable
    /// The words name a currency other than the requested one, or none.
    case wrongCurrency = "wrong_currency"
    /// The words can be understood as two amounts, such as 一百一 (110 to most listeners, 101 to some).
    case ambiguous
    /// The amount, or its number of minor digits, does not fit into 64-bit minor units, or a count is not in
    /// ``AmountReader/counts``.
    case outOfRange = "out_of_range"
  }

  /// The kind of number that was read.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    case amount, count
  }

  public var code: Code
  public var subject: Subject

  /// The locale as given.
  public var locale: String

  /// The requested ISO 4217 code; `nil` for a count, and when no amount was read yet.
  public var currency: String?

  public init(code: Code, locale: String, currency: String? = nil, subject: Subject = .amount) {
    self.code = code
    self.subject = subject
    self.locale = locale
    self.currency = currency
  }

  public var description: String {
    let what = subject == .count ? "a count" : "an amount\(currency.map { " of \($0)" } ?? "")"
    let subject = "\(what) in the locale \(locale)"
    switch code {
    case .languageUnknown:
      let known = AmountLanguages.subtags.joined(separator: ", ")
      return "Amounts cannot be read back in the locale \(locale). Use a locale whose language is one of \(known)."
    case .unreadable:
      return "The words of \(subject) could not be read back. Correct the grammar that wrote them."
    case .wrongCurrency:
      return "The words of \(subject) do not name that currency. Correct the unit names of the grammar."
    case .ambiguous:
      return "The words of \(subject) can be understood as two numbers. Use the full form in the grammar."
    case .outOfRange where self.subject == .count:
      let (least, most) = (AmountReader.counts.lowerBound, AmountReader.counts.upperBound)
      return "The words of \(subject) are not between \(least) and \(most). Use a count in that range."
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
