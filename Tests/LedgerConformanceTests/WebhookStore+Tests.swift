// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing
import WebhookMessages

extension Ledger.WebhookStore {
  /// Registers an endpoint, and returns its id.
  @discardableResult
  func addEndpoint(_ new: NewWebhookEndpoint) async throws -> String { try await register(new, by: .currentUser).id }

  /// Returns the bodies of the messages to an endpoint, oldest first.
  func bodies(_ endpoint: String, account: String = "shop") async throws -> [String] {
    try await webhooks(account: account, endpoint: endpoint).map { String(decoding: $0.message.body, as: UTF8.self) }
  }

  /// Returns the kinds of the messages to an endpoint, oldest first.
  func kinds(_ endpoint: String) async throws -> [WebhookEvent.Kind] {
    try await webhooks(account: "shop", endpoint: endpoint).map(\.kind)
  }

  func endpoint(_ id: String) async throws -> Ledger.WebhookEndpoint {
    try #require(try await webhookEndpoint(account: "shop", id: id))
  }

  /// Records a failure or a delivery of a message, with a patience of three days.
  @discardableResult
  func record(
    _ outcome: WebhookOutcome, _ number: Int64, next: TimeInterval? = 5, isFirst: Bool = false, at moment: Date
  ) async throws -> Ledger.WebhookRecord? {
    try await record(
      Ledger.WebhookAttempt(
        startedAt: moment, outcome: outcome, nextAt: next.map { moment.addingTimeInterval($0) },
        patience: 3 * 86_400, isFirst: isFirst),
      ofWebhook: number)
  }
}

/// An answer that webhooks report, unless its details are nil.
func renderedAnswer(
  _ id: String, key: String? = nil, rendered: [String: String]? = ["method": "speech"]
) -> NewAnswer {
  NewAnswer(
    account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
    rendered: rendered)
}
