// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// An event that is not stored in the ledger. It contains no amounts, names or secrets.
struct LiveEvent: Sendable, Hashable {
  enum Kind: String, Sendable, Hashable {
    /// A request for an announcement was answered.
    case rendered
    /// APNs has accepted a push.
    case pushed
    /// A push has ended in another way.
    case pushFailed = "push_failed"
    /// A server of APNs cannot be reached, or can be reached again.
    case pushUnreachable = "push_unreachable"
    case pushReachable = "push_reachable"
    /// A webhook endpoint cannot be reached, or can be reached again.
    case webhookUnreachable = "webhook_unreachable"
    case webhookReachable = "webhook_reachable"
    /// A payment of a provider cannot be announced.
    case providerRefused = "provider_refused"
    /// A payment of a provider was too old to be spoken.
    case providerLate = "provider_late"
    /// A request was not signed with a secret or key of a provider's endpoint.
    case providerRejected = "provider_rejected"
    /// An alarm has begun or ended.
    case alarm
  }

  var kind: Kind
  /// The account that gets the event; nil for all accounts.
  var account: String?
  /// The announcement's id; nil if the event is not about an announcement.
  var id: String?
  var at = Date()
  var detail: [String: String]
}

/// An item that the hub sends to its listeners.
enum LiveNews: Sendable, Hashable {
  case event(LiveEvent)
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
    var listeners: [Int: AsyncStream<LiveNews>.Continuation] = [:]
  }

  private let state = Locked(State())

  func tell(_ event: LiveEvent) { tell(.event(event)) }

  func tell(_ news: LiveNews) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(news) }
  }

  var count: Int { state.withLock { $0.listeners.count } }

  /// Returns a stream of the events from now on.
  func listen() -> AsyncStream<LiveNews> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: LiveNews.self, bufferingPolicy: .bufferingNewest(Self.longestBacklog))
    let key = state.withLock { state in
      state.next += 1
      state.listeners[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.listeners.removeValue(forKey: key) } }
    return stream
  }
}
