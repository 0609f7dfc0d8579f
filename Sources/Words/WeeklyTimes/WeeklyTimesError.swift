// SPDX-License-Identifier: Apache-2.0

/// The error for a text that is not a list of times of the week.
public struct WeeklyTimesError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case partEmpty = "part_empty"
    case dayUnknown = "day_unknown"
    case timesInvalid = "times_invalid"
    case timesEqual = "times_equal"
    case volumeInvalid = "volume_invalid"
  }

  public let code: Code
  /// The part of the text that is wrong, as it was given.
  public let part: String

  init(_ code: Code, _ part: some StringProtocol) {
    self.code = code
    self.part = String(part.prefix(40))
  }

  public var description: String {
    switch code {
    case .partEmpty: "nothing stands between two commas; give days and times, such as mon-fri 22:00-07:00"
    case .dayUnknown: "“\(part)” is not a day; give mon, tue, wed, thu, fri, sat, sun, or two of them, such as mon-fri"
    case .timesInvalid:
      "“\(part)” is not a beginning and an end; give two times from 00:00 to 24:00, such as 22:00-07:00"
    case .timesEqual: "“\(part)” begins and ends at the same time; give 00:00-24:00 for a whole day"
    case .volumeInvalid: "“\(part)” has no volume; give a percentage from 0 to 100 after it, such as 22:00-07:00=20"
    }
  }
}
