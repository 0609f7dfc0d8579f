// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Senders that sign by Standard Webhooks, such as a shop's own software.
///
/// According to the libraries of Standard Webhooks and Svix, a request has `webhook-id`, `webhook-timestamp` and
/// `webhook-signature`, or the same headers with `svix-`. The message is `id.timestamp.body`. The signatures have
/// spaces between them, and one valid signature is enough. `v1,…` is an HMAC with SHA-256, `v1a,…` a signature of
/// Ed25519, and others are ignored.
///
/// Standard Webhooks does not define what a payment looks like. The body has Crier's own format:
///
///     {"type": "payment.received", "timestamp": "2026-11-20T20:23:58Z",
///      "data": {"id": "20261120-17", "amount": "12.50", "currency": "CNY"}}
///
/// - `type` is `payment.` and a kind: `received`, `pending`, `refunded`, `withdrawn` or `failed`. Other types are
///   ignored.
/// - `data` is a payment as in `POST /v1/announcements`. `id`, `currency` and `amount` (or `minor`) are required. Its
///   `kind` may be left out; otherwise it must be the kind in `type`. The endpoint's settings decide the language.
/// - `timestamp` is the time of the payment, unless `data` has `occurred_at`.
package struct StandardWebhooksProvider: PaymentProvider {
  /// The largest number of signatures of a request. A sender that replaces a key makes two signatures. The check of
  /// each signature reads the whole message, so a request with many signatures would be costly.
  private static let mostSignatures = 16

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    let (standard, svix) = (try request.header("webhook-signature"), try request.header("svix-signature"))
    let prefix = standard == nil && svix != nil ? "svix" : "webhook"
    let signatures = try request.requiredHeader("\(prefix)-signature").split(separator: " ")
    let id = try request.requiredHeader("\(prefix)-id")
    let time = try request.requiredHeader("\(prefix)-timestamp")
    // If the id had a period, other bytes of the message could be taken for its time and its body.
    guard !id.contains("."), signatures.count <= Self.mostSignatures else {
      throw ProviderRejection(
        .malformed, "\(prefix)-id has a period, or \(prefix)-signature more than \(Self.mostSignatures) signatures.")
    }
    func values(_ version: String) -> [Data] {
      signatures.compactMap { signature in
        let parts = signature.split(separator: ",", maxSplits: 1)
        return parts.count == 2 && parts[0] == version ? SignatureEncoding.base64.bytes(of: String(parts[1])) : nil
      }
    }
    let message = Self.signed(request.body, id: id, time: time)
    let keys = endpoint.secrets.compactMap(StandardWebhooksKey.init)
    guard
      SignatureChecks.isAnyCode(values("v1"), of: message, keys: keys.compactMap(\.sharedBytes), .sha256)
        || values("v1a").contains(where: { signature in keys.contains { $0.isSignature(signature, of: message) } })
    else { throw .wrongSignature("\(prefix)-signature") }
    return VerifiedWebhook(request, signedAt: try SignedTime.date(time, of: now))
  }

  private static func signed(_ body: Data, id: String, time: String) -> Data { Data("\(id).\(time).".utf8) + body }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["type"]?.id else { return [.ignored("a message without type")] }
    guard type.hasPrefix("payment."), let kind = Payment.Kind(rawValue: String(type.dropFirst("payment.".count))) else {
      return [.ignored(type)]
    }
    guard let data = event["data"], case .object(var fields) = data.value else {
      return [.refused("\(type) has no object named data.")]
    }
    // A received payment gets no `kind` here: without it, the decoder refuses keys that may mean that no money has
    // come.
    if kind != .received { fields["kind"] = fields["kind"] ?? .string(kind.rawValue) }
    do throws(AnnouncementError) {
      let payment = try PayloadDecoder.payment(fields, path: "data")
      guard payment.kind == kind else { return [.refused("data.kind is not the kind in the type \(type).")] }
      guard let id = data["id"]?.id else {
        return [.refused("data.id is not 1 to 128 printable ASCII characters without a space.")]
      }
      return [
        ProviderOutcome.payment(ProviderPayment(id: id, kind: kind, amount: payment.amount)).with { outcome in
          (outcome.payer, outcome.note, outcome.channel) = (payment.payer, payment.note, payment.channel)
          outcome.occurredAt = payment.occurredAt ?? event["timestamp"]?.timestamp
        }
      ]
    } catch {
      return [.refused(error.description)]
    }
  }
}

extension StandardWebhooksProvider {
  /// Returns the headers that sign a body; nil if the secret is a public key, or not a key at all.
  ///
  /// - Parameter id: The id of the message, without a period.
  package static func headers(
    signing body: Data, id: String, with secret: ProviderSecret, at now: Date
  ) -> [(name: String, value: String)]? {
    guard let key = StandardWebhooksKey(secret)?.sharedBytes else { return nil }
    let time = String(Int64(now.timeIntervalSince1970))
    let code = SignatureChecks.code(of: signed(body, id: id, time: time), key: key, .sha256)
    return [
      ("webhook-id", id), ("webhook-timestamp", time),
      ("webhook-signature", "v1,\(SignatureEncoding.base64.text(of: code))"),
    ]
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    let body = SampleBody.json([
      "type": "payment.received", "timestamp": now.formatted(.iso8601),
      "data": ["id": id, "amount": "1.00", "currency": "USD"],
    ])
    return endpoint.secrets.lazy.compactMap { Self.headers(signing: body, id: "msg_\(id)", with: $0, at: now) }.first
      .map { SampleBody.request(body, $0) }
  }
}
