// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Razorpay: the events of payments and refunds.
///
/// According to Razorpay's documents and libraries (razorpay-python, razorpay-node), `X-Razorpay-Signature` is an HMAC
/// with SHA-256 over the body, in lower-case hexadecimal digits. The key is the text of the webhook's secret. The only
/// signed time is the body's own `created_at`. The header `x-razorpay-event-id` is not signed, and is not read.
package struct RazorpayProvider: PaymentProvider {
  private static let header = "X-Razorpay-Signature"

  /// Razorpay counts currencies with three digits in thousandths whose last digit is zero.
  static let minorUnits = MinorUnitDigits(thirdDigitIsZero: true)

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    let text = try request.requiredHeader(Self.header)
    guard let code = SignatureEncoding.hex.bytes(of: text), text == text.lowercased(),
      SignatureChecks.isAnyCode([code], of: request.body, keys: endpoint.secretBytes, .sha256)
    else { throw .wrongSignature(Self.header) }
    return VerifiedWebhook(request)
  }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["event"]?.id else { return [.ignored("a message that is not an event")] }
    let outcome: ProviderOutcome
    switch type {
    case "payment.captured": outcome = payment(event["payload", "payment", "entity"], .received)
    // A UPI payment that failed can be tried again under the same id, and then be captured.
    case "payment.failed": outcome = payment(event["payload", "payment", "entity"], .failed)
    // `refund.created` and `refund.speed_changed` come for the same refund, whose money has not left yet.
    case "refund.processed": outcome = payment(event["payload", "refund", "entity"], .refunded)
    case "order.paid", "qr_code.credited": return [.ignored("\(type), which reports the same as payment.captured")]
    default: return [.ignored(type)]
    }
    return [
      outcome.with { payment in
        payment.occurredAt = event["created_at"]?.date
        payment.merchant = event["account_id"]?.id
      }
    ]
  }

  private func payment(_ entity: JSONFields?, _ kind: Payment.Kind) -> ProviderOutcome {
    guard let id = entity?["id"]?.id else { return .refused("The entity has no id.") }
    guard let units = entity?["amount"]?.wholeNumber, let currency = entity?["currency"]?.text else {
      return .refused("The entity has no amount in whole minor units, or no currency.")
    }
    return ProviderOutcome(id: id, kind, minor: units, currency, Self.minorUnits)
  }
}

extension RazorpayProvider {
  /// Returns the header that signs a body.
  package static func headers(signing body: Data, with secret: ProviderSecret) -> [(name: String, value: String)] {
    [(header, SignatureEncoding.hex.text(of: SignatureChecks.code(of: body, key: secret.bytes, .sha256)))]
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    guard let secret = endpoint.secrets.first else { return nil }
    let entity: [String: any Sendable] = [
      "id": "pay_\(id)", "entity": "payment", "amount": 100, "currency": "INR", "status": "captured", "captured": true,
      "notes": [String](),
    ]
    let body = SampleBody.json([
      "entity": "event", "event": "payment.captured", "account_id": endpoint.merchants.min(),
      "created_at": Int64(now.timeIntervalSince1970), "payload": ["payment": ["entity": entity]],
    ])
    return SampleBody.request(body, Self.headers(signing: body, with: secret))
  }
}
