// SPDX-License-Identifier: Apache-2.0

/// How a language reads the numbers of a text that are no plain quantities: the key `text` of a phrase book.
///
/// Templates hold places in braces: `{hour} {minute}`.
struct TextRules: Sendable, Decodable {
  /// The words for 0 to 9 in telephone, card and order numbers, where they differ from the digits of a decimal: 幺, 공.
  var numberDigits: [String]?

  /// Words before a number that is a name and no quantity: `order`, `尾号`. In lower case.
  var identifiers: [String]?

  /// How the signs of e-mail and web addresses are said: `.` is dot.
  var addressSigns: [String: String]?

  /// Signs behind a number of minor units: `¢`, and the currency they mean.
  var minorSigns: [String: String]?

  /// Ordinals: what follows the digits, and how the last word of the number changes.
  var ordinals: [Ordinal]?

  /// `{number} percent`.
  var percent: String?

  /// Fractions with words of their own: `1/2`.
  var fractions: [String: String]?

  /// Other fractions: `{numerator} over {denominator}`.
  var fraction: String?

  /// A whole number and a fraction: `{whole} and {fraction}`.
  var mixedFraction: String?

  var time: Time?
  var date: Date?

  /// Words that a number counts, and how the number is said before them.
  var counters: [String: Counter]?

  /// How a number agrees with the noun behind it, in languages that tell a noun's gender by its ending.
  var genders: Genders?

  struct Ordinal: Sendable, Decodable {
    /// `st`, `nd`, `º`. In lower case.
    var marks: [String]
    /// By the last word of the number.
    var words: [String: String]
    /// Written onto a last word that ``words`` does not have.
    var ending: String?
  }

  struct Time: Sendable, Decodable {
    /// The hours 0 to 24, with the word for the hour where the language has one: 한 시, くじ.
    var hours: [String]
    /// `{hour} o'clock`.
    var wholeHour: String
    /// The same before a m and p m, where it differs: `{hour}`.
    var wholeHourWithPeriod: String?
    /// `{hour} {minute}`.
    var hourAndMinute: String
    /// The same for minutes below ten: `{hour} oh {minute}`.
    var minuteBelowTen: String?
    var minute: Counter?
    /// `{time} a m`, and `{time} p m`.
    var am: String
    var pm: String
  }

  struct Date: Sendable, Decodable {
    enum Order: String, Sendable, Decodable { case mdy, dmy, ymd }
    enum Year: String, Sendable, Decodable {
      /// As a number: dos mil veintiséis.
      case cardinal
      /// Digit by digit: 二零二六.
      case digits
      /// In two halves: twenty twenty-six.
      case pairs
    }

    /// How an all-numeric date is read when both orders are possible.
    var order: Order
    var months: [String]
    /// The days 1 to 31, where they are no plain numbers.
    var days: [String]?
    var year: Year
    /// `{month} {day}, {year}`.
    var full: String
  }

  /// How numbers are said before one counted word.
  struct Counter: Sendable, Decodable {
    /// The counted word as it is said.
    var other: String
    /// What the number's last word and the counted word become together: `いち` and はい are いっぱい.
    var endings: [String: String]?
    /// Whole expressions for some numbers: `1` is ひとつ.
    var exact: [String: String]?
    /// Whether the language's own numbers are used below a hundred: 두 잔.
    var isNative: Bool?

    private enum CodingKeys: String, CodingKey {
      case other, endings, exact
      case isNative = "native"
    }

    init(from decoder: any Decoder) throws {
      if let word = try? decoder.singleValueContainer().decode(String.self) {
        other = word
        return
      }
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      other = try fields.decode(String.self, forKey: .other)
      endings = try fields.decodeIfPresent([String: String].self, forKey: .endings)
      exact = try fields.decodeIfPresent([String: String].self, forKey: .exact)
      isNative = try fields.decodeIfPresent(Bool.self, forKey: .isNative)
    }
  }

  struct Genders: Sendable, Decodable {
    /// Endings of feminine nouns: `a`, `as`, `ción`.
    var feminineEndings: [String]
    /// Nouns with such an ending that are masculine: `día`.
    var masculine: [String]
  }

  /// The tables' faults, to be read after `text`; `nil` when there is none.
  var fault: String? {
    if let numberDigits, numberDigits.count != 10 { return ".numberDigits has \(numberDigits.count) words and not ten" }
    if let time, time.hours.count != 25 { return ".time.hours has \(time.hours.count) words and not 25" }
    if let date, date.months.count != 12 { return ".date.months has \(date.months.count) words and not twelve" }
    if let days = date?.days, days.count != 31 { return ".date.days has \(days.count) words and not 31" }
    for (sign, code) in minorSigns ?? [:] where Currency(code: code) == nil {
      return ".minorSigns.\(sign) is not in ISO 4217"
    }
    return nil
  }
}
