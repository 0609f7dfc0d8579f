// SPDX-License-Identifier: Apache-2.0

public import PlaybackOrder

extension Player {
  /// The settings of a lane's player. Times are in ms.
  public struct Settings: Sendable {
    /// The waiting time for missing sequence numbers, and the limits of the backlog.
    public var order = PlaybackOrder.Settings()

    /// The silence that a listener hears between two announcements, including the quiet ends of their clips. If the
    /// quiet ends together are longer than this value, the silence is as long as the quiet ends.
    public var gap: Int64 = 250

    /// The number of sounds that are rendered ahead while another one plays.
    public var rendersAhead = 2

    public var chimes = Chimes()
    /// The silence between the chime and the announcement.
    public var chimePause = 120

    /// The volume, 0 to 100 per cent, until it is changed.
    public var volume = 100

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

    /// The number of attempts to render an alert or information. Rendering of money is retried without limit.
    public var renderAttempts = 5

    /// The time after which an unplayed replay is dropped.
    public var replayLifetime: Int64 = 60_000

    public init() {}
  }
}
