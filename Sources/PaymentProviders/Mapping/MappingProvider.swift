// SPDX-License-Identifier: Apache-2.0

package import Foundation

package struct MappingProvider: PaymentProvider {
  package init() {}

  package func verify(
    _ request: ProviderRequest, for endpoint: ProviderEndpoint, at now: Date
  ) throws(ProviderRejection) -> VerifiedWebhook { throw ProviderRejection(.malformed, "to be written") }

  package func outcomes(of webhook: VerifiedWebhook, for endpoint: ProviderEndpoint) -> [ProviderOutcome] { [] }
}
