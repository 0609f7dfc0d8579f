// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parts of requests about payments that were never made; see ``PaymentProvider/sample(id:for:at:)``.
enum SampleBody {
  /// Returns the JSON of an object, without the values that are nil.
  static func json(_ object: [String: (any Sendable)?]) -> Data {
    // An object that contains only texts, numbers and booleans can always be encoded.
    (try? JSONSerialization.data(
      withJSONObject: object.compactMapValues(\.self), options: [.sortedKeys, .withoutEscapingSlashes])) ?? Data()
  }

  static func request(_ body: Data, _ headers: [(name: String, value: String)]) -> ProviderRequest {
    ProviderRequest(headers: [("Content-Type", "application/json")] + headers, body: body)
  }
}
