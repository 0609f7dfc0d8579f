// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The parser for the durations and dates that somebody gives for a key.
public enum KeyTimes {
  private static let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
  /// The longest accepted duration, in seconds.
  private static let longest: TimeInterval = 100 * 366 * 86_400

  /// Parses a duration: a whole number followed by `s`, `m`, `h`, `d` or `w`.
  ///
  /// - Returns: The duration in seconds, or nil if the text is not a duration or is longer than 100 years.
  public static func seconds(_ text: String) -> TimeInterval? {
    guard let unit = text.last.flatMap({ units[$0] }), (2...12).contains(text.utf8.count),
      text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Double(text.dropLast())
    else { return nil }
    return number * unit <= longest ? number * unit : nil
  }

  /// Parses a date, a date with a time, or a duration from `now`. A date without a time means its first moment in UTC.
  ///
  /// - Returns: The moment, or nil if the text has none of these forms or names a day that does not exist.
  public static func moment(_ text: String, now: Date) -> Date? {
    if let seconds = seconds(text) { return now.addingTimeInterval(seconds) }
    let day = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    let time = Date.ISO8601FormatStyle(timeZone: .gmt)
    for style in [day, time] {
      // Foundation reads the 31st of a 30-day month as the next day. Such a date is refused, because formatting it
      // gives another text.
      if let date = try? Date(text, strategy: style), date.formatted(style) == text { return date }
    }
    return nil
  }
}
