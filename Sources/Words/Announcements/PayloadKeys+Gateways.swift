// SPDX-License-Identifier: Apache-2.0

/// The marks of an object that a payment gateway has made. Gateways count the integer `amount` of such an object in
/// minor units, so 50000 INR are 500 rupees.
///
/// The sources, looked up on 2026-11-27 in public copies of the documentation and in sample payloads:
/// - Stripe, the Charge and PaymentIntent objects: `object`, `livemode`, `payment_intent`, `payment_method_details` and
///   `balance_transaction`; the amount is in the smallest currency unit.
/// - Razorpay, "Payment Entity" and "Webhook payloads": `entity`, and `event` such as payment.captured; the amount is
///   in the smallest unit of the currency.
/// - Paystack, a sample of its webhook: `event` such as charge.success, and `gateway_response`.
///
/// No document confirms the following: that Paystack's amounts are minor units; `pspReference` of Adyen beside an
/// integer; and `razorpay_payment_id` and `razorpay_order_id`, which Razorpay's checkout hands to the shop.
extension PayloadKeys {
  /// Returns the key that shows that an object comes from a gateway; `nil` if there is none.
  ///
  /// - Parameter keys: The unknown keys of the object. The first of them that is a mark is returned.
  static func mark(ofGateway fields: PayloadFields, among keys: [String]) -> String? {
    keys.first { key in fields.value(key).map { isMark(Folded(key), $0) } ?? false }
  }

  private static func isMark(_ key: Folded, _ value: PayloadValue) -> Bool {
    switch String(String.UnicodeScalarView(key.joined)) {
    case "object": isText(value) { objects.contains($0) }
    case "entity": isText(value) { entities.contains($0) }
    case "event": isText(value) { isDottedName($0) }
    case "livemode": if case .boolean = value { true } else { false }
    case "paymentintent", "paymentmethoddetails", "balancetransaction", "gatewayresponse", "razorpaypaymentid",
      "razorpayorderid", "pspreference":
      true
    default: false
    }
  }

  private static let objects: Set<String> = ["charge", "payment_intent", "event", "refund", "checkout.session"]
  private static let entities: Set<String> = ["payment", "event", "refund", "order", "qr_code"]

  private static func isText(_ value: PayloadValue, _ isMet: (String) -> Bool) -> Bool {
    guard case .string(let text) = value, text.utf8.count <= 64 else { return false }
    return isMet(text.lowercased())
  }

  /// Returns whether a text is the name of an event, such as payment.captured: words of letters with dots between them.
  private static func isDottedName(_ text: String) -> Bool {
    let words = text.split(separator: ".", omittingEmptySubsequences: false)
    return words.count > 1
      && words.allSatisfy { word in
        !word.isEmpty && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
      }
  }
}
