// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The wall clock of a time zone. It converts moments to days and times of day, and back.
///
/// Whole days and hours are counted with integers. Foundation is only asked for the offset of the time zone.
public struct LocalClock: Sendable, Hashable {
  public let zone: TimeZone

  public init(zone: TimeZone) { self.zone = zone }

  /// The name of the time zone in the IANA database. Foundation has another name for UTC.
  public var zoneName: String { zone.identifier == "GMT" ? "UTC" : zone.identifier }

  /// Returns the offset from UTC at a moment, in seconds.
  private func offset(_ seconds: Int) -> Int {
    zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds)))
  }

  /// Returns the moment in whole seconds since 1970, rounded down. Moments further away than the year 9999 are clamped,
  /// so that no sum of them overflows.
  private static func seconds(_ moment: Date) -> Int {
    let limit = 300_000_000_000.0
    return Int(min(max(moment.timeIntervalSince1970.rounded(.down), -limit), limit))
  }

  /// Returns the day that the calendar shows, as the number of days since January 1, 1970.
  public func day(of moment: Date) -> Int {
    let seconds = Self.seconds(moment)
    return (seconds + offset(seconds)).roundedDown(to: 86_400) / 86_400
  }

  /// Returns the moment at which a day begins. It is not midnight if the clock skips midnight.
  public func beginning(ofDay day: Int) -> Date { firstMoment(day: day, minute: 0) }

  /// Returns the moment at which the current hour began. If the clock was set to another minute within the hour, the
  /// hour begins when it was set.
  public func hour(of moment: Date) -> Date {
    let seconds = Self.seconds(moment)
    let now = offset(seconds)
    let start = (seconds + now).roundedDown(to: 3_600) - now
    let isSet = offset(start) != now
    return Date(timeIntervalSince1970: TimeInterval(isSet ? change(after: start, upTo: seconds) : start))
  }

  /// Returns the first moment at which the clock shows a time of a day, or would show it if it were not set forward.
  func firstMoment(day: Int, minute: Int) -> Date { moment(day, minute, isLast: false) }

  /// Returns the last moment at which the clock shows a time of a day, or would show it if it were not set forward.
  func lastMoment(day: Int, minute: Int) -> Date { moment(day, minute, isLast: true) }

  private func moment(_ day: Int, _ minute: Int, isLast: Bool) -> Date {
    let local = day * 86_400 + minute * 60
    let (before, after) = (offset(local - 86_400), offset(local + 86_400))
    var seconds = local - before
    if before != after {
      let change = change(after: local - 86_400, upTo: local + 86_400)
      if before < after {
        // The clock is set forward, and shows nothing between the two readings of that moment.
        seconds = seconds < change ? seconds : max(change, local - after)
      } else if isLast ? local - after >= change : seconds >= change {
        seconds = local - after
      }
    }
    return Date(timeIntervalSince1970: TimeInterval(seconds))
  }

  /// Returns the first second that has the offset of the end of a time span, if the offset changes once within the
  /// span.
  private func change(after start: Int, upTo end: Int) -> Int {
    var (low, high) = (start, end)
    let last = offset(end)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(middle) == last { high = middle } else { low = middle }
    }
    return high
  }

  /// Returns a moment in the form of RFC 3339, with the offset of the time zone, such as 2026-11-20T20:00:00+08:00.
  public func text(_ moment: Date) -> String {
    let seconds = Self.seconds(moment)
    // RFC 3339 has no seconds in an offset. No time zone has had any for decades.
    let offset = offset(seconds).roundedDown(to: 60)
    let local = Date(timeIntervalSince1970: TimeInterval(seconds + offset)).formatted(.iso8601)
    let minutes = abs(offset) / 60
    let digits = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    return local.dropLast() + (offset < 0 ? "-" : "+") + digits
  }
}

extension TimeZone {
  /// Returns the time zone with a name of the IANA database, such as Europe/Berlin or UTC; nil for any other text, even
  /// for one that Foundation reads, such as GMT+3 or EST.
  public static func named(_ name: String) -> TimeZone? {
    guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
    return zone
  }
}

extension Int {
  fileprivate func roundedDown(to step: Int) -> Int {
    let rest = self % step
    return self - (rest < 0 ? rest + step : rest)
  }
}
