// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings
import Testing

/// Runs recorded requests of providers. Their texts are the providers', so they are not part of the project: the
/// variable CRIER_WEBHOOK_VECTORS names a folder with a JSON file for each.
@Suite(
  "Recorded webhooks",
  .enabled(
    if: RecordedWebhook.folder != nil,
    "CRIER_WEBHOOK_VECTORS names no folder with recorded webhooks, so they are not run"))
struct RecordedWebhookTests {
  @Test("the folder of recorded webhooks has at least one request")
  func folder() { #expect(!RecordedWebhook.all.isEmpty) }

  @Test("each recorded webhook has the outcome that its file expects", arguments: RecordedWebhook.all)
  func expectation(webhook: RecordedWebhook) throws {
    if let problem = try webhook.problem() { Issue.record(Comment(rawValue: "\(webhook.name) \(problem)")) }
  }

  @Test("each recorded provider that Crier cannot support has a reason", arguments: RecordedWebhook.unsupported)
  func unsupported(webhook: RecordedWebhook) {
    #expect(RecordedWebhook.reasonAgainst(webhook.provider)?.isEmpty == false)
  }

  @Test("a signed body with any byte changed announces no other payment", arguments: RecordedWebhook.all)
  func changedBytes(webhook: RecordedWebhook) throws {
    guard webhook.isValid, var endpoint = try webhook.endpoint() else { return }
    endpoint.kinds = Set(Payment.Kind.allCases)
    guard endpoint.mapping?.isSigned != false else { return }
    let original = endpoint.judge(webhook.request(for: endpoint), at: webhook.now)
    guard original.isVerified else { return }
    // Adyen, Alipay and Midtrans do not sign each byte. A change of an unsigned byte must not change the announcement.
    let isWhole = !["adyen", "alipay", "midtrans"].contains(webhook.provider)
    var request = webhook.request(for: endpoint)
    for index in request.body.indices {
      request.body[index] ^= 1
      let changed = endpoint.judge(request, at: webhook.now)
      request.body[index] ^= 1
      guard changed.isVerified else { continue }
      let isSame = Set(changed.payments.map(Announced.init)).isSubset(of: original.payments.map(Announced.init))
      guard !isWhole, isSame else {
        Issue.record("\(webhook.name): accepted with byte \(index) changed")
        return
      }
    }
  }

  /// The values that decide which payment is announced.
  private struct Announced: Hashable {
    let identity: String
    let kind: Payment.Kind
    let amount: Money

    init(_ payment: ProviderPayment) { (identity, kind, amount) = (payment.identity, payment.kind, payment.amount) }
  }
}

/// A recorded request and what it must give.
struct RecordedWebhook: Sendable, CustomTestStringConvertible {
  static let folder = ProcessInfo.processInfo.environment["CRIER_WEBHOOK_VECTORS"].flatMap { $0.isEmpty ? nil : $0 }
  private static let unsupportedProviders: Set = [
    "btcpay", "casso", "gocardless", "mercadopago", "mollie", "toss", "wise",
  ]
  private static let read: [RecordedWebhook] = {
    guard let folder else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
      (try? Data(contentsOf: URL(filePath: folder).appending(path: name))).flatMap { RecordedWebhook($0, name) }
    }
  }()
  static let all = read.filter { !unsupportedProviders.contains($0.provider) }
  static let unsupported = read.filter { unsupportedProviders.contains($0.provider) }

  /// Returns why a provider cannot be supported.
  static func reasonAgainst(_ provider: String) -> String? { UnsupportedProvider.named(provider)?.reason }

  let name: String
  let provider: String
  let isValid: Bool
  let now: Date
  private let fields: JSONFields
  private let body: Data
  private let headers: [(name: String, value: String)]

  var testDescription: String { name }

  private init?(_ data: Data, _ name: String) {
    guard let fields = JSONFields(data), let provider = fields["provider"]?.text, let now = fields["now"]?.date,
      let isValid = fields["valid"]?.boolean,
      let body = fields["body_base64"]?.text.flatMap({ Data(base64Encoded: $0) }),
      case .object(let headers)? = fields["headers"]?.value
    else { return nil }
    (self.name, self.provider, self.isValid, self.now, self.fields, self.body) =
      (name, provider, isValid, now, fields, body)
    self.headers = headers.compactMap { name, value in JSONFields(value).text.map { (name, $0) } }
  }

  private func has(_ header: String) -> Bool { headers.contains { $0.name.lowercased() == header } }

