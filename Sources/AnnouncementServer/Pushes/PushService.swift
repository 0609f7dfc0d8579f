// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import PushDelivery
import ServiceLifecycle

/// The service's sender of pushes. It sends as soon as no other process sends the pushes of the ledger, and stops with
/// the service.
final class PushService: Service {
  /// The interval between attempts to become the sender.
  static let patience: Duration = .seconds(1)

  let parts: PushParts
  private let ledger: Ledger
  private let hub: EventHub
  private let metrics: ServiceMetrics
  private let logger: Logger
  private let sender: PushSender

  init(_ parts: PushParts, ledger: Ledger, hub: EventHub, metrics: ServiceMetrics, logger: Logger) {
    self.parts = parts
    self.ledger = ledger
    self.hub = hub
    self.metrics = metrics
    self.logger = logger
    sender = PushSender(
      ledger: ledger, clients: parts.clients,
      report: { Self.tell($0, hub: hub, metrics: metrics, logger: logger) })
  }

  func lookForPushes() { sender.lookForPushes() }

  /// The number of pushes that have not ended, as far as this process knows.
  var waitingCount: Int { get async { await sender.waitingCount } }

  func run() async throws {
    var seat: PushSeat?
    while seat == nil {
      do {
        seat = try ledger.takePushSeat()
      } catch {
        logger.warning("Pushes cannot be sent. The service tries again.", metadata: ["error": "\(error)"])
      }
      if seat != nil { break }
      // Until then, pushes wait in the ledger.
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.patience) } } catch { return }
    }
    await cancelWhenGracefulShutdown { [sender] in await sender.run() }
    withExtendedLifetime(seat) {}
  }

  private static func tell(
    _ report: PushSender.Report, hub: EventHub, metrics: ServiceMetrics, logger: Logger
  ) {
    switch report {
    case .ended(let push):
      metrics.countPush(push.state.rawValue)
      hub.tell(
        .pushed(
          PushEnd(
            account: push.account, id: push.announcement, device: push.device, at: Date(), state: push.state.rawValue,
            reason: push.reason)))
    case .interrupted(let count):
      metrics.countResentPushes(count)
      logger.notice(
        "Some pushes were being sent when the service ended. They are sent again with the same ids.",
        metadata: ["pushes": "\(count)"])
    case .appStopped(let app, let reason):
      metrics.countStoppedApp()
      logger.error(
        "APNs refuses all pushes to an app, so its pushes wait. Check the app's key, team and bundle id in apns.",
        metadata: ["app": "\(app.bundleID)", "environment": "\(app.environment.rawValue)", "reason": "\(reason)"])
    case .tokenRefused:
      metrics.countRefusedToken()
    case .ledgerFailed(let error):
      logger.warning("A push could not be stored. The service tries again.", metadata: ["error": "\(error)"])
    }
  }
}

/// The event that a push has ended.
struct PushEnd: Sendable, Hashable {
  var account: String
  /// The announcement's id; nil if the push announced nothing.
  var id: String?
  var device: String
  var at: Date
  var state: String
  var reason: String?
}
