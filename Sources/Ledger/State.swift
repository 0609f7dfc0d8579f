// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// Where an announcement stands. It ends in exactly one of the last four, and never leaves it.
  ///
  /// | from | to |
  /// |---|---|
  /// | accepted | rendering, waiting |
  /// | rendering | waiting, accepted (starting over) |
  /// | waiting | playing, rendering (its clip is gone), accepted (starting over) |
  /// | playing | played, waiting and accepted (interrupted: it will be heard from its start) |
  /// | any of these | cancelled, failed |
  /// | accepted, rendering, waiting | expired |
  ///
  /// An announcement that a summary stands for is played when the summary is, and cannot play on its own.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// On disk; nothing was done about it yet.
    case accepted
    /// Its clip is being made.
    case rendering
    /// Its clip is ready.
    case waiting
    /// It is being heard.
    case playing
    /// It was heard to its end, or the summary that stands for it was.
    case played
    /// Somebody took it back.
    case cancelled
    /// It cannot be heard.
    case failed
    /// Its time passed before it was heard.
    case expired

    /// Whether it is one of the four in which an announcement ends.
    public var isFinal: Bool {
      switch self {
      case .accepted, .rendering, .waiting, .playing: false
      case .played, .cancelled, .failed, .expired: true
      }
    }

    /// The states that lead to this one.
    var predecessors: [State] {
      switch self {
      case .accepted: [.rendering, .waiting, .playing]
      case .rendering: [.accepted, .waiting]
      case .waiting: [.accepted, .rendering, .playing]
      case .playing: [.waiting]
      case .played: [.playing]
      case .cancelled, .failed: [.accepted, .rendering, .waiting, .playing]
      case .expired: [.accepted, .rendering, .waiting]
      }
    }
  }

  /// What an announcement is about. Payments and refunds are money.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case payment
    case refund
    case alert
    case information
  }
}
