// SPDX-License-Identifier: Apache-2.0

public import PlaybackOrder
public import Waveforms

extension Player {
  /// How a lane is played. Times are in ms.
  public struct Settings: Sendable {
    /// Patience for missing numbers, and the backlog.
    public var order = PlaybackOrder.Settings()

    /// What is silent between two announcements, for a listener: the quiet edges of their clips are part of it. Where
    /// they are longer together, it is they.
    public var gap: Int64 = 250

    /// How many sounds are made ahead of their turn while another plays.
    public var rendersAhead = 2

    /// Heard before each announcement, and already as loud as it.
    public var chime: Waveform?
    /// The silence between the chime and the announcement.
    public var chimePause = 120

    /// 0 to 100 per cent, until it is changed.
    public var volume = 100

    /// The output is given back when nothing was heard for so long.
    public var idleRelease: Int64 = 2_000

    /// How often other processes' commands and announcements are looked for, and the player tells how far it is.
    public var pollInterval: Int64 = 200

    /// The pause before a lost device is tried again: doubling from the first to the last.
    public var devicePauses: ClosedRange<Int64> = 250...5_000

    /// The pause before a sound that could not be made is tried again; the same.
    public var renderPauses: ClosedRange<Int64> = 1_000...60_000

    /// How often the sound of an alert or information is tried; that of money is tried until it is there.
    public var renderAttempts = 5

    /// A replay that is not heard after so long is of no use.
    public var replayLifetime: Int64 = 60_000

    public init() {}
  }
}
