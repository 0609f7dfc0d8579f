// SPDX-License-Identifier: Apache-2.0

import WebhookMessages

/// The state machine that decides which webhook endpoints cannot be reached, and whether this is a fault of the
/// service.
///
/// An endpoint that cannot be reached is a fault of its account. If none of the endpoints that were tried can be
/// reached, the network of the service is probably closed.
///
/// It is a value that reads no clock. The caller passes all times, which are durations since the same moment and never
/// decrease.
struct WebhookWatch: Sendable {
  struct Endpoint: Sendable, Hashable {
    var account: String
    var id: String
  }

  /// All endpoints together, as a destination.
  struct AllEndpoints: Sendable, Hashable {}

  /// The time for which an endpoint that was reached proves that the network is open.
  static let memory: Duration = .seconds(3_600)

  private var endpoints = ConnectionWatch<Endpoint>()
  private var all = ConnectionWatch<AllEndpoints>()
  /// The times at which endpoints were reached. An endpoint whose latest attempt has failed is not included.
  private var reached: [Endpoint: Duration] = [:]

  typealias News = (endpoints: [ConnectionWatch<Endpoint>.News], all: ConnectionWatch<AllEndpoints>.News?)

  mutating func reached(_ endpoint: Endpoint, at now: Duration) -> News {
    // One reached endpoint proves that the network is open. The number of remembered endpoints is therefore limited, so
    // that a key that makes and removes endpoints cannot fill the memory.
    if reached.count < 1_000 || reached[endpoint] != nil { reached[endpoint] = now }
    return (endpoints.reached(endpoint).map { [$0] } ?? [], all.reached(AllEndpoints()))
  }

  mutating func failed(_ endpoint: Endpoint, _ outcome: WebhookOutcome, at now: Duration) -> News {
    endpoints.failed(endpoint, reason: outcome.rawValue, at: now)
    reached[endpoint] = nil
    reached = reached.filter { now - $0.value < Self.memory }
    // A wrong certificate can only be received through a connection, so the network is open.
    if outcome == .certificateRefused { return ([], all.reached(AllEndpoints())) }
    if reached.isEmpty { all.failed(AllEndpoints(), reason: outcome.rawValue, at: now) }
    return ([], nil)
  }

  /// Whether an attempt has failed at an endpoint that was not reached since.
  var isFailing: Bool { !endpoints.isEmpty }

  /// Forgets the endpoints that were removed or disabled.
  mutating func keep(_ known: Set<Endpoint>) {
    endpoints.forget { !known.contains($0) }
    reached = reached.filter { known.contains($0.key) }
    if endpoints.isEmpty { all.forget { _ in true } }
  }

  /// Returns the outages to report now.
  mutating func due(at now: Duration) -> News { (endpoints.due(at: now), all.due(at: now).first) }

  func unreachable(
    at now: Duration, isAnythingWaiting: Bool = true
  ) -> [Endpoint: ConnectionWatch<Endpoint>.Outage] {
    endpoints.unreachable(at: now, isAnythingWaiting: isAnythingWaiting)
  }

  /// The outage of all endpoints together; nil if an endpoint is reached, or in the first minute.
  func outageOfAll(at now: Duration, isAnythingWaiting: Bool = true) -> ConnectionWatch<AllEndpoints>.Outage? {
    all.unreachable(at: now, isAnythingWaiting: isAnythingWaiting)[AllEndpoints()]
  }
}
