// SPDX-License-Identifier: Apache-2.0

/// A provider whose webhooks cannot be announced with any setting.
package struct UnsupportedProvider: Sendable, Hashable {
  /// The provider's name as people write it.
  package let name: String
  /// Why its webhooks cannot be announced: `its webhooks have no sum`.
  package let reason: String
  /// What to do instead.
  package let remedy: String

  private init(_ name: String, _ reason: String, remedy: String = lookUp) {
    (self.name, self.reason, self.remedy) = (name, reason, remedy)
  }

  private static let lookUp =
    "have your backend ask the provider for the payment, and send it with POST /v1/announcements"

  /// Returns the provider with a name; nil for an unknown name. Letter case, spaces and punctuation in the name do not
  /// matter.
  package static func named(_ name: String) -> UnsupportedProvider? {
    let name = folded(name)
    return all.first { folded($0.name) == name } ?? otherNames[name].flatMap { other in all.first { $0.name == other } }
  }

  private static func folded(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

  private static let otherNames = [
    "btcpayserver": "BTCPay", "paypalme": "PayPal", "tosspayments": "Toss", "iamport": "PortOne",
  ]

  package static let all = [
    UnsupportedProvider("Mercado Pago", "its webhooks have no sum, and those of QR codes are not signed"),
    UnsupportedProvider("PortOne", "its webhooks have only ids, and no sum"),
    UnsupportedProvider("Mollie", "its webhooks have only an id, and no sum"),
    UnsupportedProvider("SumUp", "its webhooks have only an id, and no sum, and are not signed"),
    UnsupportedProvider("GoCardless", "its webhooks have no sums"),
    UnsupportedProvider(
      "PayPal", "it signs only a CRC-32 of the body, and a body with another amount can have the same CRC-32"),
    UnsupportedProvider("Toss", "it does not sign the webhooks of payments"),
    UnsupportedProvider("PayPay", "it does not sign its webhooks"),
    UnsupportedProvider(
      "LINE Pay", "it has no webhooks", remedy: "send each payment from your backend with POST /v1/announcements"),
    UnsupportedProvider(
      "BTCPay", "its sums are in a currency that ISO 4217 does not have, and webhooks of paid invoices have no sum"),
    UnsupportedProvider("Casso", "it signs a rearranged copy of the body, and not the bytes that it sends"),
    UnsupportedProvider(
      "Wise", "its webhooks have no id of the payment, so a repetition would be announced as another payment"),
  ]
}
