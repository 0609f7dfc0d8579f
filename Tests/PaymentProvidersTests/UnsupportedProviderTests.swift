// SPDX-License-Identifier: Apache-2.0

import PaymentProviders
import Testing

@Suite("Providers that cannot be used")
struct UnsupportedProviderTests {
  @Test("each of them has a reason about itself, and a remedy that sends payments to the service")
  func texts() {
    for provider in UnsupportedProvider.all {
      #expect(provider.reason.hasPrefix("it"), "\(provider.name)")
      #expect(provider.remedy.contains("POST /v1/announcements"), "\(provider.name)")
    }
  }

  @Test(
    "it is found by its name, whatever its case and signs, and by the name of its product",
    arguments: [
      ("Mollie", "Mollie"), ("line-pay", "LINE Pay"), ("MERCADO_PAGO", "Mercado Pago"), ("paypal.me", "PayPal"),
      ("Toss Payments", "Toss"), ("BTCPay Server", "BTCPay"),
    ])
  func names(given: String, name: String) { #expect(UnsupportedProvider.named(given)?.name == name) }

  @Test("another name is none of them", arguments: ["", "-", "stripe", "mollies"])
  func others(name: String) { #expect(UnsupportedProvider.named(name) == nil) }
}
