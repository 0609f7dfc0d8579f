// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Logging
import PushDelivery

/// Reports servers of APNs that cannot be reached: in the log, to event streams, and in the metrics and `/readyz`.
final class PushReach: Sendable {
  private typealias Watch = ConnectionWatch<String>

  private let watch = Locked(Watch())
  private let hub: EventHub
  private let metrics: ServiceMetrics
  private let logger: Logger
  private let time: @Sendable () -> Duration

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(hub: EventHub, metrics: ServiceMetrics, logger: Logger, time: @escaping @Sendable () -> Duration) {
    (self.hub, self.metrics, self.logger, self.time) = (hub, metrics, logger, time)
  }

  /// Notes an attempt to send a push.
  ///
  /// - Parameters:
  ///   - server: The host and the port.
  ///   - code: The reason why there was no answer; nil if there was an answer.
  func note(_ server: String, _ code: PushTransportError.Code?) {
    // The service itself has closed the connection, because it stops.
    if code == .closed { return }
    if let code { metrics.countPushConnectionFailure(code) }
    // The server has answered that it ends the connection. The push is sent again at once, and its result counts.
    if code == .notProcessed { return }
    let now = time()
    let news = watch.withLock { watch -> Watch.News? in
      guard let code else { return watch.reached(server) }
      watch.failed(server, reason: code.rawValue, at: now)
      return nil
    }
    if let news { tell(news, at: now) }
  }

  /// Makes the reports that are due now. Call it every few seconds.
  func look() {
    let now = time()
    for news in watch.withLock({ $0.due(at: now) }) { tell(news, at: now) }
  }

  private func tell(_ news: Watch.News, at now: Duration) {
    let seconds = Int((now - news.outage.began).inSeconds)
    let metadata: Logger.Metadata = [
      "server": "\(news.destination)", "attempts": "\(news.outage.failures)", "reason": "\(news.outage.reason)",
      "seconds": "\(seconds)",
    ]
    switch news.kind {
    case .unreachable:
      logger.warning(
        "\(Self.fault(news.outage.reason)), so pushes wait. Run crier doctor, which names the cause.",
        metadata: metadata)
    case .stillUnreachable:
      logger.error(
        "\(Self.fault(news.outage.reason)), so pushes still wait or have expired. Run crier doctor, which names the cause.",
        metadata: metadata)
    case .reachedAgain: logger.notice("Pushes can be sent again.", metadata: metadata)
    }
    guard news.kind != .stillUnreachable else { return }
    hub.tell(
      LiveEvent(
        kind: news.kind == .unreachable ? .pushUnreachable : .pushReachable,
        detail: [
          "server": news.destination, "attempts": "\(news.outage.failures)", "reason": news.outage.reason,
        ]))
  }

  private static func fault(_ reason: String) -> String {
    switch PushTransportError.Code(rawValue: reason) {
    case .cannotSign: "The token for APNs cannot be signed with the key of apns"
    case .trustRootsUnusable: "The file of trusted certificates cannot be read"
    default: "APNs cannot be reached"
    }
  }

  /// The number of servers that cannot be reached.
  func unreachableCount(waiting: Int) -> Int {
    let now = time()
    return watch.withLock { $0.unreachable(at: now, isAnythingWaiting: waiting > 0).count }
  }

  /// The server that has not been reached for the longest time, and its outage; nil if all can be reached.
  func outage(waiting: Int) -> (server: String?, outage: ShopFacts.Outage?) {
    let now = time()
    let outages = watch.withLock { $0.unreachable(at: now, isAnythingWaiting: waiting > 0) }
    guard let longest = outages.min(by: { $0.value.began < $1.value.began }) else { return (nil, nil) }
    let since = Readiness.date(of: longest.value.began, now: now)
    return (longest.key, ShopFacts.Outage(since: since, cause: longest.value.reason, count: waiting))
  }

  /// The check for `/readyz`. It fails if any server cannot be reached, because the operator has chosen all servers.
  func check(waiting: Int) -> Readiness.Check {
    let now = time()
    let outages = watch.withLock { $0.unreachable(at: now, isAnythingWaiting: waiting > 0) }
    guard let longest = outages.values.min(by: { $0.began < $1.began }) else {
      return Readiness.Check(ok: true, waiting: waiting)
    }
    return Readiness.Check(
      ok: false, code: "push_unreachable", waiting: waiting, since: Readiness.date(of: longest.began, now: now),
      cause: longest.reason, attempts: outages.values.reduce(0) { $0 + $1.failures })
  }
}
