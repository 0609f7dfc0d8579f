// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Times as they are written in payloads and queries.
public enum Timestamp {
  /// Reads a time in the format of RFC 3339, such as 2026-11-20T20:23:58Z, with or without a fraction of a second.
  ///
  /// - Returns: `nil` for any other text, and for a day or a time that does not exist.
  public static func date(_ text: String) -> Date? {
    // Foundation ignores any text after a time, reads the 31st of a shorter month as a day of the next month, and
    // accepts only offsets of up to 18:00. A regular expression is compiled at each use, which takes longer than all
    // other work for a payload. This function therefore reads the bytes itself.
    var rest = Array(text.utf8)[...]
    guard let year = number(4, 0...9999, from: &rest), take("-", from: &rest),
      let month = number(2, 1...12, from: &rest), take("-", from: &rest),
      let day = number(2, 1...days(ofMonth: month, year: year), from: &rest), take("tT", from: &rest),
      let hour = number(2, 0...23, from: &rest), take(":", from: &rest),
      let minute = number(2, 0...59, from: &rest), take(":", from: &rest),
      // 60 is a leap second.
      let second = number(2, 0...60, from: &rest),
      let fraction = fraction(from: &rest), let offset = offset(from: &rest), rest.isEmpty
    else { return nil }
    let seconds = dayNumber(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return Date(timeIntervalSince1970: TimeInterval(seconds) + fraction)
  }

  /// Takes a number with exactly this number of digits. Returns `nil` if there is no such number, or if it is outside
  /// the range.
  private static func number(_ digits: Int, _ range: ClosedRange<Int>, from rest: inout ArraySlice<UInt8>) -> Int? {
    let bytes = rest.prefix(digits)
    guard bytes.count == digits, bytes.allSatisfy(isDigit) else { return nil }
    let number = bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    rest = rest.dropFirst(digits)
    return range.contains(number) ? number : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Takes the next character if it is one of these ASCII characters. Returns whether a character was taken.
  private static func take(_ characters: String, from rest: inout ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, characters.utf8.contains(first) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Takes the fraction of a second, which may be absent. Returns `nil` for a point without digits.
  private static func fraction(from rest: inout ArraySlice<UInt8>) -> TimeInterval? {
    guard take(".", from: &rest) else { return 0 }
    let digits = rest.prefix(while: isDigit)
    rest = rest.dropFirst(digits.count)
    return digits.isEmpty ? nil : TimeInterval("0." + String(decoding: digits, as: UTF8.self))
  }

  /// Takes the offset from UTC, and returns it in seconds.
  private static func offset(from rest: inout ArraySlice<UInt8>) -> Int? {
    if take("zZ", from: &rest) { return 0 }
    let isEast = rest.first == UInt8(ascii: "+")
    guard take("+-", from: &rest), let hours = number(2, 0...23, from: &rest), take(":", from: &rest),
      let minutes = number(2, 0...59, from: &rest)
    else { return nil }
    return (isEast ? 1 : -1) * (hours * 3_600 + minutes * 60)
  }

  private static func days(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: isLeap(year) ? 29 : 28
    default: 31
    }
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// The number of days from 1970-01-01 to a day of the Gregorian calendar, which RFC 3339 uses for all years.
  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    // There is no year before the year 0. On January 1 of the year 0, the leap day of that year has not come yet.
    let before = max(0, year - 1)
    let leapDays = year == 0 ? 0 : before / 4 - before / 100 + before / 400 + 1
    let months = (1..<month).reduce(0) { $0 + days(ofMonth: $1, year: year) }
    return year * 365 + leapDays + months + day - 1 - 719_528
  }
}
