// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// Stripe: the events of charges and refunds.
///
/// Read in Stripe's documents and libraries (stripe-python, stripe-node): `Stripe-Signature: t=…,v1=…`, an HMAC with
/// SHA-256 over `t.body`. The key is the whole text `whsec_…`. Several `v1` stand there while a secret is replaced;
/// `v0` is for test events and is never taken.
package struct StripeProvider: PaymentProvider {
  private static let header = "Stripe-Signature"

  /// Stripe counts ISK and UGX in hundredths that are always zero, and MGA in whole units. Of IQD and LYD it does not
  /// say whether they have three digits.
  static let minorUnits = MinorUnitDigits(["ISK": 2, "UGX": 2, "MGA": 0], unclear: ["IQD", "LYD"])

  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook {
    let entries = try request.requiredHeader(Self.header).split(separator: ",").map { entry in
      entry.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let times = entries.filter { $0.count == 2 && $0[0] == "t" }.map { $0[1] }
    guard let time = times.first else {
      throw ProviderRejection(.signatureMissing, "\(Self.header) has no time (t=…).")
    }
    guard times.count == 1 else { throw ProviderRejection(.headerRepeated, "\(Self.header) has two times (t=…).") }
    let codes = entries.filter { $0.count == 2 && $0[0] == "v1" }.compactMap { SignatureEncoding.hex.bytes(of: $0[1]) }
    let message = Data("\(time).".utf8) + request.body
    guard
      codes.contains(where: { code in
        endpoint.secrets.contains { SignatureChecks.isCode(code, of: message, key: $0.bytes, .sha256) }
      })
    else { throw .wrongSignature(Self.header) }
    return VerifiedWebhook(request, signedAt: try SignedTime.date(time, of: now))
  }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] {
    guard let event = JSONFields(webhook.body) else { return [.refused("The body is not strict JSON.")] }
    guard let type = event["type"]?.text else { return [.refused("The event has no type.")] }
    guard event["object"]?.text == "event" else { return [.ignored("\(type), an event without its object")] }
    guard let object = event["data", "object"] else { return [.refused("The event \(type) has no object.")] }
    let outcome: ProviderOutcome
    switch type {
    case "charge.succeeded":
      guard object["captured"]?.boolean == true else { return [.ignored("charge.succeeded, not captured yet")] }
      outcome = payment(object, .received, "amount")
    case "charge.captured":
      // With several captures, the sum is cumulative, and the event does not say what this one adds.
      guard object["payment_method_details", "card", "multicapture", "status"]?.text != "available" else {
        return [
          .refused("charge.captured of a charge with several captures: the event does not say which part is new.")
        ]
      }
      outcome = payment(object, .received, "amount_captured")
    case "charge.failed": outcome = payment(object, .failed, "amount")
    case "refund.created", "refund.updated", "charge.refund.updated":
      guard object["object"]?.text == "refund" else { return [.ignored("\(type), about no refund")] }
      guard object["status"]?.text == "succeeded" else { return [.ignored("\(type), not succeeded yet")] }
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
    let reference = kind == .refunded ? object["id"]?.id : object["payment_intent"]?.id ?? object["id"]?.id
    guard let reference else { return .refused("The object has no id.") }
    guard let units = object[amount]?.wholeNumber, let currency = object["currency"]?.text else {
      return .refused("The object has no \(amount) in whole minor units, or no currency.")
    }
    return ProviderOutcome(id: reference, kind, minor: units, currency, Self.minorUnits)
  }
}
