// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The time after its cancellation in which an announcement can be restored, in seconds.
  public static let restorationTime: TimeInterval = 60

  /// The state of an announcement. Every announcement ends in exactly one of the states `played`, `cancelled`,
  /// `failed`, `expired` and `quiet`, and stays there. The one exception is a cancelled announcement that is restored;
  /// see ``StateStore/restore(_:)``.
  ///
  /// | from | to |
  /// |---|---|
  /// | accepted | rendering, waiting |
  /// | rendering | waiting, accepted (starts over) |
  /// | waiting | playing, rendering (its clip is gone), accepted (starts over) |
  /// | playing | played; waiting or accepted (interrupted: it will be played again from the start) |
  /// | any of these | cancelled, failed, quiet |
  /// | accepted, rendering, waiting | expired |
  /// | cancelled while it waited | waiting, accepted (it is restored within a minute) |
  ///
  /// An announcement in a summary cannot be played on its own. It becomes played when the summary is played.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The announcement is on the disk and has not been processed yet.
    case accepted
    /// The announcement's clip is being made.
    case rendering
    /// The announcement's clip is ready.
    case waiting
    /// The announcement is playing.
    case playing
    /// The announcement, or the summary that includes it, was played to its end.
    case played
    /// The announcement was cancelled by a command or a request.
    case cancelled
    /// The announcement cannot be played.
    case failed
    /// The announcement expired before it was played.
    case expired
    /// The announcement's turn came in quiet hours, so it was not played.
    case quiet

    /// Whether the state is one of the five final states.
    public var isFinal: Bool {
      switch self {
      case .accepted, .rendering, .waiting, .playing: false
      case .played, .cancelled, .failed, .expired, .quiet: true
      }
    }

    /// The states from which an announcement can change to this state.
    package var predecessors: [State] {
      switch self {
      case .accepted: [.rendering, .waiting, .playing]
      case .rendering: [.accepted, .waiting]
      case .waiting: [.accepted, .rendering, .playing]
      case .playing: [.waiting]
      case .played: [.playing]
      case .cancelled, .failed, .quiet: [.accepted, .rendering, .waiting, .playing]
      case .expired: [.accepted, .rendering, .waiting]
      }
    }

    /// Whether work on the announcement begins with this state, which counts as a start; see ``InterruptedWork``.
    package var isStart: Bool { self == .rendering || self == .playing }

    /// Returns the state that replaces this one after the process that worked on the announcement has ended.
    package func afterRestart(hasClip: Bool) -> State { self == .playing && hasClip ? .waiting : .accepted }

    /// The starts of an announcement that still count after a change of its state.
    package enum KeptStarts: Sendable, Hashable {
      case all
      case allButOne
      case none
    }

    /// Returns which starts still count when an announcement changes to this state. When a rendering ends, only its own
    /// start is subtracted. Earlier starts, which crashes interrupted, still count.
    ///
    /// - Parameters:
    ///   - former: The state before.
    ///   - isRecovery: Whether the process ended during the work, and the change is made after its restart. Such work
    ///     did not end by itself, so its starts still count.
    package func keptStarts(after former: State, isRecovery: Bool) -> KeptStarts {
      if isStart || isRecovery { return .all }
      return former == .rendering && !isFinal ? .allButOne : .none
    }
  }
}
