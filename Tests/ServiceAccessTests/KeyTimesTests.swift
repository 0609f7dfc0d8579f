// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

@Suite("Durations and dates of keys")
struct KeyTimesTests {
  private let now = Date(timeIntervalSince1970: 1_790_000_000)

  @Test(
    "a key's duration is a whole number of seconds, minutes, hours, days or weeks, up to a hundred years",
    arguments: [
      ("1s", 1), ("2m", 120), ("3h", 10_800), ("4d", 345_600), ("2w", 1_209_600), ("0s", 0), ("36600d", 3_162_240_000),
      ("3162240000s", 3_162_240_000),
    ])
  func durations(text: String, seconds: TimeInterval) {
    #expect(KeyTimes.seconds(text) == seconds)
    #expect(KeyTimes.moment(text, now: now) == now.addingTimeInterval(seconds))
  }

  @Test(
    "a text in another form than a duration is refused",
    arguments: [
      "", "s", "1", "1y", "-1s", "+1s", "1.5h", "1 d", " 1d", "1d ", "1D", "1e3s", "\u{FF11}s", "36601d", "3162240001s",
      "000000000001s",
    ])
  func noDurations(text: String) { #expect(KeyTimes.seconds(text) == nil) }

  @Test("a date means its first moment in UTC, and a date with a time means that moment")
  func dates() {
    #expect(KeyTimes.moment("2026-09-21", now: now) == Date(timeIntervalSince1970: 1_789_948_800))
    #expect(KeyTimes.moment("2026-09-21T14:13:20Z", now: now) == now)
  }

  @Test(
    "a day that does not exist, or a text in another form, is refused as a date",
    arguments: [
      "2026-02-29", "2026-04-31", "2026-13-01", "2026-9-21", "21.09.2026", "2026-09-21T25:00:00Z", "soon", "",
    ])
  func noDates(text: String) { #expect(KeyTimes.moment(text, now: now) == nil) }
}
