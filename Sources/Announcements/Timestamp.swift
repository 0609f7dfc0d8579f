// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Times as they are written in payloads and queries.
public enum Timestamp {
  /// Reads a time in the format of RFC 3339, such as 2026-11-20T20:23:58Z, with or without a fraction of a second.
  ///
  /// - Returns: `nil` for any other text.
  public static func date(_ text: String) -> Date? {
    // RFC 3339 allows offsets of up to 23:59 from UTC. Foundation reads offsets of up to 18:00 only.
    guard let offset = text.wholeMatch(of: /(.*)([+-])([01][0-9]|2[0-3]):([0-5][0-9])/),
      let hours = Double(offset.3), let minutes = Double(offset.4)
    else { return time(text) }
    let seconds = hours * 3600 + minutes * 60
    return time("\(offset.1)Z")?.addingTimeInterval(offset.2 == "+" ? -seconds : seconds)
  }

  private static func time(_ text: String) -> Date? {
    (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: .iso8601.time(includingFractionalSeconds: true)))
  }
}