  /// The mapping file for the request; nil if the provider has code of its own.
  private var mapping: String? {
    switch provider {
    case "efi": "pix"
    case "flutterwave": has("verif-hash") ? "flutterwave-v3" : "flutterwave-v4"
    case "sepay": has("authorization") ? "sepay-api-key" : "sepay"
    default: ShippedMappings.names.contains(provider) ? provider : nil
    }
  }

  /// Returns the endpoint that receives the request; nil for a provider that is not known.
  func endpoint() throws -> ProviderEndpoint? {
    let secret = fields["secret_or_public_key"]?.text ?? ""
    if let mapping {
      var endpoint = ProviderEndpoint(id: "recorded", provider: .mapping, account: "shop")
      endpoint.mapping = try ShippedMappings.file(mapping).mapping
      endpoint.secrets = [ProviderSecret(secret)]
      endpoint.publicKeys = ["key": secret]
      return endpoint
    }
    let name = provider == "standardwebhooks" ? "standard-webhooks" : provider
    guard let provider = ProviderName(rawValue: name) else { return nil }
    var endpoint = ProviderEndpoint(id: "recorded", provider: provider, account: "shop")
    endpoint.secrets = [ProviderSecret(secret)]
    endpoint.publicKeys = [fields["serial"]?.text ?? "key": secret]
    endpoint.apiV3Key = fields["apiv3_key"]?.text.map { ProviderSecret($0) }
    endpoint.url = fields["notification_url"]?.text
    return endpoint
  }

  /// Returns the request. The files write a secret in the URL as the header X-Path-Token.
  func request(for endpoint: ProviderEndpoint) -> ProviderRequest {
    var request = ProviderRequest(headers: headers, body: body, query: fields["query"]?.text)
    if endpoint.mapping?.verification.scheme == .url,
      let index = request.headers.firstIndex(where: { $0.name == "X-Path-Token" })
    {
      request.query = "token=" + request.headers.remove(at: index).value
    }
    return request
  }

  /// Returns what differs from what the file says; nil if nothing does.
  func problem() throws -> String? {
    guard var endpoint = try endpoint(), let expected = fields["expect"] else { return "is of an unknown provider" }
    endpoint.kinds = Set(Payment.Kind.allCases)
    var judgement = endpoint.judge(request(for: endpoint), at: now)
    if judgement.payments.isEmpty {
      // The files do not say whether the payment is a test.
      endpoint.isLive = false
      let other = endpoint.judge(request(for: endpoint), at: now)
      if !other.payments.isEmpty { judgement = other }
    }
    guard isValid else {
      // The file may say that a signature in upper case may be accepted.
      let isLenient = expected["reason"]?.text?.contains("may accept") == true
      return judgement.isVerified && !isLenient ? "is not rejected" : nil
    }
    if let rejection = judgement.rejection { return "is rejected: \(rejection)" }
    if let payments = expected["payments"]?.elements { return difference(judgement, payments) }
    if expected["ignored"] != nil {
      // A payment that is too old is stored and not spoken, and one that another event has announced is not spoken again.
      let limit = now.addingTimeInterval(-TimeInterval(endpoint.maximumAge))
      let spoken = judgement.payments.filter { $0.occurredAt.map { $0 >= limit } ?? true }
      if spoken.isEmpty, judgement.outcomes.allSatisfy({ $0.refusedReason == nil }) { return nil }
      return expected["payment"].map { difference(judgement, [$0]) } ?? "is not ignored: \(judgement.outcomes)"
    }
    if expected["refused"] != nil {
      return judgement.outcomes.isEmpty || judgement.outcomes.contains { $0.refusedReason == nil }
        ? "is not refused: \(judgement.outcomes)" : nil
    }
    return difference(judgement, [expected])
  }

  private func difference(_ judgement: ProviderJudgement, _ expected: [JSONFields]) -> String? {
    let payments = judgement.payments
    guard payments.count == expected.count else { return "gives \(judgement.outcomes)" }
    for (payment, one) in zip(payments, expected) {
      if let kind = one["kind"]?.text, kind != payment.kind.rawValue { return "gives another kind" }
      if one["currency"]?.text != payment.amount.currency.code { return "gives another currency" }
      if one["id"]?.text != payment.id { return "gives another id" }
      if let merchant = one["merchant"]?.id, merchant != payment.merchant { return "gives another merchant" }
      if let amount = one["amount"]?.text {
        let money = try? Money(decimalText: amount, currency: payment.amount.currency)
        if money != payment.amount { return "gives another amount" }
      } else if let minor = one["minor"]?.wholeNumber, minor != payment.amount.minorUnits {
        return "gives another amount in minor units"
      }
    }
    return nil
  }
}
