// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import Ledger
import Logging
import PaymentProviders

/// Reports the payments and requests of payment providers: in the log, in the history, and to the event streams.
struct ProviderTelling: Sendable {
  let history: ProviderHistory
  let hub: EventHub
  let logger: Logger
  let refusals: RefusalLog
  private let failures: RepeatedFailureLog

  init(history: ProviderHistory, hub: EventHub, logger: Logger, refusals: RefusalLog) {
    (self.history, self.hub, self.logger, self.refusals) = (history, hub, logger, refusals)
    failures = RepeatedFailureLog(
      "A provider's payment could not be announced. The service tries again.", logger)
  }

  /// Reports that a request was rejected, because it does not prove that the provider sent it.
  func tell(_ rejection: ProviderRejection, of endpoint: ProviderEndpoint, at date: Date) {
    // The provider tests that wrong signatures are rejected, so this is no alarm.
    let isProbe = rejection.code == .probe
    history.note(isProbe ? .probe : .rejected, reason: rejection.message, of: endpoint.id, at: date)
    if isProbe { return }
    // A request that was signed long ago says nothing about the clocks: it may have been captured and sent again.
    if let skew = rejection.skew, abs(skew) <= 3_600 { tell(skew: skew, of: endpoint) }
    guard refusals.isWritten(RefusalLog.Kind(status: 401, path: "\(endpoint.id) (\(rejection.code.rawValue))")) else {
      return
    }
    logger.warning(
      "A request was rejected, because it does not prove that the provider sent it.",
      metadata: ["endpoint": "\(endpoint.id)", "code": "\(rejection.code.rawValue)", "problem": "\(rejection.message)"])
    tell(.providerRejected, endpoint.id, rejection.code.rawValue, account: endpoint.account, at: date)
  }

  /// Reports the outcomes of the payments of a request.
  func tell(_ results: [ProviderPayments.Result], of endpoint: ProviderEndpoint, at date: Date) {
    for result in results {
      switch result {
      case .accepted: history.note(.accepted, of: endpoint.id, at: date)
      case .duplicate: history.note(.duplicate, of: endpoint.id, at: date)
      case .ignored(let reason): history.note(.ignored, reason: reason, of: endpoint.id, at: date)
      case .late:
        history.note(.late, of: endpoint.id, at: date)
        logger.warning(
          "A provider's payment was too old to be spoken.", metadata: ["endpoint": "\(endpoint.id)"])
        tell(.providerLate, endpoint.id, nil, account: endpoint.account, at: date)
      case .refused(let reason): tellRefusal(reason, of: endpoint.id, account: endpoint.account, at: date)
      }
    }
  }

  private func tellRefusal(_ reason: String, of endpoint: String, account: String, at date: Date) {
    history.note(.refused, reason: reason, of: endpoint, at: date)
    guard refusals.isWritten(RefusalLog.Kind(status: 200, path: "\(endpoint) (refused)")) else { return }
    logger.error(
      "A provider's payment cannot be announced.", metadata: ["endpoint": "\(endpoint)", "problem": "\(reason)"])
    tell(.providerRefused, endpoint, reason, account: account, at: date)
  }

  private func tell(_ kind: LiveEvent.Kind, _ endpoint: String, _ reason: String?, account: String, at date: Date) {
    var detail = ["endpoint": endpoint]
    detail["reason"] = reason
    hub.tell(LiveEvent(kind: kind, account: account, at: date, detail: detail))
  }

  /// Reports that this clock and the provider's clock differ.
  ///
  /// - Parameter skew: The number of seconds by which the provider's clock is ahead.
  func tell(skew: Int64, of endpoint: ProviderEndpoint) {
    guard history.note(skew: skew, of: endpoint.id) else { return }
    logger.warning(
      """
      \(ClockSkew.sentence(providerAheadBy: skew)) Set the clock by NTP: if the clocks differ by 5 minutes, signed \
      requests are rejected.
      """,
      metadata: ["endpoint": "\(endpoint.id)"])
  }

  /// Reports the progress of payments after their requests were answered.
  func tell(_ report: ProviderPayments.Report) {
    switch report {
    case .announced: break
    case .refused(let payment, let reason):
      tellRefusal(reason, of: payment.endpoint, account: payment.account, at: Date())
    case .failed(let error, _): failures.tell(error)
    case .setAside(let count): logger.logSetAside(count, "provider_payments")
    }
  }
}
