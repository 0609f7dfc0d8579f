// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Foundation

/// An endpoint of `providers.yaml`: the place where a provider's webhooks arrive, and the settings for their payments.
package struct ProviderEndpoint: Sendable {
  /// The last part of the URL.
  package var id: String
  package var provider: ProviderName
  package var account: String
  /// The secrets with which the provider signs. A signature by any of them is valid, so that a new secret can replace
  /// an old one.
  package var secrets: [ProviderSecret] = []
  /// Public keys or certificates in PEM or bare base64, by serial number or any other name.
  package var publicKeys: [String: String] = [:] {
    didSet { readKeys = publicKeys.compactMapValues { RSAPublicKey($0, allowsShortKeys: true) } }
  }
  /// The public keys that could be read. Reading a certificate takes longer than checking a signature with it.
  private var readKeys: [String: RSAPublicKey] = [:]
  /// The key that decrypts WeChat Pay's notices.
  package var apiV3Key: ProviderSecret?
  /// The URL as it was registered with the provider (Square signs it).
  package var url: String?
  package var mapping: ProviderMapping?
  /// Whether payers' names are spoken.
  package var speaksPayer = false
  package var kinds: Set<Payment.Kind> = [.received, .refunded]
  /// Whether the endpoint takes real payments; otherwise it takes the provider's test payments. If the provider does
  /// not say or sign which of the two a payment is, both are taken.
  package var isLive = true
  /// The provider's accounts whose payments are taken; empty for all.
  package var merchants: Set<String> = []
  /// The greatest age of a payment that is spoken, in seconds.
  package var maximumAge = 3_600
  package var deliver: Set<AnnouncementRequest.Delivery> = [.play]
  package var locale: String?
  package var device: String?
  /// Which of Adyen's events says that money was received: `AUTHORISATION` (false) or `CAPTURE` (true).
  package var awaitsCapture = false
  /// Whether payments that a cashier only recorded in Square are announced too: cash, and payments by another company's
  /// terminal.
  package var takesTillEntries = false

  package init(id: String, provider: ProviderName, account: String) {
    (self.id, self.provider, self.account) = (id, provider, account)
  }

  /// Whether a signature covers the payments. If not, anybody who knows the secret in the URL or in a header can send
  /// payments.
  package var isSigned: Bool { mapping?.isSigned ?? true }

  /// The bytes of the secrets' texts.
  var secretBytes: [Data] { secrets.map(\.bytes) }

  /// The RSA keys by the names in ``publicKeys``, without those that cannot be read or are too short for the provider.
  var rsaKeys: [String: RSAPublicKey] {
    mapping?.verification.allowsShortKeys == true ? readKeys : readKeys.filter { !$0.value.isShort }
  }

  /// Whether a payment is too old to be spoken. A payment without a time is never too old.
  package func isLate(_ payment: ProviderPayment, at now: Date) -> Bool {
    payment.occurredAt.map { now.timeIntervalSince($0) > TimeInterval(maximumAge) } ?? false
  }

  /// The path of the endpoint's URL.
  package var path: String { "/v1/providers/\(provider.rawValue)/\(id)" }
}

/// The providers, with their names in settings and URLs.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
  case stripe, wechatpay, alipay, razorpay, square, adyen
  case standardWebhooks = "standard-webhooks"
  /// Any other provider, described by a mapping file.
  case mapping

  /// The implementation of the provider's rules.
  package var provider: any PaymentProvider {
    switch self {
    case .stripe: StripeProvider()
    case .wechatpay: WeChatPayProvider()
    case .alipay: AlipayProvider()
    case .razorpay: RazorpayProvider()
    case .square: SquareProvider()
    case .adyen: AdyenProvider()
    case .standardWebhooks: StandardWebhooksProvider()
    case .mapping: MappingProvider()
    }
  }
}
