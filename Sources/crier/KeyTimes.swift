// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Times as they are typed for keys.
enum KeyTimes {
  private static let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
  /// No key is for longer; in seconds.
  private static let longest: TimeInterval = 100 * 366 * 86_400

  /// How long a duration is: a whole number and `s`, `m`, `h`, `d` or `w`.
  ///
  /// - Returns: seconds; nil for what is no duration, or more than 100 years.
  static func seconds(_ text: String) -> TimeInterval? {
    guard let unit = text.last.flatMap({ units[$0] }), (2...12).contains(text.utf8.count),
      text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Double(text.dropLast())
    else { return nil }
    return number * unit <= longest ? number * unit : nil
  }

  /// The moment that a date, a date with a time, or a duration from now on means. A date is its first moment in UTC.
  ///
  /// - Returns: nil for what is none of these, or no day of the calendar.
  static func moment(_ text: String, now: Date) -> Date? {
    if let seconds = seconds(text) { return now.addingTimeInterval(seconds) }
    let day = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    let time = Date.ISO8601FormatStyle(timeZone: .gmt)
    for style in [day, time] {
      // What is read as another day than was written is none: the 31st of a month with 30.
      if let date = try? Date(text, strategy: style), date.formatted(style) == text { return date }
    }
    return nil
  }
}
