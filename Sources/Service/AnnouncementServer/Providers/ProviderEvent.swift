// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The event that a payment or request of a payment provider needs somebody's attention. The event contains no amounts,
/// names or secrets.
struct ProviderEvent: Sendable, Hashable {
  enum Kind: String, Sendable, Hashable {
    /// A payment cannot be announced.
    case refused = "provider_refused"
    /// A payment was too old to be spoken.
    case late = "provider_late"
    /// A request was not signed with a secret or key of the endpoint.
    case rejected = "provider_rejected"
  }

  var kind: Kind
  var account: String
  var at = Date()
  var endpoint: String
  var reason: String?

  var detail: [String: String] {
    var detail = ["endpoint": endpoint]
    detail["reason"] = reason
    return detail
  }
}
