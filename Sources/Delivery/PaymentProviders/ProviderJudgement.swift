// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation

/// The meaning of a request for its endpoint. Nothing is announced yet.
package struct ProviderJudgement: Sendable {
  /// The reason why the request does not count as sent by the provider; nil if it does.
  package var rejection: ProviderRejection?
  /// The meaning of the request: an outcome for each payment in the request; empty if the request was rejected.
  package var outcomes: [ProviderOutcome] = []
  /// The time that the signature covers; nil if it covers none.
  package var signedAt: Date?
  /// The reason why a genuine request cannot be read until a setting of the endpoint is corrected; nil if it can be
  /// read.
  package var fault: ProviderFault?

  package var isVerified: Bool { rejection == nil }
  package var payments: [ProviderPayment] { outcomes.compactMap(\.payment) }

  /// The verdict, if storing the outcomes has succeeded.
  package var verdict: ProviderVerdict {
    if let rejection { return .rejected(rejection) }
    return fault == nil ? .accepted : .failed(status: 500)
  }
}

extension ProviderEndpoint {
  /// Verifies a request and says what it means for this endpoint.
  ///
  /// - Parameter now: The time of arrival.
  package func judge(_ request: ProviderRequest, at now: Date) -> ProviderJudgement {
    var judgement = ProviderJudgement()
    let provider = provider.provider
    let webhook: VerifiedWebhook
    do throws(ProviderRejection) {
      webhook = try provider.verify(request, for: self, at: now)
    } catch {
      judgement.rejection = error
      return judgement
    }
    judgement.signedAt = webhook.signedAt
    do throws(ProviderFault) {
      judgement.outcomes = try provider.outcomes(of: webhook, for: self).map(filtered)
    } catch {
      judgement.fault = error
      judgement.outcomes = [.refused(error.message)]
    }
    return judgement
  }

  package func answer(to verdict: ProviderVerdict) -> ProviderAnswer {
    provider.provider.answer(to: verdict, for: self)
  }

  private func filtered(_ outcome: ProviderOutcome) -> ProviderOutcome {
    guard var payment = outcome.payment else { return outcome }
    if let live = payment.isLive, live != isLive {
      return .ignored(
        isLive
          ? "a test payment, but the endpoint has live: true" : "not a test payment, but the endpoint has live: false")
    }
    // A request that names no account may be about any account. For example, Stripe names none for the platform's own
    // payments.
    guard merchants.isEmpty || payment.merchant.map(merchants.contains) == true else {
      return .ignored("a payment to an account that is not among the endpoint's merchants")
    }
    guard kinds.contains(payment.kind) else {
      return .ignored("kind \(payment.kind.rawValue), which is not among the endpoint's kinds")
    }
    if !speaksPayer { (payment.payer, payment.note) = (nil, nil) }
    return .payment(payment)
  }
}
