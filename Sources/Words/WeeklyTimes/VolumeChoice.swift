// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The volume that a person set, in addition to the rules. It holds until the next rule begins.
public struct VolumeChoice: Sendable, Hashable {
  /// The volume of the times in which no rule applies, in per cent; nil for the volume of the settings.
  public private(set) var usual: Int?
  /// The volume that was set while a rule applied, in per cent.
  public private(set) var passing: Int?
  /// The time at which ``passing`` was set.
  public private(set) var passingSince: Date?

  public init() {}

  /// Creates a choice from stored values.
  ///
  /// - Returns: nil if all values are nil, if a volume is not from 0 to 100 per cent, or if only one of `passing` and
  ///   `since` is given.
  public init?(usual: Int?, passing: Int?, since: Date?) {
    guard [usual, passing].allSatisfy({ $0.map((0...100).contains) ?? true }), usual != nil || passing != nil,
      (passing == nil) == (since == nil)
    else { return nil }
    (self.usual, self.passing, passingSince) = (usual, passing, since)
  }

  /// Sets the volume: ``passing`` if a rule applies, or else ``usual``. Nil returns to the rules and the settings.
  public mutating func choose(_ percent: Int?, at moment: Date, _ rules: VolumeRules) {
    if percent == nil { usual = nil }
    (passing, passingSince) = (nil, nil)
    guard let percent else { return }
    if rules.setting(at: moment).percent == nil { usual = percent } else { (passing, passingSince) = (percent, moment) }
  }

  /// Returns the volume in per cent, and whether a rule has set it.
  ///
  /// - Parameter fallback: The volume of the settings.
  public func volume(_ setting: VolumeRules.Setting, orElse fallback: Int) -> (percent: Int, isByTime: Bool) {
    guard let percent = setting.percent else { return (usual ?? fallback, false) }
    if let passing, let passingSince, passingSince >= setting.since ?? .distantPast { return (passing, false) }
    return (percent, true)
  }
}
