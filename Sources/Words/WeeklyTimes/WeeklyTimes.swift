// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Times of the week in a time zone, such as the hours in which a shop is open, or in which it is quiet. The type uses
/// no clock.
///
/// The written form has parts with commas between them. A part has days, or none for every day, and a beginning and an
/// end on the clock of the time zone: `mon-fri 22:00-07:00, sat sun 20:00-09:00`. An end that is not after the
/// beginning is on the next day. `24:00` is the end of a day.
///
/// A time that the clock skips when it is set forward counts as the moment at which the clock is set. If the clock
/// shows a time twice because it is set back, a part begins at the first of the two moments, and ends at the second.
public struct WeeklyTimes: Sendable, Hashable {
  /// A beginning and an end on the clock, on some days of the week.
  struct Part: Sendable, Hashable {
    /// The days on which the part begins.
    var days: Set<Weekday>
    /// The beginning, in minutes from the beginning of the day.
    var from: Int
    /// The end, in minutes from the beginning of the day on which the part begins. If the part ends on the next day,
    /// this is more than 24 hours.
    var to: Int
  }

  /// The state at a moment.
  public struct Span: Sendable, Hashable {
    /// Whether the moment is in the times.
    public var isWithin: Bool
    /// The time since which the state holds; nil if that is more than a week ago.
    public var since: Date?
    /// The first moment at which the state no longer holds; nil if that is more than a week away.
    public var until: Date?

    public init(isWithin: Bool, since: Date? = nil, until: Date? = nil) {
      (self.isWithin, self.since, self.until) = (isWithin, since, until)
    }

    /// Whether the span also contains a moment.
    public func holds(at moment: Date) -> Bool {
      moment >= since ?? .distantPast && moment < until ?? .distantFuture
    }
  }

  let parts: [Part]
  public let zone: TimeZone

  /// Returns times that contain no moment.
  public static func never(in zone: TimeZone) -> WeeklyTimes { WeeklyTimes(parts: [], zone: zone) }

  /// Reads the written form. An empty text means times that contain no moment.
  ///
  /// - Throws: ``WeeklyTimesError``, which names the wrong part.
  public init(_ text: String, zone: TimeZone) throws(WeeklyTimesError) {
    var parts: [Part] = []
    for part in Self.list(text) { parts.append(try Part(part)) }
    self.init(parts: parts, zone: zone)
  }

  /// Returns the parts of a written form: the texts between the commas.
  static func list(_ text: String) -> [Substring] {
    text.allSatisfy(\.isWhitespace) ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
  }

  init(parts: [Part], zone: TimeZone) { (self.parts, self.zone) = (parts, zone) }

  public var isEmpty: Bool { parts.isEmpty }

  /// Returns whether a moment is in the times, since when, and until when. Parts that meet or overlap count as one.
  public func span(at moment: Date) -> Span {
    let clock = LocalClock(zone: zone)
    let today = clock.day(of: moment)
    // A part may begin a day earlier, and the current state may have begun a week ago, or may end in a week.
    var periods: [Range<Date>] = []
    for day in (today - 9)...(today + 9) {
      let weekday = Weekday(day: day)
      for part in parts where part.days.contains(weekday) {
        let begin = clock.firstMoment(day: day, minute: part.from)
        let end = clock.lastMoment(day: day, minute: part.to)
        // The beginning and the end are the same moment if the clock skips the whole part.
        if begin < end { periods.append(begin..<end) }
      }
    }
    periods = Self.joined(periods)
    let edges = clock.firstMoment(day: today - 7, minute: 0)...clock.firstMoment(day: today + 8, minute: 0)
    func near(_ date: Date?) -> Date? { date.flatMap { edges.contains($0) ? $0 : nil } }
    if let period = periods.first(where: { $0.contains(moment) }) {
      return Span(isWithin: true, since: near(period.lowerBound), until: near(period.upperBound))
    }
    return Span(
      isWithin: false, since: near(periods.last { $0.upperBound <= moment }?.upperBound),
      until: near(periods.first { $0.lowerBound > moment }?.lowerBound))
  }

  private static func joined(_ periods: [Range<Date>]) -> [Range<Date>] {
    var joined: [Range<Date>] = []
    for period in periods.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
      if let last = joined.last, period.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, period.upperBound)
      } else {
        joined.append(period)
      }
    }
    return joined
  }
}

extension WeeklyTimes.Part {
  /// Reads a part, such as `mon-fri 22:00-07:00`.
  init(_ text: Substring) throws(WeeklyTimesError) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let last = words.last else { throw WeeklyTimesError(.partEmpty, "") }
    let ends = last.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let from = Self.minutes(ends[0]), let to = Self.minutes(ends[1]), from < 1_440 else {
      throw WeeklyTimesError(.timesInvalid, last)
    }
    guard from != to else { throw WeeklyTimesError(.timesEqual, last) }
    var days: Set<Weekday> = []
    for word in words.dropLast() {
      let names = word.split(separator: "-", omittingEmptySubsequences: false)
      guard names.count <= 2, let first = names.first.flatMap({ Weekday($0) }),
        let end = names.last.flatMap({ Weekday($0) })
      else { throw WeeklyTimesError(.dayUnknown, word) }
      days.formUnion(first.days(until: end))
    }
    self.init(
      days: days.isEmpty ? Set(Weekday.allCases) : days, from: from, to: to > from ? to : to + 1_440)
  }

  /// Reads a time of the day, from `00:00` to `24:00`.
  private static func minutes(_ text: Substring) -> Int? {
    guard let parts = text.wholeMatch(of: #/([0-9]{1,2}):([0-5][0-9])/#), let hours = Int(parts.1),
      let minutes = Int(parts.2), hours * 60 + minutes <= 1_440
    else { return nil }
    return hours * 60 + minutes
  }
}

/// A day of the week.
enum Weekday: Int, Sendable, CaseIterable {
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday

  /// Reads the short English name of a day, such as `mon`, in any case.
  init?(_ name: some StringProtocol) {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    guard let place = names.firstIndex(of: name.lowercased()) else { return nil }
    self.init(rawValue: place)
  }

  /// - Parameter day: The number of days since January 1, 1970, which was a Thursday.
  init(day: Int) {
    // Not from outside: the remainder of a division by 7 is a place in the list.
    self = Self.allCases[((day + 3) % 7 + 7) % 7]
  }

  /// Returns the days from this day to another day, both included, even across the end of the week.
  func days(until last: Weekday) -> Set<Weekday> {
    let count = (last.rawValue - rawValue + 7) % 7
    return Set((0...count).compactMap { Weekday(rawValue: (rawValue + $0) % 7) })
  }
}
