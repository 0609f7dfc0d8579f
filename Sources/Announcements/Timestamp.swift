// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Times as they are written in payloads and queries.
public enum Timestamp {
  /// Reads a time in the format of RFC 3339, such as 2026-11-20T20:23:58Z, with or without a fraction of a second.
  ///
  /// - Returns: `nil` for any other text, and for a day or a time that does not exist.
  public static func date(_ text: String) -> Date? {
    // Foundation ignores what follows a time, counts on from the 31st of a shorter month, and reads offsets of up to
    // 18:00 only. So the form is checked here, and Foundation only counts the seconds.
    guard
      let parts = text.wholeMatch(
        of:
          #/
          ([0-9]{4}-[0-9]{2}-[0-9]{2}) [Tt] ((?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)) (\.[0-9]+)?
          (?:[Zz]|([+\-])([01][0-9]|2[0-3]):([0-5][0-9]))
          /#),
      let day = try? Date("\(parts.1)T00:00:00Z", strategy: .iso8601),
      day.formatted(.iso8601.year().month().day()) == parts.1,
      let time = try? Date("\(parts.1)T\(parts.2)Z", strategy: .iso8601),
      let fraction = parts.3.map({ TimeInterval("0\($0)") }) ?? 0
    else { return nil }
    guard let sign = parts.4, let hours = parts.5.flatMap({ Int($0) }), let minutes = parts.6.flatMap({ Int($0) })
    else { return time.addingTimeInterval(fraction) }
    let offset = TimeInterval(hours * 3600 + minutes * 60)
    return time.addingTimeInterval(fraction + (sign == "+" ? -offset : offset))
  }
}
