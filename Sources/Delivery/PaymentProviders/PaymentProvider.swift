// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The rules of a provider: how its requests are verified, what they mean, and which answer it expects. The types that
/// conform use no clock, file or socket.
package protocol PaymentProvider: Sendable {
  /// Verifies the bytes of a request before any part of the request is parsed.
  ///
  /// - Parameter now: The time of arrival.
  /// - Throws: ``ProviderRejection`` if the request does not prove that the provider sent it.
  func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook

  /// Returns the meaning of a verified request: an outcome for each payment in it. The endpoint's filters are applied
  /// later.
  ///
  /// - Throws: ``ProviderFault`` if the webhook cannot be read until a setting of the endpoint is corrected.
  func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) throws(ProviderFault) -> [ProviderOutcome]

  /// Returns the answer that the provider expects.
  func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer

  /// Returns a request about a payment that was never made, signed with the endpoint's first secret. The payment is one
  /// that the endpoint accepts. It is marked as real if the endpoint takes real payments, and goes to the endpoint's
  /// first merchant.
  ///
  /// - Parameter id: The id of the payment: letters, digits, `-` and `_`.
  /// - Returns: nil if the endpoint cannot sign, because only the provider has the private key.
  func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest?
}

/// A request whose signature was verified.
package struct VerifiedWebhook: Sendable {
  package var request: ProviderRequest
  /// The time that the signature covers; nil if it covers none.
  package var signedAt: Date?

  package var body: Data { request.body }

  package init(_ request: ProviderRequest, signedAt: Date? = nil) {
    (self.request, self.signedAt) = (request, signedAt)
  }
}

/// Why a genuine request cannot be read yet. The provider gets an error as its answer, so that it sends the request
/// again.
package struct ProviderFault: Error, Sendable, Hashable {
  /// What is wrong and what to set.
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// The verdict on a request, as far as the provider is concerned.
package enum ProviderVerdict: Sendable, Hashable {
  /// The payment was announced or will be announced, is a repetition, or is not to be announced. The request need not
  /// be sent again.
  case accepted
  case rejected(ProviderRejection)
  /// The request cannot be accepted now, with the HTTP status that says why: 429, 500 or 503.
  case failed(status: Int)

  /// The HTTP status of the answer to a provider that has no rules of its own.
  package var status: Int {
    switch self {
    case .accepted: 200
    case .rejected(let rejection): rejection.code == .keyUnknown ? 500 : 401
    case .failed(let status): status
    }
  }
}

/// The answer to a provider.
package struct ProviderAnswer: Sendable, Hashable {
  package var status: Int
  /// The value of `Content-Type`; nil without a body.
  package var contentType: String?
  package var body: Data

  package init(status: Int, contentType: String? = nil, body: String = "") {
    (self.status, self.contentType, self.body) = (status, contentType, Data(body.utf8))
  }
}

extension PaymentProvider {
  package func answer(to verdict: ProviderVerdict, for endpoint: ProviderEndpoint) -> ProviderAnswer {
    ProviderAnswer(status: verdict.status)
  }

  package func sample(id: String, for endpoint: ProviderEndpoint, at now: Date) -> ProviderRequest? { nil }
}
