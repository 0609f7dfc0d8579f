// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The JSON of reports. Keys are in alphabetical order, so that equal reports have equal bytes.
package enum ReportJSON {
  private static let encoder = makeEncoder()

  package static func makeEncoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
    return encoder
  }

  package static func data(of value: some Encodable) throws -> Data { try encoder.encode(value) }
}
