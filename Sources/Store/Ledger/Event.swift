// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// An event, as watchers of the ledger receive it. It contains no amounts and no names.
  public struct Event: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      case accepted
      case rendering
      case waiting
      case playing
      case played
      case cancelled
      case failed
      case expired
      case quiet
      /// The announcement was playing and was interrupted. It will be played again from the start.
      case interrupted
      /// A summary now includes the announcement. `by` in the detail is the summary's number.
      case summarised
      /// The summary that included the announcement ended without being played. The announcement is to be played
      /// individually again.
      case released
      /// The announcement was moved to this lane from a lane that no process plays. `from` in the detail names that
      /// lane.
      case moved
      /// The cancellation of a waiting announcement was undone. The announcement waits again in its old place.
      case restored
      case sequenceMissing = "sequence_missing"
      case sequenceLate = "sequence_late"
      case deviceLost = "device_lost"
      case deviceBack = "device_back"

      /// The event for a change of state.
      package init(from: State, to: State) {
        self = from == .playing && !to.isFinal ? .interrupted : Kind(to)
      }

      package init(_ state: State) {
        switch state {
        case .accepted: self = .accepted
        case .rendering: self = .rendering
        case .waiting: self = .waiting
        case .playing: self = .playing
        case .played: self = .played
        case .cancelled: self = .cancelled
        case .failed: self = .failed
        case .expired: self = .expired
        case .quiet: self = .quiet
        }
      }
    }

    /// The event's position. Positions strictly increase and are never reused.
    public let position: Int64
    public let at: Date
    /// The number of the announcement; nil when the event is not about an announcement.
    public let number: Int64?
    public let lane: String
    public let kind: Kind
    /// The event's codes and numbers, such as `["code": "no_voice"]`.
    public let detail: [String: String]
  }
}

extension Ledger.Event {
  package init(row: some StoredRow) throws {
    self.init(
      position: try row.value("position"), at: try row.value("at"), number: try row.optional("announcement"),
      lane: try row.value("lane"), kind: try row.name("kind"), detail: try row.detail())
  }
}
