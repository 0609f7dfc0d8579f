// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "a timestamp may have any offset that RFC 3339 allows, and a fraction of a second",
    arguments: [
      ("1970-01-02T00:00:00Z", 86_400), ("1970-01-02T00:00:00.5Z", 86_400.5), ("1970-01-02T05:30:00+05:30", 86_400),
      ("1970-01-01T16:00:00-08:00", 86_400), ("1970-01-01T01:41:00-22:19", 86_400),
      ("1970-01-02T23:59:00.25+23:59", 86_400.25), ("1970-01-02t00:00:00z", 86_400),
      ("1970-01-01T23:59:60Z", 86_400), ("1970-01-02T00:00:00.125000000Z", 86_400.125),
      ("1972-02-29T00:00:00Z", 68_169_600),
    ])
  func read(text: String, seconds: TimeInterval) {
    #expect(Timestamp.date(text) == Date(timeIntervalSince1970: seconds))
  }

  @Test(
    "a timestamp in another form, or with a day or time that does not exist, is refused",
    arguments: [
      "", "yesterday", "2026-11-20", "2026-11-20T20:23:58", "2026-11-20T20:23:58+24:00",
      "2026-13-20T20:23:58Z", "+01:00", "2026-11-20T20:23:58Zgarbage", "2026-11-20T20:23:58ZZ",
      "2026-11-20T20:23:58Z+05:30", "2026-11-20T20:23:58+05:30+05:30", " 2026-11-20T20:23:58Z",
      "2026-02-31T20:23:58Z", "2026-02-29T20:23:58Z", "2026-11-00T20:23:58Z", "2026-11-20T20:61:58Z",
      "2026-11-20T24:00:00Z", "2026-11-20T20:23:61Z", "2026-11-20T20:23:58.Z", "26-11-20T20:23:58Z",
      "2026-11-20 20:23:58Z", "２０２６-11-20T20:23:58Z", "2026-11-20T20:23:58Z\n", "1900-02-29T00:00:00Z",
      "2026-04-31T00:00:00Z", "2026-11-20T20:23:58+05:60", "2026-11-20T20:23:58,5Z",
    ])
  func refused(text: String) {
    #expect(Timestamp.date(text) == nil)
  }

  @Test("the date of each day from 1890 to 2110 is read as the day of the Gregorian calendar")
  func everyDay() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    var day = try #require(Timestamp.date("1890-01-01T00:00:00Z"))
    let last = try #require(Timestamp.date("2110-12-31T00:00:00Z"))
    #expect(calendar.dateComponents([.year, .month, .day], from: day) == DateComponents(year: 1890, month: 1, day: 1))
    var days = 1
    while day < last {
      day.addTimeInterval(86_400)
      let parts = calendar.dateComponents([.year, .month, .day], from: day)
      let text = String(format: "%04d-%02d-%02dT00:00:00Z", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
      try #require(Timestamp.date(text) == day)
      days += 1
    }
    #expect(days == 80_718)
  }
}
