// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WeeklyTimes

@Suite struct WeeklyTimesTests {
  // 2026-11-20 is a Friday. Berlin is an hour before UTC in winter.

  @Test("weekly times across midnight begin on their days and end on the next day")
  func midnight() throws {
    let times = try WeeklyTimes("mon-fri 22:00-07:00")
    let friday = try times.span(at: at("2026-11-20T21:00:00Z"))
    #expect(friday.isWithin)
    #expect(try friday.since == at("2026-11-20T21:00:00Z"))
    #expect(try friday.until == at("2026-11-21T06:00:00Z"))
    #expect(try times.span(at: at("2026-11-21T05:59:59Z")).isWithin)
    let weekend = try times.span(at: at("2026-11-21T06:00:00Z"))
    #expect(!weekend.isWithin)
    #expect(try weekend.since == at("2026-11-21T06:00:00Z"))
    #expect(try weekend.until == at("2026-11-23T21:00:00Z"))
  }

  @Test("a part of weekly times that names no days applies to every day, and 24:00 is the end of a day")
  func everyDay() throws {
    let times = try WeeklyTimes("12:30-24:00")
    for day in 16...22 {
      let span = try times.span(at: at("2026-11-\(day)T15:00:00Z"))
      #expect(
        try span == .init(isWithin: true, since: at("2026-11-\(day)T11:30:00Z"), until: at("2026-11-\(day)T23:00:00Z")))
    }
  }

  @Test("weekly times may list days, and a range of days may cross the end of the week")
  func days() throws {
    for text in ["sat-mon 09:00-17:00", "SUN Mon sat 9:00-17:00", " sat  09:00-17:00 ,\tsun mon 09:00-17:00"] {
      let times = try WeeklyTimes(text)
      let open = try (16...22).filter { try times.span(at: at("2026-11-\($0)T10:00:00Z")).isWithin }
      #expect(open == [16, 21, 22], "\(text)")
    }
  }

  @Test("parts of weekly times that touch or overlap count as one part")
  func joined() throws {
    let times = try WeeklyTimes("fri 20:00-24:00, sat 00:00-06:00, sat 05:00-08:00")
    let span = try times.span(at: at("2026-11-20T23:30:00Z"))
    #expect(try span == .init(isWithin: true, since: at("2026-11-20T19:00:00Z"), until: at("2026-11-21T07:00:00Z")))
  }

  @Test("weekly times that always or never apply have neither a beginning nor an end")
  func always() throws {
    let moment = try at("2026-11-20T12:00:00Z")
    #expect(try WeeklyTimes("00:00-24:00").span(at: moment) == .init(isWithin: true))
    #expect(try WeeklyTimes("").span(at: moment) == .init(isWithin: false))
    #expect(try WeeklyTimes("").isEmpty && WeeklyTimes("  ").isEmpty)
    #expect(try WeeklyTimes.never(in: zone("UTC")).isEmpty)
  }

  @Test("a weekly time that is the only one begins again a week after its last beginning")
  func weekly() throws {
    let times = try WeeklyTimes("fri 10:00-11:00", "UTC")
    let span = try times.span(at: at("2026-11-20T11:00:00Z"))
    #expect(try span == .init(isWithin: false, since: at("2026-11-20T11:00:00Z"), until: at("2026-11-27T10:00:00Z")))
  }

  @Test("a state of weekly times holds from its beginning until before its end")
  func holding() throws {
    let span = try WeeklyTimes("fri 10:00-11:00", "UTC").span(at: at("2026-11-20T10:30:00Z"))
    let (begin, end) = (try at("2026-11-20T10:00:00Z"), try at("2026-11-20T11:00:00Z"))
    #expect([begin, end - 1].allSatisfy(span.holds))
    #expect(![begin - 1, end].contains(where: span.holds))
    #expect(WeeklyTimes.Span(isWithin: true).holds(at: begin))
  }

  @Test("a state of weekly times that lasts almost a week has a beginning and an end")
  func almostAWeek() throws {
    let times = try WeeklyTimes("sat 10:00-11:00", "UTC")
    let (last, next) = (try at("2026-11-14T11:00:00Z"), try at("2026-11-21T10:00:00Z"))
    #expect(try times.span(at: at("2026-11-14T11:00:00Z")) == .init(isWithin: false, since: last, until: next))
    #expect(try times.span(at: at("2026-11-21T09:59:59Z")) == .init(isWithin: false, since: last, until: next))
    #expect(try times.span(at: at("2026-11-14T10:59:59Z")).isWithin)
  }

  @Test("the beginning or end of a state of weekly times is nil if it is more than a week away")
  func moreThanAWeek() throws {
    // The part is skipped on 2026-03-29, when the clock in Berlin is set forward.
    let times = try WeeklyTimes("sun 02:10-02:50")
    #expect(try times.span(at: at("2026-03-29T12:00:00Z")).since == at("2026-03-22T01:50:00Z"))
    #expect(try times.span(at: at("2026-03-30T12:00:00Z")).since == nil)
    #expect(try times.span(at: at("2026-03-28T12:00:00Z")).until == nil)
    #expect(try times.span(at: at("2026-03-29T12:00:00Z")).until == at("2026-04-05T00:10:00Z"))
  }

  @Test("an error of weekly times quotes at most 40 characters of the wrong part")
  func longPart() throws {
    let error = try #require(throws: WeeklyTimesError.self) {
      try WeeklyTimes(String(repeating: "x", count: 41) + " 22:00-07:00")
    }
    #expect(error.part == String(repeating: "x", count: 40))
  }

  @Test("a weekly time that is skipped when the clock is set forward counts as the moment of the change")
  func gap() throws {
    // On 2026-03-29 the clock in Berlin shows 03:00 after 01:59, at 01:00 UTC.
    let change = try at("2026-03-29T01:00:00Z")
    #expect(try WeeklyTimes("sun 02:30-05:00").span(at: change).since == change)
    let ends = try WeeklyTimes("sat 22:00-02:30").span(at: at("2026-03-29T00:59:59Z"))
    #expect(ends.isWithin && ends.until == change)
    // The whole part is skipped on that day, and comes a week later.
    let skipped = try WeeklyTimes("sun 02:10-02:50").span(at: change)
    #expect(!skipped.isWithin)
    #expect(try skipped.until == at("2026-04-05T00:10:00Z"))
    // The part lasts an hour less.
    let night = try WeeklyTimes("22:00-07:00").span(at: at("2026-03-29T00:00:00Z"))
    #expect(try night.until == at("2026-03-29T05:00:00Z"))
  }

  @Test("if a local time is repeated, weekly times begin at its first occurrence and end at its second")
  func overlap() throws {
    // On 2026-10-25 the clock in Berlin shows 02:00 again after 02:59, at 01:00 UTC.
    let times = try WeeklyTimes("sun 02:15-02:45")
    let span = try times.span(at: at("2026-10-25T00:15:00Z"))
    #expect(try span == .init(isWithin: true, since: at("2026-10-25T00:15:00Z"), until: at("2026-10-25T01:45:00Z")))
    #expect(try !times.span(at: at("2026-10-25T00:14:59Z")).isWithin)
    #expect(try times.span(at: at("2026-10-25T01:10:00Z")).isWithin)
    #expect(try !times.span(at: at("2026-10-25T01:45:00Z")).isWithin)
  }

  @Test(
    "at each moment of a year, weekly times agree with the local clock",
    arguments: ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Santiago", "UTC"])
  func year(name: String) throws {
    let times = try WeeklyTimes("mon-fri 22:00-06:30, sat 13:00-14:00", name)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try zone(name)
    let start = try at("2026-01-01T00:00:00Z")
    for step in 0..<(365 * 24) {
      let moment = start + Double(step) * 3_600 + 1_740
      let parts = calendar.dateComponents([.weekday, .hour, .minute], from: moment)
      let (day, minute) = (try #require(parts.weekday), try #require(parts.hour) * 60 + (try #require(parts.minute)))
      // Sunday is 1.
      let isNight = (2...6).contains(day) && minute >= 1_320 || (3...7).contains(day) && minute < 390
      #expect(times.span(at: moment).isWithin == isNight || day == 7 && (780..<840).contains(minute), "\(moment)")
    }
  }

  @Test("weekly times at a moment in the far past or future do not crash the program")
  func far() throws {
    let times = try WeeklyTimes("mon-fri 22:00-07:00")
    for moment in [
      Date.distantPast, .distantFuture, Date(timeIntervalSince1970: -1e300), Date(timeIntervalSince1970: 1e300),
    ] {
      _ = times.span(at: moment)
      _ = LocalClock(zone: times.zone).text(moment)
    }
  }

  @Test(
    "a text without valid times is refused, and the error names the wrong part",
    arguments: [
      ("mo 22:00-07:00", WeeklyTimesError.Code.dayUnknown, "mo"),
      ("mon-tue-wed 22:00-07:00", .dayUnknown, "mon-tue-wed"),
      ("mon- 22:00-07:00", .dayUnknown, "mon-"),
      ("22:00", .timesInvalid, "22:00"),
      ("mon-fri", .timesInvalid, "mon-fri"),
      ("22:00-7", .timesInvalid, "22:00-7"),
      ("24:00-07:00", .timesInvalid, "24:00-07:00"),
      ("22:00-24:01", .timesInvalid, "22:00-24:01"),
      ("22:60-23:00", .timesInvalid, "22:60-23:00"),
      ("２２:00-23:00", .timesInvalid, "２２:00-23:00"),
      ("22:00-07:00 mon", .timesInvalid, "mon"),
      ("08:00-08:00", .timesEqual, "08:00-08:00"),
      ("08:00-09:00,", .partEmpty, ""),
      (",", .partEmpty, ""),
    ])
  func refused(text: String, code: WeeklyTimesError.Code, part: String) throws {
    let error = try #require(throws: WeeklyTimesError.self) { try WeeklyTimes(text) }
    #expect(error.code == code && error.part == part)
    #expect((part.isEmpty || error.description.contains(part)))
  }

  @Test("only names of the IANA database are accepted as time zones")
  func zones() {
    for name in ["Europe/Berlin", "Asia/Calcutta", "UTC", "America/Argentina/Ushuaia"] {
      #expect(TimeZone.named(name).map { LocalClock(zone: $0).zoneName } == name)
    }
    for name in ["", "Berlin", "CET", "GMT+3", "Europe/Berlim", "Europe/", "/", "../../etc/passwd", "europe/berlin "] {
      #expect(TimeZone.named(name) == nil, "\(name)")
    }
  }
}
