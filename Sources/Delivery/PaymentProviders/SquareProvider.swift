// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Square: the events of payments and refunds.
///
/// According to Square's documents and libraries (square-python-sdk, square-java-sdk), `x-square-hmacsha256-signature`
/// is an HMAC with SHA-256 in base64, over the URL as it was registered and the body. The key is the text of the
/// signature key. The only signed times are those in the body. The older header `x-square-signature` (SHA-1) is not
/// read.
package struct SquareProvider: PaymentProvider {
  private static let header = "x-square-hmacsha256-signature"

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    guard let code = SignatureEncoding.base64.bytes(of: try request.requiredHeader(Self.header)),
      SignatureChecks.isAnyCode(
        [code], of: Self.signed(request.body, endpoint.url), keys: endpoint.secretBytes, .sha256)
    else {
      throw ProviderRejection(
        .signatureInvalid,
        "\(Self.header) does not match. Check the endpoint's secret, that its key 'url' has exactly the URL in "
          + "Square's dashboard, and that nothing changes the body.")
    }
    return VerifiedWebhook(request)
  }

  private static func signed(_ body: Data, _ url: String?) -> Data { Data((url ?? "").utf8) + body }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["type"]?.id else { return [.ignored("a message that is not an event")] }
    let outcome: ProviderOutcome
    switch type {
    case "payment.created", "payment.updated":
      guard let payment = event["data", "object", "payment"] else { return [.refused("\(type) has no payment.")] }
      outcome = self.payment(payment, type, at: event["created_at"]?.timestamp, takesTill: endpoint.takesTillEntries)
    case "refund.created", "refund.updated":
      guard let refund = event["data", "object", "refund"] else { return [.refused("\(type) has no refund.")] }
      outcome = self.refund(refund, type, at: event["created_at"]?.timestamp, takesTill: endpoint.takesTillEntries)
    default: return [.ignored(type)]
    }
    return [outcome.with { $0.merchant = event["merchant_id"]?.id }]
  }

  private func payment(_ payment: JSONFields, _ type: String, at time: Date?, takesTill: Bool) -> ProviderOutcome {
    let kind: Payment.Kind
    switch payment["status"]?.id {
    case "COMPLETED": kind = .received
    case "FAILED": kind = .failed
    case let status: return .ignored("\(type) with the status \(status ?? "missing")")
    }
    if !takesTill, let entry = Self.tillEntry(payment["source_type"]) { return .ignored("\(type), \(entry)") }
    // The total includes the tip. Square sends payment.updated again for fees and other changes, even days later. The
    // payment's age is therefore counted from its own time, and not from the time of the event.
    return outcome(of: payment, kind, "total_money").with { outcome in
      outcome.occurredAt =
        payment["card_details", "card_payment_timeline", "captured_at"]?.timestamp ?? payment["created_at"]?.timestamp
        ?? time
    }
  }

  private func refund(_ refund: JSONFields, _ type: String, at time: Date?, takesTill: Bool) -> ProviderOutcome {
    let status = refund["status"]?.id
    guard status == "COMPLETED" else { return .ignored("\(type) with the status \(status ?? "missing")") }
    if !takesTill, let entry = Self.tillEntry(refund["destination_type"]) { return .ignored("\(type), \(entry)") }
    return outcome(of: refund, .refunded, "amount_money").with { $0.occurredAt = time }
  }

  private func outcome(of object: JSONFields, _ kind: Payment.Kind, _ sum: String) -> ProviderOutcome {
    guard let id = object["id"]?.id else { return .refused("The payment or refund has no id.") }
    guard let units = object[sum, "amount"]?.wholeNumber, let currency = object[sum, "currency"]?.text else {
      return .refused("The payment or refund has no \(sum) in whole minor units, or no currency.")
    }
    return ProviderOutcome(id: id, kind, minor: units, currency)
  }

  /// Returns the description of money that a cashier only recorded in Square; nil for money that Square moves. The type
  /// of the money's source or destination decides this.
  private static func tillEntry(_ type: JSONFields?) -> String? {
    switch type?.text {
    case "CASH": "cash in the till"
    case "EXTERNAL": "money that moved outside Square"
    default: nil
    }
  }
}

extension SquareProvider {
  /// Returns the header that signs a body.
  ///
  /// - Parameter url: The URL as it was registered with Square.
  package static func headers(
    signing body: Data, url: String, with secret: ProviderSecret
  ) -> [(name: String, value: String)] {
    let code = SignatureChecks.code(of: signed(body, url), key: secret.bytes, .sha256)
    return [(header, SignatureEncoding.base64.text(of: code))]
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    guard let secret = endpoint.secrets.first, let url = endpoint.url else { return nil }
    let time = now.formatted(.iso8601)
    let payment: [String: any Sendable] = [
      "id": id, "status": "COMPLETED", "source_type": "CARD", "created_at": time,
      "total_money": ["amount": 100, "currency": "USD"] as [String: any Sendable],
    ]
    let body = SampleBody.json([
      "type": "payment.updated", "event_id": "event-\(id)", "created_at": time, "merchant_id": endpoint.merchants.min(),
      "data": ["type": "payment", "id": id, "object": ["payment": payment]] as [String: any Sendable],
    ])
    return SampleBody.request(body, Self.headers(signing: body, url: url, with: secret))
  }
}
