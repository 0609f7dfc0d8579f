// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import PlaybackOrder
public import WeeklyTimes

extension Player {
  /// The settings of a lane's player. Times are in ms.
  public struct Settings: Sendable {
    /// The waiting time for missing sequence numbers, and the limits of the backlog.
    public var order = PlaybackOrder.Settings()

    /// The silence that a listener hears between two announcements, including the quiet ends of their clips. If the
    /// quiet ends of the two clips are together longer than this value, the silence is as long as both of them.
    public var gap: Int64 = 250

    /// The number of sounds that are rendered ahead while another one plays.
    public var rendersAhead = 2

    public var chimes = Chimes()
    /// The silence between the chime and the announcement.
    public var chimePause = 120

    /// The pause with which the player begins, for example the pause of another output's player; nil for the pause that
    /// the ledger has stored.
    public var pause: Ledger.Pause?

    /// The volume, 0 to 100 per cent, if neither a person nor a rule has set another one.
    public var volume = 100
    /// The rules that set the volume at certain times of the week.
    public var volumes = VolumeRules()
    /// The volume that a person set before the player began.
    public var volumeChoice = VolumeChoice()

    /// The times of the week in which announcements end as `quiet` when their turn comes; nil for none. Replays and
    /// sound files are still played, because a person has asked for them.
    public var quietHours: WeeklyTimes?
    /// Whether a summary names, at the end of the quiet hours, the received payments that ended as `quiet`.
    public var summarisesQuietPayments = false

    /// Whether the player stores its pauses and starts with a stored pause. A player that does neither starts unpaused,
    /// and does not change a stored pause.
    public var remembersPause = false

    /// Whether the player forgets a stored pause, and starts unpaused.
    public var resumesAtStart = false

    /// The time after which a pause ends by itself; nil for never.
    public var resumeAfter: Int64?

    /// Sets and stores a volume that another process has commanded. The closure must return at once. If it is nil, the
    /// player itself applies the volume until it ends.
    public var keepVolume: (@Sendable (Int) -> Void)?

    /// The time without sound after which the output is released; nil for an output that stays open.
    public var idleRelease: Int64? = 2_000

    /// The interval for opening the output while nothing plays, so that a missing device is known before an
    /// announcement waits for it; nil to open it for sounds only. A device that fails is tried again after
    /// ``devicePauses``.
    public var probeInterval: Int64?

    /// The interval for reading other processes' commands and announcements, and for reporting progress.
    public var pollInterval: Int64 = 200

    /// The pauses between attempts to reopen a lost device. They double from the first to the last.
    public var devicePauses: ClosedRange<Int64> = 250...5_000

    /// The pauses between attempts to render a sound after a failure. They double from the first to the last.
    public var renderPauses: ClosedRange<Int64> = 1_000...60_000

    /// The number of attempts to render an alert or information. The rendering of a payment or a refund is retried
    /// without limit.
    public var renderAttempts = 5

    /// The time after which an unplayed replay is dropped.
    public var replayLifetime: Int64 = 60_000

    public init() {}

    /// Returns the volume in per cent at a moment, and whether a rule has set it.
    public func volume(at moment: Date) -> (percent: Int, isByTime: Bool) {
      volumeChoice.volume(volumes.setting(at: moment), orElse: min(max(volume, 0), 100))
    }

    /// Returns the end of the quiet hours of a moment, at most a week away; nil outside quiet hours.
    public func quietEnd(at moment: Date) -> Date? {
      guard let span = quietHours?.span(at: moment), span.isWithin else { return nil }
      return span.until ?? moment + 7 * 86_400
    }
  }
}
