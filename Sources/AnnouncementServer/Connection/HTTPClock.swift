// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The present time in the format of the field `Date` (RFC 9110, section 5.6.7), formatted once a second.
final class HTTPClock: Sendable {
  private static let style = Date.VerbatimFormatStyle(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
      """,
    locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))

  private let state = Locked((second: Int64.min, text: ""))

  var text: String {
    let now = Date()
    let second = Int64(now.timeIntervalSince1970)
    return state.withLock { state in
      if state.second != second { state = (second, now.formatted(Self.style)) }
      return state.text
    }
  }
}
