// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import PlaybackOrder

/// The state of a player at one moment.
public struct LaneStatus: Sendable, Hashable {
  /// The time since which the device cannot be used or the next announcement cannot begin, and the code of the error
  /// that prevents it.
  public struct Fault: Sendable, Hashable {
    public var since: Date
    public var code: String
  }

  public struct Playing: Sendable, Hashable {
    public var number: Int64
    public var category: PlaybackItem.Category
    public var positionMilliseconds: Int
    public var lengthMilliseconds: Int
    /// Whether the announcement is audible. False while the device is lost.
    public var isHeard: Bool
    /// The payments that the announcement summarises; empty if it is not a summary.
    public var standsFor: [Int64]
    /// Whether the announcement is a replay.
    public var isReplay: Bool
  }

  public struct Waiting: Sendable, Hashable {
    public var number: Int64
    public var category: PlaybackItem.Category
    /// The state: accepted, rendering or waiting.
    public var state: Ledger.State
    /// The code of the last rendering failure, while rendering is retried.
    public var failure: String?
    /// Whether the announcement is a replay.
    public var isReplay: Bool

    public init(
      number: Int64, category: PlaybackItem.Category, state: Ledger.State, failure: String? = nil, isReplay: Bool
    ) {
      self.number = number
      self.category = category
      self.state = state
      self.failure = failure
      self.isReplay = isReplay
    }
  }

  public var lane: String
  /// The pause that somebody ordered; nil if there is none.
  public var pause: Ledger.Pause?
  public var isPaused: Bool { pause != nil }
  /// The volume, 0 to 100 per cent.
  public var volume: Int
  /// Whether a rule for this time of the week has set the volume.
  public var isVolumeByTime = false
  /// The loss of the device; nil while the device can be used.
  public var deviceLoss: Fault?
  public var isDeviceLost: Bool { deviceLoss != nil }
  public var playing: Playing?
  /// The number of waiting announcements, including those that are set aside.
  public var waitingCount: Int
  /// The number of announcements that two crashes in a row interrupted, and that are played later, one at a time and
  /// alone.
  public var setAsideCount = 0
  /// The number of announcements that wait to be heard. While the device is lost, nothing is heard, so the current
  /// announcement counts too.
  public var unheardCount: Int { waitingCount + (isDeviceLost && playing != nil ? 1 : 0) }
  /// The next announcements in playing order as of now, at most 20.
  public var next: [Waiting]
  /// The error of the ledger or of the rendering that prevents the next announcement, such as a full disk. Nil if
  /// nothing waits, or if only the device is lost.
  public var blockage: Fault?
  /// The end of the present quiet hours, at most a week away; nil outside quiet hours.
  public var quietUntil: Date?
}
