// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Logging
import PaymentProviders
import ServiceAccess

/// The endpoints for payment providers' webhooks. While the service runs, changes of their settings take effect.
///
/// If the settings cannot be used at the start, the service has no endpoints. Requests of providers are then answered
/// with 503, so that the providers send them again. If the settings become unusable later, the last usable settings
/// stay in force.
final class ProviderEndpoints: Sendable {
  /// The time between two looks at the settings.
  static let interval: Duration = .seconds(1)

  private struct State {
    var version: String??
    var endpoints: [String: ProviderEndpoint] = [:]
    var buckets: [String: TokenBucket] = [:]
    var fault: String?
  }

  private let parts: ProviderParts?
  private let logger: Logger
  private let time: @Sendable () -> Duration
  private let limit: RateLimit
  private let state = Locked(State())

  /// - Parameter limit: The rate at which an endpoint accepts requests.
  init(
    _ parts: ProviderParts?, limit: RateLimit, logger: Logger, time: @escaping @Sendable () -> Duration
  ) {
    (self.parts, self.limit, self.logger, self.time) = (parts, limit, logger, time)
  }

  /// Looks at the settings until the task is cancelled.
  func run() async {
    guard parts != nil else { return }
    while !Task.isCancelled {
      await onWaitingThread { self.look() }
      // The sleep throws only when the task is cancelled, and the loop ends then.
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Reads the settings if they have changed. The call may block.
  func look() {
    guard let parts else { return }
    let version = parts.version()
    let (isKnown, isFirst) = state.withLock { state in
      defer { state.version = .some(version) }
      return (state.version == .some(version), state.version == nil)
    }
    if isKnown { return }
    do {
      let endpoints = version == nil ? [] : try parts.read()
      state.withLock { state in
        state.endpoints = Dictionary(endpoints.map { ($0.id, $0) }) { first, _ in first }
        state.fault = nil
      }
      if !isFirst || !endpoints.isEmpty {
        logger.info("The providers' endpoints were read.", metadata: ["endpoints": "\(endpoints.count)"])
      }
    } catch {
      let isLeft = state.withLock { state in
        state.fault = "\(error)"
        return !state.endpoints.isEmpty
      }
      logger.error(
        isLeft
          ? "The providers' settings cannot be used. The last good ones stay in force."
          : "The providers' settings cannot be used, so no webhook of a provider is accepted.",
        metadata: ["problem": "\(error)"])
    }
  }

  /// The reason why the present settings are not in force; nil if they are in force.
  var fault: String? { state.withLock { $0.fault } }

  /// The endpoints, by their ids.
  var all: [ProviderEndpoint] { state.withLock { $0.endpoints.values.sorted { $0.id < $1.id } } }

  func endpoint(_ id: String) -> ProviderEndpoint? { state.withLock { $0.endpoints[id] } }

  /// Counts a request towards an endpoint's limit.
  func admit(_ id: String) -> RateLimitDecision {
    let now = time()
    return state.withLock { state in
      var bucket = state.buckets[id] ?? TokenBucket(limit)
      defer { state.buckets[id] = bucket }
      return bucket.take(at: now)
    }
  }

  /// The state of the endpoints for `/readyz`.
  var check: Readiness.Check {
    state.withLock { state in
      if state.fault != nil { return Readiness.Check(ok: false, code: "settings_invalid") }
      return Readiness.Check(ok: true, state: state.endpoints.isEmpty ? "none" : nil)
    }
  }
}
