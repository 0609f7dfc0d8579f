// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Logging
import ServiceLifecycle
import WebhookDelivery

/// The service's sender of webhooks. It sends as soon as no other process sends the webhooks of the ledger, and stops
/// with the service.
final class WebhookService: Service {
  /// The interval at which the ledger is checked for messages that other processes have stored. Every other node of a
  /// ledger on a server stores some. The ledger reports the messages of this process at once.
  private static let lookInterval: Duration = .seconds(1)
  /// The number of these intervals between two looks at the endpoints that cannot be reached.
  private static let looksPerReach = 10

  private let ledger: any Ledger.Store
  private let logger: Logger
  private let sender: WebhookSender
  let reach: WebhookReach

  /// - Parameter time: The time since a fixed moment, which never decreases.
  init(
    _ parts: WebhookParts, ledger: any Ledger.Store, hub: EventHub, metrics: ServiceMetrics, logger: Logger,
    time: @escaping @Sendable () -> Duration
  ) {
    self.ledger = ledger
    self.logger = logger
    let failures = RepeatedFailureLog("A webhook could not be stored. The service tries again.", logger)
    let reach = WebhookReach(hub: hub, logger: logger, time: time)
    self.reach = reach
    sender = WebhookSender(
      ledger: ledger, client: parts.client,
      report: { Self.tell($0, metrics: metrics, reach: reach, failures: failures, logger: logger) })
  }

  /// The number of messages that have not ended, as far as this process knows.
  var waitingCount: Int { get async { await sender.waitingCount } }
  /// The number of messages that are set aside; see `InterruptedWork`.
  var setAsideCount: Int { get async { await sender.setAsideCount } }

  func run() async throws {
    await ledger.deliver(.webhooks, "Webhooks cannot be sent. The service tries again.", logger) { [self] seat in
      let looking = Task { await lookRegularly() }
      await sender.run(under: seat)
      looking.cancel()
    }
  }

  /// Finds messages that another process has stored, such as another node of the ledger.
  private func lookRegularly() async {
    // The sleep throws only when the service stops, and then nothing is left to do.
    var looks = 0
    while (try? await Task.sleep(for: Self.lookInterval)) != nil {
      sender.lookForMessages()
      looks += 1
      if looks.isMultiple(of: Self.looksPerReach) { await lookAtReach() }
    }
  }

  /// Reports endpoints that cannot be reached, and forgets removed ones.
  func lookAtReach() async {
    guard reach.isFailing else { return }
    let known = try? await ledger.enabledWebhookEndpoints()
    reach.look(known: known.map { Set($0.map { WebhookWatch.Endpoint(account: $0.account, id: $0.id) }) })
  }

  private static func tell(
    _ report: WebhookSender.Report, metrics: ServiceMetrics, reach: WebhookReach, failures: RepeatedFailureLog,
    logger: Logger
  ) {
    switch report {
    case .connected(let couldConnect, let account, let endpoint, let outcome):
      reach.note(couldConnect, account: account, endpoint: endpoint, outcome)
    case .attempted(let outcome): metrics.countWebhookAttempt(outcome)
    case .ended(let state, let count): metrics.countWebhooks(state, count)
    case .disabled(let account, let endpoint, let reason):
      // The URL may contain a secret.
      logger.error(
        "A webhook endpoint was disabled. Correct its receiver, and then enable it.",
        metadata: ["account": "\(account)", "endpoint": "\(endpoint)", "reason": "\(reason.rawValue)"])
    case .secretUnreadable(let account, let endpoint):
      logger.error(
        "The secret of a webhook endpoint cannot be read, so its messages wait. Remove the endpoint, and register it again.",
        metadata: ["account": "\(account)", "endpoint": "\(endpoint)"])
    case .setAside(let count): logger.logSetAside(count, "webhooks")
    case .ledgerFailed(let error): failures.tell(error)
    }
  }
}
