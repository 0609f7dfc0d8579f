// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import TextFormats

/// The requests that arrived at the providers' endpoints since the service started, for people who look after the
/// service. Payments are in the ledger; only this type has the repetitions, ignored events and rejected requests.
final class ProviderHistory: Sendable {
  /// The outcome of a request, or of one payment in it.
  enum Outcome: String, Sendable, Hashable, CaseIterable, Encodable {
    case accepted, late, duplicate, ignored, refused, rejected, probe
    /// The request could not be stored, and the provider sends it again.
    case failed
  }

  struct Entry: Sendable, Hashable, Encodable {
    var at: Date
    var outcome: Outcome
    /// The reason, without amounts and names.
    @ExplicitNull var reason: String?
  }

  struct Endpoint: Sendable {
    var counts: [Outcome: Int] = [:]
    /// The latest entries, the newest first.
    var recent: [Entry] = []
    var lastRequestAt: Date?
    /// The number of seconds by which the provider's clock was ahead of this clock in the last signed request.
    var skew: Int64?
  }

  /// The number of entries that are kept for each endpoint.
  static let most = 50

  private let state = Locked<[String: Endpoint]>([:])

  func note(_ outcome: Outcome, reason: String? = nil, of endpoint: String, at date: Date) {
    state.withLock { state in
      var known = state[endpoint] ?? Endpoint()
      known.counts[outcome, default: 0] += 1
      known.recent.insert(Entry(at: date, outcome: outcome, reason: reason), at: 0)
      if known.recent.count > Self.most { known.recent.removeLast() }
      state[endpoint] = known
    }
  }

  /// Notes that a request of the provider has arrived.
  func noteRequest(of endpoint: String, at date: Date) {
    state.withLock { $0[endpoint, default: Endpoint()].lastRequestAt = date }
  }

  /// Notes the difference of the clocks.
  ///
  /// - Returns: Whether the clocks differ by more than a minute for the first time.
  func note(skew: Int64, of endpoint: String) -> Bool {
    state.withLock { state in
      let wasFar = abs(state[endpoint]?.skew ?? 0) > Self.tolerance
      state[endpoint, default: Endpoint()].skew = skew
      return abs(skew) > Self.tolerance && !wasFar
    }
  }

  /// The largest difference between the clocks that is not reported, in seconds.
  private static let tolerance: Int64 = 60

  func endpoint(_ id: String) -> Endpoint { state.withLock { $0[id] } ?? Endpoint() }

  /// The number of requests with each outcome, for all endpoints together.
  var counts: [Outcome: Int] {
    state.withLock { state in
      state.values.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
    }
  }
}
