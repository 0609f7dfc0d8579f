// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WeeklyTimes

@Suite struct LocalClockTests {
  @Test(
    "an hour of the local clock begins on the hour of its time zone",
    arguments: [
      ("Europe/Berlin", "2026-11-20T20:23:58Z", "2026-11-20T21:00:00+01:00"),
      ("Asia/Kolkata", "2026-11-20T20:23:58Z", "2026-11-21T01:00:00+05:30"),
      ("America/New_York", "2026-07-01T03:59:59Z", "2026-06-30T23:00:00-04:00"),
      ("America/St_Johns", "2026-11-20T20:23:58Z", "2026-11-20T16:00:00-03:30"),
      ("UTC", "1969-12-31T23:59:59Z", "1969-12-31T23:00:00+00:00"),
      // The clock shows 02:00 to 02:59 twice: these are two hours.
      ("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00+02:00"),
      ("Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00+01:00"),
      ("Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"),
      // The clock is set by half an hour, within the hour.
      ("Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-05T01:00:00+11:00"),
      ("Australia/Lord_Howe", "2026-04-04T15:15:00Z", "2026-04-05T01:30:00+10:30"),
      ("Australia/Lord_Howe", "2026-10-03T15:40:00Z", "2026-10-04T02:30:00+11:00"),
    ])
  func hours(name: String, moment: String, hour: String) throws {
    let clock = LocalClock(zone: try zone(name))
    let start = clock.hour(of: try at(moment))
    #expect(clock.text(start) == hour)
    #expect(clock.hour(of: start) == start)
    #expect(try start <= at(moment))
  }

  @Test("the hours of a year follow each other without a gap, and each moment is in the hour that began last")
  func consecutive() throws {
    for name in ["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana"] {
      let clock = LocalClock(zone: try zone(name))
      var last = clock.hour(of: try at("2026-01-01T00:00:00Z"))
      for minute in stride(from: 0.0, to: 365 * 1_440, by: 15) {
        let moment = try at("2026-01-01T00:00:00Z") + minute * 60
        let hour = clock.hour(of: moment)
        #expect(hour >= last && hour <= moment && moment < hour + 3_600)
        last = hour
      }
    }
  }

  @Test("a day of the local clock begins at midnight, or when the clock is set forward over midnight")
  func days() throws {
    let berlin = LocalClock(zone: try zone("Europe/Berlin"))
    let day = berlin.day(of: try at("2026-11-20T23:30:00Z"))
    #expect(berlin.text(berlin.beginning(ofDay: day)) == "2026-11-21T00:00:00+01:00")
    #expect(berlin.text(berlin.beginning(ofDay: day + 1)) == "2026-11-22T00:00:00+01:00")
    // In Havana, the clock shows 01:00 after 23:59 of the day before.
    let havana = LocalClock(zone: try zone("America/Havana"))
    let spring = havana.day(of: try at("2026-03-08T12:00:00Z"))
    #expect(havana.text(havana.beginning(ofDay: spring)) == "2026-03-08T01:00:00-04:00")
  }
}
