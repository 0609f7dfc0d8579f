// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import PushDelivery
import PushMessages
import ServiceLifecycle

/// The service's sender of pushes. It sends as soon as no other process sends the pushes of the ledger, and stops with
/// the service.
final class PushService: Service {
  /// The interval at which the outbox is checked for pushes that another process has accepted.
  private static let lookInterval: Duration = .seconds(1)

  let parts: PushParts
  private let ledger: any Ledger.Store
  private let logger: Logger
  private let sender: PushSender
  let reach: PushReach
  let library: LibraryPushes

  /// - Parameters:
  ///   - settings: The settings of the service.
  ///   - time: The time since a fixed moment, which never decreases.
  init(
    _ parts: PushParts, ledger: any Ledger.Store, hub: EventHub, metrics: ServiceMetrics, settings: ServiceSettings,
    logger: Logger, time: @escaping @Sendable () -> Duration
  ) {
    self.parts = parts
    self.ledger = ledger
    self.logger = logger
    let failures = RepeatedFailureLog("A push could not be stored. The service tries again.", logger)
    let reach = PushReach(hub: hub, metrics: metrics, logger: logger, time: time)
    self.reach = reach
    let sender = PushSender(
      ledger: ledger, clients: parts.clients,
      report: { Self.tell($0, hub: hub, metrics: metrics, reach: reach, failures: failures, logger: logger) })
    self.sender = sender
    library = LibraryPushes(
      parts, ledger: ledger, interval: .seconds(settings.libraryPushInterval), standardGroup: settings.group,
      logger: logger, time: time, sent: { sender.lookForPushes() })
  }

  func lookForPushes() { sender.lookForPushes() }

  /// The number of pushes that have not ended, as far as this process knows.
  var waitingCount: Int { get async { await sender.waitingCount } }
  /// The number of pushes that are set aside; see `InterruptedWork`.
  var setAsideCount: Int { get async { await sender.setAsideCount } }

  /// The app whose pushes have been refused for the longest time; `count` is the number of pushes that wait for all
  /// such apps together. Nil if no app's pushes are refused.
  var longestStop: ShopFacts.Outage? {
    get async {
      let stops = await sender.stops.values
      guard let longest = stops.min(by: { $0.since < $1.since }) else { return nil }
      return ShopFacts.Outage(
        since: longest.since, cause: longest.reason, count: stops.reduce(0) { $0 + $1.waiting })
    }
  }

  /// Sends the pushes that wait for a stopped topic. Call it when a test has shown that APNs accepts pushes to the
  /// topic.
  func resume(_ topic: PushSchedule.Topic) async { await sender.resume(topic) }

  func run() async throws {
    let fault: Logger.Message = "Pushes cannot be sent. The service tries again."
    await ledger.deliver(.pushes, fault, logger) { [sender, library, reach] seat in
      await withDiscardingTaskGroup { group in
        group.addTask { await library.run(under: seat) }
        // Another process of the home may have put pushes into the outbox. The sleep throws only when the service
        // stops.
        group.addTask {
          while (try? await Task.sleep(for: Self.lookInterval)) != nil {
            sender.lookForPushes()
            reach.look()
          }
        }
        await sender.run(under: seat)
        group.cancelAll()
      }
    }
  }

  private static func tell(
    _ report: PushSender.Report, hub: EventHub, metrics: ServiceMetrics, reach: PushReach,
    failures: RepeatedFailureLog, logger: Logger
  ) {
    switch report {
    case .attempted(let server, let code): reach.note(server, code)
    case .ended(let push):
      metrics.countPush(push.state.rawValue)
      var detail = ["device": push.device, "state": push.state.rawValue]
      detail["reason"] = push.reason
      hub.tell(
        LiveEvent(
          kind: push.state == .delivered ? .pushed : .pushFailed, account: push.account, id: push.announcement,
          detail: detail))
    case .interrupted(let count):
      metrics.countResentPushes(count)
      logger.notice(
        "Some pushes were being sent when the service ended. They are sent again with the same ids.",
        metadata: ["pushes": "\(count)"])
    case .setAside(let count): logger.logSetAside(count, "pushes")
    case .topicStopped(let topic, let reason):
      metrics.countStop(of: topic)
      let advice =
        switch reason {
        case PushSender.notConfigured:
          "The setting 'apns' does not contain an app, so the app's pushes wait. Add the app and its environment there."
        case PushSender.tooManyTokens:
          """
          APNs accepts only one new provider token of a key every 20 minutes, so the pushes of an app wait. Another \
          program uses the key, or the home was restored without its tokens. Give programs that share a key the same \
          home. If the home was restored, you need not do anything: the service sends the pushes later.
          """
        default:
          "APNs refuses all pushes to an app, so its pushes wait. "
            + (PushReasonText.text(of: reason) ?? "Check the setting 'apns'.")
        }
      logger.error("\(advice)", metadata: metadata(of: topic.app, reason, topic))
    case .topicResumed(let topic):
      metrics.countResumption(of: topic)
      logger.notice(
        "APNs accepts the pushes to an app again.", metadata: metadata(of: topic.app, nil, topic))
    case .allTokensRefused(let app, let reason):
      logger.error(
        """
        APNs refuses the tokens of many devices of an app, one after the other. Check the app's environment and bundle \
        id in the setting 'apns' and in the registrations of the devices.
        """, metadata: metadata(of: app, reason, nil))
    case .tokenRefused:
      metrics.countRefusedToken()
    case .ledgerFailed(let error): failures.tell(error)
    }
  }
}

/// The fields of a line in the log about an app.
private func metadata(
  of app: PushSchedule.App, _ reason: String?, _ topic: PushSchedule.Topic?
) -> Logger.Metadata {
  var metadata: Logger.Metadata = ["app": "\(app.bundleID)", "environment": "\(app.environment.rawValue)"]
  if let reason { metadata["reason"] = "\(reason)" }
  if topic?.isFileProvider == true { metadata["topic"] = "file provider" }
  return metadata
}
