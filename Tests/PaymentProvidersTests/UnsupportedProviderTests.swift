// SPDX-License-Identifier: Apache-2.0

import PaymentProviders
import Testing

@Suite("Providers that cannot be used")
struct UnsupportedProviderTests {
  @Test("each unsupported provider has a reason, and a remedy that sends payments to the service")
  func texts() {
    for provider in UnsupportedProvider.all {
      #expect(provider.reason.hasPrefix("it"), "\(provider.name)")
      #expect(provider.remedy.contains("POST /v1/announcements"), "\(provider.name)")
    }
  }

  @Test(
    "an unsupported provider is found by its own or a product's name, whatever the letter case and the punctuation",
    arguments: [
      ("Mollie", "Mollie"), ("line-pay", "LINE Pay"), ("MERCADO_PAGO", "Mercado Pago"), ("paypal.me", "PayPal"),
      ("Toss Payments", "Toss"), ("BTCPay Server", "BTCPay"),
    ])
  func names(given: String, name: String) { #expect(UnsupportedProvider.named(given)?.name == name) }

  @Test("any other name is not found among the unsupported providers", arguments: ["", "-", "stripe", "mollies"])
  func others(name: String) { #expect(UnsupportedProvider.named(name) == nil) }
}
