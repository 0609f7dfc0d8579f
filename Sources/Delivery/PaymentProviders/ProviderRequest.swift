// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A request to an endpoint as it arrived. Nothing in it is trusted.
package struct ProviderRequest: Sendable {
  /// The largest body that is read, in bytes. Shopify's orders can exceed 64 KiB.
  package static let largestBody = 1 << 20

  /// The header fields in the order in which they arrived, each with the name as it was sent.
  package var headers: [(name: String, value: String)]
  /// The body's exact bytes.
  package var body: Data
  /// The part of the URL after the question mark, as it was sent; nil without a question mark.
  package var query: String?

  package init(headers: [(name: String, value: String)], body: Data, query: String? = nil) {
    (self.headers, self.body, self.query) = (headers, body, query)
  }

  /// Returns the value of a header field, whatever the case of its name; nil if the request does not have it.
  ///
  /// - Throws: `.headerRepeated`. Providers' own libraries disagree on which of two values counts, so neither is used.
  package func header(_ name: String) throws(ProviderRejection) -> String? {
    let values = headers.filter { $0.name.lowercased() == name.lowercased() }
    guard values.count < 2 else { throw ProviderRejection(.headerRepeated, "The header \(name) occurs twice.") }
    return values.first?.value
  }

  /// Returns the value of a header field that a signature needs.
  ///
  /// - Throws: `.headerRepeated`, `.signatureMissing`.
  package func requiredHeader(_ name: String) throws(ProviderRejection) -> String {
    guard let value = try header(name), !value.isEmpty else {
      throw ProviderRejection(.signatureMissing, "The header \(name) is missing.")
    }
    return value
  }
}
