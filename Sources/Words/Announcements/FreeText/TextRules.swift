// SPDX-License-Identifier: Apache-2.0

/// A language's rules for numbers in texts, beyond plain quantities: the key `text` of a phrase book.
///
/// Templates contain placeholders in braces: `{hour} {minute}`.
struct TextRules: Sendable, Decodable {
  /// The sign before the decimals of a written number: `.` or `,`. If the key is missing, the sign is a point.
  var decimalSeparator: String?

  /// The sign that groups the digits of a written number in a country with a decimal comma: a point or a space. If the
  /// key is missing, the sign is a point.
  var groupingSeparator: String?

  /// The words that multiply the number before them, each with its power of ten: `"million": 6`. They take precedence
  /// over the words that apply to every book, because the German Billion is a thousand times the English billion. A
  /// word with the power 0 multiplies nothing, because people use it for different powers.
  var scales: [String: Int]?

  /// The currencies whose names are also other words, such as pounds of apples. After a number without a sign, such a
  /// name is not a unit.
  var ambiguousUnits: [String]?

  /// The words for 0 to 9 in telephone, card and order numbers, if they differ from the words for decimal digits: 幺, 공.
  var numberDigits: [String]?

  /// The words after which a number is an identifier and not a quantity, in lower case: `order`, `尾号`.
  var identifiers: [String]?

  /// The abbreviations of “number” before a number, in lower case: `no.`, `nº`. They are spoken like the book's symbol
  /// `#`.
  var numberSigns: [String]?

  /// The words for the signs of e-mail and web addresses. In English the sign `.` is “dot”.
  var addressSigns: [String: String]?

  /// The signs after a number of minor units (`¢`), each with the code of its currency.
  var minorSigns: [String: String]?

  /// The ordinals: the letters written after the digits, and the changed form of the number's last word.
  var ordinals: [Ordinal]?

  /// The template of a percentage: `{number} percent`.
  var percent: String?

  /// The fractions that have words of their own, such as `1/2`.
  var fractions: [String: String]?

  /// The template of other fractions: `{numerator} over {denominator}`.
  var fraction: String?

  /// The template of a whole number with a fraction: `{whole} and {fraction}`.
  var mixedFraction: String?

  var time: Time?
  var date: Date?

  /// The counter words that can follow a number. Each has the forms that numbers take before it.
  var counters: [String: Counter]?

  /// The counters after which a number goes on without a pause: 块 in 三块五.
  var joinedCounters: [String]?

  /// How a number agrees with the noun after it, in languages where the noun's ending shows its gender.
  var genders: Genders?

  struct Ordinal: Sendable, Decodable {
    /// The letters after the digits, in lower case: `st`, `nd`, `º`.
    var marks: [String]
    /// The ordinal words, keyed by the last word of the number.
    var words: [String: String]
    /// The ending for a last word that has no entry in ``words``.
    var ending: String?
  }

  struct Time: Sendable, Decodable {
    /// The hours 0 to 24, including the word for “hour” if the language has such a word: 한 시, くじ.
    var hours: [String]
    /// The template of a full hour: `{hour} o'clock`.
    var wholeHour: String
    /// The template of a full hour before “a m” or “p m”, if it differs: `{hour}`.
    var wholeHourWithPeriod: String?
    /// The template of a time: `{hour} {minute}`.
    var hourAndMinute: String
    /// The template of a time whose minutes are below ten: `{hour} oh {minute}`.
    var minuteBelowTen: String?
    /// The template of a full hour from 13 on, if it differs: `{hour} horas`.
    var wholeHourAfterNoon: String?
    var minute: Counter?
    /// The template of a time with seconds: `{time} and {second} seconds`.
    var seconds: String?
    /// The template of a time before noon, such as `{time} a m`. The next template is for a time after noon:
    /// `{time} p m`.
    var am: String
    var pm: String
  }

  struct Date: Sendable, Decodable {
    enum Order: String, Sendable, Decodable { case mdy, dmy, ymd }
    enum Year: String, Sendable, Decodable {
      /// The year is read as a number: dos mil veintiséis.
      case cardinal
      /// The year is read digit by digit: 二零二六.
      case digits
      /// The year is read in two halves: twenty twenty-six.
      case pairs
    }

    /// The order of day and month in an all-numeric date for which both orders are possible.
    var order: Order
    var months: [String]
    /// The words for the days 1 to 31, if they are not plain numbers.
    var days: [String]?
    var year: Year
    /// The template of a date: `{month} {day}, {year}`.
    var full: String
    /// The words for the decades of a century, by their two digits: `nineties` for `90`.
    var decades: [String: String]?

    /// The text after the year in a date, if it is a word for “year”: 年.
    var yearMark: String? {
      guard let year = full.firstRange(of: "{year}"),
        let mark = full[year.upperBound...].split(separator: "{").first, mark.contains(where: \.isLetter)
      else { return nil }
      return mark.trimmed
    }
  }

  /// The forms that numbers take before one counted word.
  struct Counter: Sendable, Decodable {
    /// The spoken form of the counted word.
    var other: String
    /// The contractions of the number's last word with the counted word: `いち` and はい become いっぱい.
    var endings: [String: String]?
    /// The complete expressions for some numbers, such as ひとつ for `1`.
    var exact: [String: String]?
    /// Whether numbers below a hundred use the language's native numerals: 두 잔.
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
    /// The endings of feminine nouns: `a`, `as`, `ción`.
    var feminineEndings: [String]
    /// The masculine nouns that have one of the `feminineEndings`: `día`.
    var masculine: [String]
    /// Feminine nouns that have none of the `feminineEndings`: `mujeres`.
    var feminine: [String]?
  }

  /// What is wrong with the tables, phrased to follow the word `text` in a message; `nil` if they are valid.
  var fault: String? {
    if let numberDigits, numberDigits.count != 10 {
      return ".numberDigits has \(numberDigits.count) words instead of ten"
    }
    if let time, time.hours.count != 25 { return ".time.hours has \(time.hours.count) words instead of 25" }
    if let date, date.months.count != 12 { return ".date.months has \(date.months.count) words instead of twelve" }
    if let days = date?.days, days.count != 31 { return ".date.days has \(days.count) words instead of 31" }
    if let decimalSeparator, ![".", ","].contains(decimalSeparator) { return ".decimalSeparator is neither . nor ," }
    if let groupingSeparator, ![".", " "].contains(groupingSeparator) {
      return ".groupingSeparator is neither . nor a space"
    }
    for (word, power) in (scales ?? [:]).sorted(by: { $0.key < $1.key }) where !(0...18).contains(power) {
      return ".scales.\(word) is not a power of ten from 0 to 18"
    }
    if let code = ambiguousUnits?.first(where: { Currency(code: $0) == nil }) {
      return ".ambiguousUnits has \(code), which is not a currency in use (ISO 4217)"
    }
    for (sign, code) in minorSigns ?? [:] where Currency(code: code) == nil {
      return ".minorSigns.\(sign) is not a currency in use (ISO 4217)"
    }
    return nil
  }
}
