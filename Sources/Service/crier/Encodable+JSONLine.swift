// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Encodable {
  /// The value as one line of JSON for programs, with sorted keys. The key of a property `expiresAt` is `expires_at`,
  /// and dates are ISO 8601, in UTC.
  var jsonLine: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.keyEncodingStrategy = .convertToSnakeCase
      encoder.dateEncodingStrategy = .iso8601
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}
