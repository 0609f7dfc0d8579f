// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Logging
import WebhookMessages

/// Reports webhook endpoints that cannot be reached: in the log, to the event streams of their accounts, and in the
/// metrics and `/readyz`. It names no URL, because a URL may contain a secret.
final class WebhookReach: Sendable {
  private let watch = Locked(WebhookWatch())
  private let hub: EventHub
  private let logger: Logger
  private let time: @Sendable () -> Duration

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(hub: EventHub, logger: Logger, time: @escaping @Sendable () -> Duration) {
    (self.hub, self.logger, self.time) = (hub, logger, time)
  }

  /// Notes an attempt to connect to an endpoint.
  func note(_ couldConnect: Bool, account: String, endpoint: String, _ outcome: WebhookOutcome) {
    let endpoint = WebhookWatch.Endpoint(account: account, id: endpoint)
    let now = time()
    tell(
      watch.withLock { couldConnect ? $0.reached(endpoint, at: now) : $0.failed(endpoint, outcome, at: now) }, at: now)
  }

  /// Whether an attempt has failed at an endpoint that was not reached since.
  var isFailing: Bool { watch.withLock(\.isFailing) }

  /// Makes the reports that are due now. Call it every few seconds.
  ///
  /// - Parameter known: The endpoints that exist and are not disabled; nil if this cannot be found out.
  func look(known: Set<WebhookWatch.Endpoint>?) {
    let now = time()
    let news = watch.withLock { watch in
      if let known { watch.keep(known) }
      return watch.due(at: now)
    }
    tell(news, at: now)
  }

  private func tell(_ news: WebhookWatch.News, at now: Duration) {
    for news in news.endpoints where news.kind != .stillUnreachable { tell(news, at: now) }
    guard let all = news.all else { return }
    let metadata: Logger.Metadata = [
      "attempts": "\(all.outage.failures)", "reason": "\(all.outage.reason)",
      "seconds": "\(Int((now - all.outage.began).inSeconds))",
    ]
    switch all.kind {
    case .unreachable:
      logger.warning(
        "No webhook endpoint can be reached, so webhooks wait. Run crier doctor, which looks at the unit's network.",
        metadata: metadata)
    case .stillUnreachable:
      logger.error(
        "Still no webhook endpoint can be reached, so webhooks wait. Run crier doctor, which looks at the unit's network.",
        metadata: metadata)
    case .reachedAgain: logger.notice("Webhook endpoints can be reached again.", metadata: metadata)
    }
  }

  private func tell(_ news: ConnectionWatch<WebhookWatch.Endpoint>.News, at now: Duration) {
    let metadata: Logger.Metadata = [
      "account": "\(news.destination.account)", "endpoint": "\(news.destination.id)",
      "attempts": "\(news.outage.failures)", "reason": "\(news.outage.reason)",
    ]
    let isBack = news.kind == .reachedAgain
    if isBack {
      logger.notice("A webhook endpoint can be reached again.", metadata: metadata)
    } else {
      logger.warning(
        "A webhook endpoint cannot be reached, so its messages wait. Tell its account.", metadata: metadata)
    }
    hub.tell(
      LiveEvent(
        kind: isBack ? .webhookReachable : .webhookUnreachable, account: news.destination.account,
        detail: [
          "endpoint": news.destination.id, "attempts": "\(news.outage.failures)", "reason": news.outage.reason,
        ]))
  }

  /// The number of endpoints that cannot be reached.
  func unreachableCount(waiting: Int) -> Int {
    let now = time()
    return watch.withLock { $0.unreachable(at: now, isAnythingWaiting: waiting > 0).count }
  }

  /// The endpoints of each account that cannot be reached, with the outage that began first.
  func outages(waiting: Int) -> [String: ShopFacts.Outage] {
    let now = time()
    let unreachable = watch.withLock { $0.unreachable(at: now, isAnythingWaiting: waiting > 0) }
    return Dictionary(grouping: unreachable) { $0.key.account }.compactMapValues { endpoints in
      endpoints.map(\.value).min { $0.began < $1.began }.map {
        ShopFacts.Outage(since: Readiness.date(of: $0.began, now: now), cause: $0.reason, count: endpoints.count)
      }
    }
  }

  /// The check for `/readyz`. It fails if no endpoint can be reached. A single unreachable endpoint is the fault of its
  /// account, because accounts can register any address.
  func check(waiting: Int) -> Readiness.Check {
    let now = time()
    guard let outage = watch.withLock({ $0.outageOfAll(at: now, isAnythingWaiting: waiting > 0) }) else {
      return Readiness.Check(ok: true, waiting: waiting)
    }
    return Readiness.Check(
      ok: false, code: "webhooks_unreachable", waiting: waiting, since: Readiness.date(of: outage.began, now: now),
      cause: outage.reason, attempts: outage.failures)
  }
}
