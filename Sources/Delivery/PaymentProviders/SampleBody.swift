// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parts of requests about payments that were never made; see ``PaymentProvider/sample(id:for:at:)``.
enum SampleBody {
  /// Returns the JSON of an object, without the values that are nil.
  static func json(_ object: [String: (any Sendable)?]) -> Data {
    // An object of texts, numbers and true or false can always be written.
    (try? JSONSerialization.data(
      withJSONObject: object.compactMapValues(\.self), options: [.sortedKeys, .withoutEscapingSlashes])) ?? Data()
  }

  static func request(_ body: Data, _ headers: [(name: String, value: String)]) -> ProviderRequest {
    ProviderRequest(headers: [("Content-Type", "application/json")] + headers, body: body)
  }
}
