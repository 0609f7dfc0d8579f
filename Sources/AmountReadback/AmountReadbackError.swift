// SPDX-License-Identifier: Apache-2.0

/// Why the words of an amount, or of a count, were refused.
///
/// The description holds neither words nor amounts, so that it may be logged.
public struct AmountReadbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No reader exists for the language of the locale.
    case languageUnknown = "language_unknown"
    /// A word is unknown, out of its place, missing or left over.
    case unreadable
    /// The words name another currency than the one asked for, or none.
    case wrongCurrency = "wrong_currency"
    /// The words can be heard as two amounts, such as 一百一 (110 to most ears, 101 to some).
    case ambiguous
    /// The amount, or the number of its minor digits, does not fit in 64-bit minor units; or a count is not one of
    /// ``AmountReader/counts``.
    case outOfRange = "out_of_range"
  }

  /// What was to be read.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    case amount, count
  }

  public var code: Code
  public var subject: Subject

  /// The locale as it was given.
  public var locale: String

  /// The ISO 4217 code asked for; nil for a count, and when no amount was read yet.
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
      return "The words of \(subject) can be heard as two numbers. Let the grammar use the full form."
    case .outOfRange where self.subject == .count:
      let (least, most) = (AmountReader.counts.lowerBound, AmountReader.counts.upperBound)
      return "The words of \(subject) say less than \(least) or more than \(most). Count what is in that range."
    case .outOfRange:
      return "The words of \(subject) say more than 64-bit minor units can hold. Ask for a smaller amount."
    }
  }
}

/// What the rooms inside throw; the reader adds the locale and the currency.
struct Refusal: Error {
  var code: AmountReadbackError.Code

  static var unreadable: Refusal { Refusal(code: .unreadable) }
  static var wrongCurrency: Refusal { Refusal(code: .wrongCurrency) }
  static var ambiguous: Refusal { Refusal(code: .ambiguous) }
  static var outOfRange: Refusal { Refusal(code: .outOfRange) }
}
