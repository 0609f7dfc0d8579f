// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import Ledger
import ServiceAccess
import TextFormats
import WebhookMessages

/// The routes of `/v1/webhook-endpoints`, with which an account registers the URLs that get its events.
///
/// The permissions are the same as for devices: a key with the scope `announce` may register, because an endpoint gets
/// nothing that a key with `announce` and `read` cannot see. The key of a device may use none of these routes. The
/// secret of an endpoint is in one answer only: the answer to the request that registered it.
struct WebhookRoutes: Sendable {
  let ledger: any Ledger.WebhookStore
  let keys: KeyRing
  let parts: WebhookParts?

  var routes: [Route] {
    [
      .get("/v1/webhook-endpoints", .key(.read), list),
      .post("/v1/webhook-endpoints", .key(.register), register),
      .get("/v1/webhook-endpoints/{id}", .key(.read)) { call in
        let account = try call.sender.account
        let endpoint = try await ledger.webhookEndpoint(account: account, id: call.parameter)
        guard let endpoint else { throw Self.unknown }
        var line = WebhookEndpointLine(endpoint)
        line.attempts = try await ledger.webhookAttempts(account: account, endpoint: endpoint.id)
          .map(WebhookEndpointLine.Attempt.init)
        return try ServiceJSON.response(.ok, line)
      },
      .delete("/v1/webhook-endpoints/{id}", .key(.announce), remove),
      .post("/v1/webhook-endpoints/{id}/test", .key(.announce), test),
      .post("/v1/webhook-endpoints/{id}/enable", .key(.announce), enable),
    ]
  }

  private static let unknown = Problem.notFound("The account has no webhook endpoint with this id.")

  private func list(_ call: Call) async throws -> Response {
    let endpoints = try await ledger.webhookEndpoints(account: try call.sender.account)
    return try ServiceJSON.response(.ok, ["webhook_endpoints": endpoints.map(WebhookEndpointLine.init)])
  }

  // MARK: Registering

  private func register(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let fields = try await JSONFields.read(call, keys: ["url", "events", "description", "format"], keys)
    let format = "give 1 (details as texts) or 2 (details with types)"
    let number = try fields.integer("format", in: 1...2, format) ?? WebhookEvent.Format.typed.rawValue
    guard let known = WebhookEvent.Format(rawValue: number) else { throw fields.invalid("format", format) }
    let new = NewWebhookEndpoint(
      account: sender.account, url: try url(fields), kinds: try Self.kinds(fields),
      text: try fields.text("description", "give a text of 1 to 255 bytes without control characters") { $0.isPlain() },
      format: known)
    let endpoint = try await ledger.register(new, by: .key(sender.keyID))
    return try ServiceJSON.response(
      .created, WithMembers(object: WebhookEndpointLine(endpoint), members: ["secret": new.secret.text]))
  }

  private func url(_ fields: JSONFields) throws(Problem) -> WebhookURL {
    let text = try fields.required(
      "url", try fields.string("url", "give a URL such as https://shop.example/hooks"),
      "give a URL such as https://shop.example/hooks")
    do throws(WebhookError) {
      return try WebhookURL(text, allowsPrivateAddresses: parts?.allowsPrivateAddresses ?? false)
    } catch {
      throw Problem.fieldInvalid("url: \(error)")
    }
  }

  private static func kinds(_ fields: JSONFields) throws(Problem) -> Set<WebhookEvent.Kind> {
    let all = WebhookEvent.Kind.registrable
    let remedy = "give an array with one or more of \(all.map(\.rawValue).joined(separator: ", "))"
    guard let names = try fields.strings("events", remedy) else { return Set(all) }
    let kinds = names.compactMap(WebhookEvent.Kind.init(rawValue:)).filter { all.contains($0) }
    guard !kinds.isEmpty, kinds.count == names.count else { throw fields.invalid("events", remedy) }
    return Set(kinds)
  }

  // MARK: Changing

  private func remove(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let isRemoved = try await ledger.removeWebhookEndpoint(
      account: sender.account, id: call.parameter, by: .key(sender.keyID))
    guard isRemoved else { throw Self.unknown }
    return try ServiceJSON.removed(call.parameter)
  }

  private func test(_ call: Call) async throws -> Response {
    switch try await ledger.testWebhookEndpoint(account: try call.sender.account, id: call.parameter) {
    case .unknown: throw Self.unknown
    case .disabled:
      throw Problem(.conflict, "webhook_endpoint_disabled", "The webhook endpoint is disabled. Enable it first.")
    case .tooManyWaiting:
      throw Problem(
        .conflict, "webhook_backlog_full",
        "\(Ledger.mostWaitingWebhooks) messages are waiting for the webhook endpoint. Correct its receiver.")
    case .stored(let id): return try ServiceJSON.response(.accepted, ["webhook_id": id])
    }
  }

  private func enable(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let endpoint = try await ledger.enableWebhookEndpoint(
      account: sender.account, id: call.parameter, by: .key(sender.keyID))
    guard let endpoint else { throw Self.unknown }
    return try ServiceJSON.response(.ok, WebhookEndpointLine(endpoint))
  }
}

/// An endpoint as the service shows it: without its secret.
private struct WebhookEndpointLine: Encodable {
  struct Attempt: Encodable {
    var at: Date
    var outcome: String
    /// The status of the receiver's answer; null if there was none.
    @ExplicitNull var status: Int?
    var ms: Int
    /// The id and the type of the message; null for an attempt that an earlier version made.
    @ExplicitNull var message: String?
    @ExplicitNull var type: String?

    init(_ attempt: Ledger.KeptWebhookAttempt) {
      (at, outcome, status) = (attempt.at, attempt.outcome.rawValue, attempt.status)
      ms = attempt.milliseconds
      (message, type) = (attempt.message, attempt.kind?.rawValue)
    }
  }

  var id: String
  var url: String
  var events: [String]
  var description: String?
  var format: Int
  var createdAt: Date
  var deliveredAt: Date?
  var failingSince: Date?
  var lastOutcome: String?
  var lastAttemptAt: Date?
  var disabledAt: Date?
  var disabledReason: String?
  var messages: Ledger.WebhookEndpoint.Counts
  /// The latest attempts, newest first; nil in lists.
  var attempts: [Attempt]?

  init(_ endpoint: Ledger.WebhookEndpoint) {
    (id, url, description, createdAt) = (endpoint.id, endpoint.url, endpoint.text, endpoint.createdAt)
    format = endpoint.format.rawValue
    events = WebhookEvent.Kind.registrable.filter(endpoint.kinds.contains).map(\.rawValue)
    (deliveredAt, failingSince) = (endpoint.deliveredAt, endpoint.failingSince)
    (lastOutcome, lastAttemptAt) = (endpoint.lastOutcome?.rawValue, endpoint.lastAttemptAt)
    (disabledAt, disabledReason) = (endpoint.disabledAt, endpoint.disabledReason?.rawValue)
    messages = endpoint.counts
  }
}
