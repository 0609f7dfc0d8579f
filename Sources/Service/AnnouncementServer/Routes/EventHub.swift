// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport

/// An event that is not stored in the ledger.
enum LiveEvent: Sendable, Hashable {
  case rendered(Rendered)
  case pushed(PushEnd)
  case reach(ReachEvent)
  case provider(ProviderEvent)
  case alarm(AlarmEvent)
  /// Something about the shop has changed.
  case shop(ShopFacts)
}

/// The hub for events that are not stored in the ledger. It sends each event to all listeners.
final class EventHub: Sendable {
  /// The number of events that are buffered for a listener. A slower listener misses the oldest events, which are not
  /// stored.
  private static let longestBacklog = 256

  private struct State {
    var next = 0
    var listeners: [Int: AsyncStream<LiveEvent>.Continuation] = [:]
  }

  private let state = Locked(State())

  func tell(_ event: LiveEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }

  var count: Int { state.withLock { $0.listeners.count } }

  /// Returns a stream of the events from now on.
  func listen() -> AsyncStream<LiveEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: LiveEvent.self, bufferingPolicy: .bufferingNewest(Self.longestBacklog))
    let key = state.withLock { state in
      state.next += 1
      state.listeners[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.listeners.removeValue(forKey: key) } }
    return stream
  }
}
