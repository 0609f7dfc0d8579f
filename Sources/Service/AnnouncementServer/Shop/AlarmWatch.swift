// SPDX-License-Identifier: Apache-2.0

import Foundation
import WebhookMessages

/// An event that a shop's owner wants to know at once, even if nobody looks at the console.
enum Alarm: String, Sendable, Hashable, CaseIterable {
  case deviceLost = "device_lost"
  case paused
  case queueLong = "queue_long"
  case pushUnreachable = "push_unreachable"
  case shopSilent = "shop_silent"

  /// The type of the message to webhook endpoints.
  var webhook: WebhookEvent.Kind {
    switch self {
    case .deviceLost: .deviceLost
    case .paused: .playerPaused
    case .queueLong: .queueLong
    case .pushUnreachable: .pushUnreachable
    case .shopSilent: .shopSilent
    }
  }
}

/// The limits that cause alarms. 0 switches an alarm off.
public struct AlarmSettings: Sendable, Hashable {
  /// The time for which the device must be lost, in minutes.
  public var deviceMinutes = 1
  /// The time for which the player must be paused, in minutes.
  public var pausedMinutes = 10
  /// The largest number of waiting announcements that causes no alarm.
  public var longestQueue = 20
  /// The time without a payment while the shop is open, in hours.
  public var silentHours = 0

  public init() {}
}

/// The state machine that decides which alarms begin and end.
///
/// It is a value that reads no clock. The caller passes all times, which are durations since the same moment and never
/// decrease.
struct AlarmWatch: Sendable {
  /// The known facts at one moment.
  struct Facts: Sendable, Hashable {
    struct Player: Sendable, Hashable {
      /// The time for which the device has been lost; nil if it works.
      var deviceLostFor: Duration?
      /// The time for which the player has been paused; nil if it is not.
      var pausedFor: Duration?
      var waiting = 0
    }

    /// The state of the player; nil if no player of this service plays. Alarms about the player then neither begin nor
    /// end.
    var player: Player?
    var isPushUnreachable = false
    /// The time without a payment while the shop was open; nil if it is not known.
    var silentFor: Duration?
    /// Whether the shop is open. An alarm about missing payments begins only while the shop is open.
    var isOpen = true
  }

  struct News: Sendable, Hashable {
    var alarm: Alarm
    /// Whether the alarm has begun; if not, it has ended.
    var hasBegun: Bool
  }

  /// The time for which a queue must be long.
  static let patience: Duration = .seconds(60)
  /// The time after the start in which no alarm from before the restart ends, because the state of the device and of
  /// pushes is not known at once.
  static let settling: Duration = .seconds(90)

  private let settings: AlarmSettings
  private let startedAt: Duration
  /// The alarms that were reported before the restart.
  private var carried: Set<Alarm>
  private var longSince: Duration?
  private(set) var active: Set<Alarm>

  /// - Parameter active: The alarms whose beginning was reported before a restart.
  init(_ settings: AlarmSettings, active: Set<Alarm> = [], at now: Duration) {
    (self.settings, self.active, carried, startedAt) = (settings, active, active, now)
  }

  /// Returns the alarms that have begun or ended.
  mutating func look(_ facts: Facts, at now: Duration) -> [News] {
    var news: [News] = []
    for alarm in Alarm.allCases {
      guard let isOn = isOn(alarm, facts, at: now) else { continue }
      if isOn { carried.remove(alarm) }
      guard isOn != active.contains(alarm) else { continue }
      if !isOn, carried.contains(alarm), now - startedAt < Self.settling { continue }
      carried.remove(alarm)
      if isOn { active.insert(alarm) } else { active.remove(alarm) }
      news.append(News(alarm: alarm, hasBegun: isOn))
    }
    return news
  }

  /// Returns whether an alarm is on; nil if it stays as it is.
  private mutating func isOn(_ alarm: Alarm, _ facts: Facts, at now: Duration) -> Bool? {
    switch alarm {
    case .deviceLost:
      guard settings.deviceMinutes > 0 else { return false }
      return facts.player.map { reaches($0.deviceLostFor, .seconds(60 * settings.deviceMinutes)) }
    case .paused:
      guard settings.pausedMinutes > 0 else { return false }
      return facts.player.map { reaches($0.pausedFor, .seconds(60 * settings.pausedMinutes)) }
    case .queueLong:
      guard settings.longestQueue > 0 else { return false }
      guard let player = facts.player else { return nil }
      guard player.waiting > settings.longestQueue else {
        longSince = nil
        return false
      }
      let since = longSince ?? now
      longSince = since
      return active.contains(.queueLong) || now - since >= Self.patience
    case .pushUnreachable: return facts.isPushUnreachable
    case .shopSilent:
      guard settings.silentHours > 0 else { return false }
      guard let silentFor = facts.silentFor else { return nil }
      let isSilent = silentFor >= .seconds(3_600 * settings.silentHours)
      return isSilent && !facts.isOpen && !active.contains(.shopSilent) ? nil : isSilent
    }
  }

  private func reaches(_ time: Duration?, _ limit: Duration) -> Bool { time.map { $0 >= limit } ?? false }
}

/// The time for which a shop was open.
enum OpenTime {
  /// The time between two looks at the hours of the shop.
  static let step: TimeInterval = 300
  /// The longest time to look back.
  static let longestLook: TimeInterval = 14 * 86_400

  /// Returns for how long the shop was open between two moments.
  ///
  /// - Parameter most: The open time at which the calculation stops. The result exceeds it by at most ``step``.
  static func between(
    _ start: Date, _ end: Date, upTo most: Duration, isOpen: (Date) -> Bool
  ) -> Duration {
    let start = max(start, end.addingTimeInterval(-longestLook))
    var open: Duration = .zero
    var moment = end
    while moment > start, open < most {
      let earlier = max(start, moment.addingTimeInterval(-step))
      // If the shop is open in the middle of this step, the whole step counts as open.
      let length = moment.timeIntervalSince(earlier)
      if isOpen(earlier.addingTimeInterval(length / 2)) { open += .seconds(length) }
      moment = earlier
    }
    return open
  }
}
