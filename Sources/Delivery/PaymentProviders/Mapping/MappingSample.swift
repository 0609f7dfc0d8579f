// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Foundation

/// A request in a mapping file, and the outcome that the mapping must have for the request.
package struct MappingSample: Sendable {
  package struct ExpectedPayment: Sendable, Hashable {
    package var id: String
    package var kind: Payment.Kind
    package var amount: Money
    // The following values are compared only if the sample gives them.
    package var identity: String?
    package var payer: String?
    package var note: String?
    package var channel: String?
    package var merchant: String?
    package var occurredAt: Date?
    package var isLive: Bool?

    package init(id: String, kind: Payment.Kind, amount: Money) {
      (self.id, self.kind, self.amount) = (id, kind, amount)
    }
  }

  package enum Expectation: Sendable, Hashable {
    case payments([ExpectedPayment])
    case ignored, refused
    case rejected(ProviderRejection.Code)
  }

  package var name: String
  /// The secret that signs the request, and the endpoint's only secret.
  package var secret: ProviderSecret?
  /// The public key, for RSA.
  package var publicKey: String?
  /// The time of arrival.
  package var now: Date
  /// The request. A signature, token or signed time that is missing is added, except for RSA.
  package var request: ProviderRequest
  package var expectation: Expectation

  package init(name: String, now: Date, request: ProviderRequest, expectation: Expectation) {
    (self.name, self.now, self.request, self.expectation) = (name, now, request, expectation)
  }

  /// Returns the request as the provider would send it.
  package func signedRequest(by mapping: ProviderMapping) -> ProviderRequest {
    guard let secret else { return request }
    return mapping.signed(request, with: secret, at: now) ?? request
  }

  /// Compares the outcomes that a mapping gives for the sample with the expected ones.
  ///
  /// If the scheme signs the body, the comparison also changes each byte of the body in turn, or at least 4,096 bytes
  /// of a longer body. Each changed request must be rejected. If the scheme signs only parts of the body, a changed
  /// request must not give another payment.
  ///
  /// - Returns: nil if the outcomes are the expected ones; otherwise what is wrong.
  package func problem(with mapping: ProviderMapping) -> String? {
    var endpoint = ProviderEndpoint(id: "sample", provider: .mapping, account: "sample")
    endpoint.mapping = mapping
    endpoint.secrets = secret.map { [$0] } ?? []
    endpoint.publicKeys = publicKey.map { ["sample": $0] } ?? [:]
    let request = signedRequest(by: mapping)
    let outcomes: [ProviderOutcome]
    do throws(ProviderRejection) {
      outcomes = try Self.outcomes(of: request, endpoint, now)
    } catch {
      return expectation == .rejected(error.code) ? nil : "gives rejected (\(error.code.rawValue): \(error.message))"
    }
    if let difference = difference(of: outcomes) { return difference }
    guard mapping.isSigned else { return nil }
    let isWhole = mapping.verification.coverage == .wholeBody
    for index in stride(from: 0, to: request.body.count, by: max(1, request.body.count / 4_096)) {
      var changed = request
      changed.body[index] ^= 1
      guard let other = try? Self.outcomes(of: changed, endpoint, now) else { continue }
      guard !isWhole, other.compactMap(\.payment).allSatisfy({ isExpected($0) }) else {
        return "is accepted with byte \(index) of the body changed"
      }
    }
    return nil
  }

  private static func outcomes(
    of request: ProviderRequest, _ endpoint: ProviderEndpoint, _ now: Date
  ) throws(ProviderRejection) -> [ProviderOutcome] {
    let provider = MappingProvider()
    return provider.outcomes(of: try provider.verify(request, for: endpoint, at: now), for: endpoint)
  }

  /// Returns whether a payment from a changed request is harmless: it is one of the expected payments, or is not
  /// announced.
  private func isExpected(_ payment: ProviderPayment) -> Bool {
    guard case .payments(let expected) = expectation else { return false }
    return expected.contains { one in
      (one.identity ?? one.id) == payment.identity && one.kind == payment.kind && one.amount == payment.amount
    }
  }

  private func difference(of outcomes: [ProviderOutcome]) -> String? {
    let payments = outcomes.compactMap(\.payment)
    let reasons = outcomes.compactMap { $0.ignoredReason ?? $0.refusedReason }
    let others = reasons.isEmpty ? "" : " (\(reasons[0]))"
    switch expectation {
    case .rejected: return "gives no rejection"
    case .ignored:
      return outcomes.allSatisfy { $0.ignoredReason != nil } && !outcomes.isEmpty ? nil : "is not ignored\(others)"
    case .refused:
      return outcomes.allSatisfy { $0.refusedReason != nil } && !outcomes.isEmpty ? nil : "is not refused\(others)"
    case .payments(let expected):
      guard payments.count == expected.count else { return "gives \(payments.count) payments\(others)" }
      for (index, (one, payment)) in zip(expected, payments).enumerated() {
        if let field = one.difference(from: payment) { return "gives payment \(index + 1) another \(field)" }
      }
      return nil
    }
  }
}

extension MappingSample.ExpectedPayment {
  /// Returns the first field that differs; nil if none does.
  fileprivate func difference(from payment: ProviderPayment) -> String? {
    if id != payment.id { return "id" }
    if kind != payment.kind { return "kind" }
    if amount != payment.amount { return amount.currency == payment.amount.currency ? "amount" : "currency" }
    if let identity, identity != payment.identity { return "identity" }
    if let payer, payer != payment.payer { return "payer" }
    if let note, note != payment.note { return "note" }
    if let channel, channel != payment.channel { return "channel" }
    if let merchant, merchant != payment.merchant { return "merchant" }
    if let occurredAt, occurredAt != payment.occurredAt { return "occurred_at" }
    if let isLive, isLive != payment.isLive { return "live" }
    return nil
  }
}
