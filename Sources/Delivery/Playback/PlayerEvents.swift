// SPDX-License-Identifier: Apache-2.0

public import Ledger

extension Player {
  /// Whether the player has ended. Its lane is then free.
  public var hasEnded: Bool { signals.isEnded }

  /// Returns the lane's events from the ledger, oldest first and each once. The stream ends with the player. No events
  /// are buffered: a slow reader continues at its position in the ledger.
  ///
  /// - Parameter position: The position of the last known event; 0 for all stored events, `nil` for new events only.
  public func events(after position: Int64? = nil) -> AsyncThrowingStream<Ledger.Event, any Error> {
    let reader = EventReader(player: self, position: position)
    return AsyncThrowingStream { try await reader.next() }
  }
}

private actor EventReader {
  private let ledger: any Ledger.StateStore
  private let lane: String
  private let signals: LaneSignals
  private let nudges = Mailbox<Never>()
  private var position: Int64?
  private var page: ArraySlice<Ledger.Event> = []

  init(player: Player, position: Int64?) {
    (ledger, lane, signals) = (player.ledger, player.lane, player.signals)
    self.position = position
    signals.add(nudges)
  }

  deinit { signals.remove(nudges) }

  func next() async throws -> Ledger.Event? {
    while page.isEmpty {
      let isEnded = signals.isEnded
      _ = nudges.take()
      let start: Int64
      if let position { start = position } else { start = try await ledger.lastEventPosition() }
      position = start
      page = try await ledger.events(after: start, lane: lane, limit: 200)[...]
      if page.isEmpty {
        if isEnded || Task.isCancelled { return nil }
        await withTaskCancellationHandler {
          await nudges.arrival()
        } onCancel: {
          nudges.nudge()
        }
      }
    }
    let event = page.removeFirst()
    position = event.position
    return event
  }
}
