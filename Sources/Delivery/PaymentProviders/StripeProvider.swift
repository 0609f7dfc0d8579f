// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Stripe: the events of charges and refunds.
///
/// According to Stripe's documents and libraries (stripe-python, stripe-node), a request has the header
/// `Stripe-Signature: t=…,v1=…`, where `v1` is an HMAC with SHA-256 over `t.body`. The key is the whole text `whsec_…`.
/// The header has several `v1` while a secret is replaced; `v0` is for test events and is never accepted.
package struct StripeProvider: PaymentProvider {
  private static let header = "Stripe-Signature"

  /// Stripe counts ISK and UGX in hundredths that are always zero, MGA in whole units, and BHD, JOD, KWD, OMR and TND
  /// in thousandths whose last digit is zero. Stripe does not say whether IQD and LYD have three digits.
  static let minorUnits = MinorUnitDigits(
    ["ISK": 2, "UGX": 2, "MGA": 0], unclear: ["IQD", "LYD"], thirdDigitIsZero: true)

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    let entries = try request.requiredHeader(Self.header).split(separator: ",").map { entry in
      entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func values(_ name: String) -> [String] { entries.filter { $0.count == 2 && $0[0] == name }.map { $0[1] } }
    let times = values("t")
    guard let time = times.first else {
      throw ProviderRejection(.signatureMissing, "\(Self.header) has no time (t=…).")
    }
    guard times.count == 1 else { throw ProviderRejection(.headerRepeated, "\(Self.header) has two times (t=…).") }
    let codes = values("v1").compactMap(SignatureEncoding.hex.bytes)
    guard SignatureChecks.isAnyCode(codes, of: Self.signed(request.body, time), keys: endpoint.secretBytes, .sha256)
    else { throw .wrongSignature(Self.header) }
    return VerifiedWebhook(request, signedAt: try SignedTime.date(time, of: now))
  }

  private static func signed(_ body: Data, _ time: String) -> Data { Data("\(time).".utf8) + body }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["type"]?.id else { return [.refused("The event has no type.")] }
    guard event["object"]?.text == "event" else {
      return [.ignored("\(type), an event without the object it is about")]
    }
    guard let object = event["data", "object"] else { return [.refused("The event \(type) has no object.")] }
    let outcome: ProviderOutcome
    switch type {
    case "charge.succeeded":
      guard object["captured"]?.boolean == true else { return [.ignored("charge.succeeded, not captured yet")] }
      outcome = payment(object, .received, "amount")
    case "charge.captured":
      // The sum is that of all captures so far. A second capture has the same id as the first one, so it cannot be
      // announced as another payment.
      if let earlier = event["data", "previous_attributes", "amount_captured"]?.wholeNumber, earlier > 0 {
        return [.refused("charge.captured, a further capture: the event has only the sum of all captures.")]
      }
      outcome = payment(object, .received, "amount_captured")
    case "charge.failed": outcome = payment(object, .failed, "amount")
    case "refund.created", "refund.updated", "charge.refund.updated":
      guard object["object"]?.text == "refund" else { return [.ignored("\(type), not about a refund")] }
      guard object["status"]?.text == "succeeded" else { return [.ignored("\(type), not succeeded")] }
      outcome = payment(object, .refunded, "amount")
    default: return [.ignored(type)]
    }
    return [
      outcome.with { payment in
        payment.occurredAt = event["created"]?.date
        payment.isLive = event["livemode"]?.boolean
        payment.merchant = event["account"]?.id
        payment.payer = object["billing_details", "name"]?.text
      }
    ]
  }

  private func payment(_ object: JSONFields, _ kind: Payment.Kind, _ amount: String) -> ProviderOutcome {
    guard let id = object["id"]?.id else { return .refused("The object has no id.") }
    guard let units = object[amount]?.wholeNumber, let currency = object["currency"]?.text else {
      return .refused("The object has no \(amount) in whole minor units, or no currency.")
    }
    // A refund has an id of its own. One payment may fail several times, each time with another charge.
    let paid = kind == .refunded ? id : object["payment_intent"]?.id ?? id
    return ProviderOutcome(id: kind == .received ? paid : id, kind, minor: units, currency, Self.minorUnits)
      .with { $0.reference = paid }
  }
}

extension StripeProvider {
  /// Returns the header that signs a body.
  package static func headers(
    signing body: Data, with secret: ProviderSecret, at now: Date
  ) -> [(name: String, value: String)] {
    let time = String(Int64(now.timeIntervalSince1970))
    let code = SignatureChecks.code(of: signed(body, time), key: secret.bytes, .sha256)
    return [(header, "t=\(time),v1=\(SignatureEncoding.hex.text(of: code))")]
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? {
    guard let secret = endpoint.secrets.first else { return nil }
    let body = SampleBody.json([
      "id": "evt_\(id)", "object": "event", "type": "charge.succeeded", "livemode": endpoint.isLive,
      "created": Int64(now.timeIntervalSince1970), "account": endpoint.merchants.min(),
      "data": [
        "object": [
          "id": "ch_\(id)", "object": "charge", "payment_intent": "pi_\(id)", "amount": 100, "amount_captured": 100,
          "captured": true, "currency": "usd",
        ] as [String: any Sendable]
      ],
    ])
    return SampleBody.request(body, Self.headers(signing: body, with: secret, at: now))
  }
}
