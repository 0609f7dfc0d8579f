// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The volumes of times of the week, such as `mon-fri 22:00-07:00=20, 12:00-13:00=40`. The type uses no clock.
///
/// If the times of several rules contain a moment, the rule that began last applies. If two rules began at the same
/// moment, the later one in the list applies.
public struct VolumeRules: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    var times: WeeklyTimes
    var percent: Int
  }

  /// The volume that the rules give for a moment.
  public struct Setting: Sendable, Hashable {
    /// The volume of the rule that applies, in per cent; nil if no rule applies.
    public var percent: Int?
    /// The time since which that rule applies; nil if it has applied for more than a week, or if no rule applies.
    public var since: Date?
    /// The moment for which the setting was computed.
    public var asked: Date
    /// The first moment at which the setting may change; nil if that is more than a week away.
    public var until: Date?

    /// Whether the setting is still valid at a moment. It is no longer valid after the clock was set back.
    public func holds(at moment: Date) -> Bool { moment >= asked && moment < until ?? .distantFuture }
  }

  private let rules: [Rule]

  public init() { rules = [] }

  /// Reads the written form: times of the week, each with a volume in per cent. An empty text means no rules.
  ///
  /// - Throws: ``WeeklyTimesError``, which names the wrong part.
  public init(_ text: String, zone: TimeZone) throws(WeeklyTimesError) {
    var rules: [Rule] = []
    for part in WeeklyTimes.list(text) {
      let sides = part.split(separator: "=", omittingEmptySubsequences: false)
      // For a part without times, this call throws the error about times.
      let times = try WeeklyTimes.Part(sides.first ?? part)
      guard sides.count == 2, let percent = Self.percent(sides[1]) else {
        throw WeeklyTimesError(.volumeInvalid, part.trimmingCharacters(in: .whitespaces))
      }
      rules.append(Rule(times: WeeklyTimes(parts: [times], zone: zone), percent: percent))
    }
    self.rules = rules
  }

  private static func percent(_ text: Substring) -> Int? {
    let digits = text.trimmingCharacters(in: .whitespaces)
    guard digits.wholeMatch(of: #/[0-9]{1,3}/#) != nil, let percent = Int(digits), percent <= 100 else { return nil }
    return percent
  }

  public var isEmpty: Bool { rules.isEmpty }

  /// Returns the setting at a moment.
  public func setting(at moment: Date) -> Setting {
    var setting = Setting(asked: moment)
    for rule in rules {
      let span = rule.times.span(at: moment)
      if let until = span.until { setting.until = min(until, setting.until ?? until) }
      let since = span.since ?? .distantPast
      guard span.isWithin, setting.percent == nil || since >= setting.since ?? .distantPast else { continue }
      (setting.percent, setting.since) = (rule.percent, span.since)
    }
    return setting
  }
}
