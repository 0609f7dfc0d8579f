// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders

extension ProviderEndpoint {
  /// An endpoint with secrets, as a test needs it.
  static func keyed(
    _ provider: ProviderName, secrets: [String], _ change: (inout ProviderEndpoint) -> Void = { _ in }
  ) -> ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: provider, account: "shop")
    endpoint.secrets = secrets.map(ProviderSecret.init)
    endpoint.kinds = [.received, .refunded, .failed]
    change(&endpoint)
    return endpoint
  }
}

extension ProviderRequest {
  init(_ headers: [(name: String, value: String)], _ body: String) {
    self.init(headers: headers, body: Data(body.utf8))
  }

  /// The request with another value of a header; without the header if the value is nil.
  func with(_ name: String, _ value: String?) -> ProviderRequest {
    var request = self
    request.headers.removeAll { $0.name == name }
    if let value { request.headers.append((name, value)) }
    return request
  }

  func adding(_ name: String, _ value: String) -> ProviderRequest {
    var request = self
    request.headers.append((name, value))
    return request
  }
}

extension ProviderPayment {
  /// The sum in minor units, with its currency: `1250 USD`.
  var sum: String { "\(amount.minorUnits) \(amount.currency.code)" }
}

/// Returns every request that differs from a request in one bit of a byte of the body.
func changedBodies(of request: ProviderRequest) -> [ProviderRequest] {
  request.body.indices.map { index in
    var changed = request
    changed.body[index] ^= 1
    return changed
  }
}
