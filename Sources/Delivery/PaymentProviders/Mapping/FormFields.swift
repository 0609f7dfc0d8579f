// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The keys and values of a form body or of a URL's query.
package struct FormFields: Sendable {
  /// The pairs in their order.
  package let pairs: [(key: String, value: String)]

  /// Reads `a=1&b=2` with percent-encoded UTF-8. A pair without `=` has an empty value.
  ///
  /// - Parameter plusIsSpace: Whether `+` stands for a space, as in a form's body.
  /// - Returns: nil if the text is not encoded in this way.
  package init?(_ text: some Sequence<UInt8>, plusIsSpace: Bool) {
    var pairs: [(key: String, value: String)] = []
    for pair in Array(text).split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = Self.decoded(parts[0], plusIsSpace),
        let value = Self.decoded(parts.dropFirst().first ?? [], plusIsSpace)
      else { return nil }
      pairs.append((key, value))
    }
    self.pairs = pairs
  }

  /// Returns the value of a key; nil if the key is missing.
  ///
  /// - Throws: `.headerRepeated`.
  package func value(of key: String) throws(ProviderRejection) -> String? {
    let values = pairs.filter { $0.key == key }
    guard values.count < 2 else { throw ProviderRejection(.headerRepeated, "The key \(key) occurs twice.") }
    return values.first?.value
  }

  /// Returns all values by their keys.
  ///
  /// - Throws: `.headerRepeated`, because other programs could use another of the values.
  package func values() throws(ProviderRejection) -> [String: String] {
    var values: [String: String] = [:]
    for (key, value) in pairs where values.updateValue(value, forKey: key) != nil {
      throw ProviderRejection(.headerRepeated, "A key of the form occurs twice.")
    }
    return values
  }

  private static func decoded(_ text: ArraySlice<UInt8>, _ plusIsSpace: Bool) -> String? {
    bytes(of: text, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Returns the bytes of a key or a value; nil if a percent sign is not followed by two hexadecimal digits.
  static func bytes(of text: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let decoded = SignatureEncoding.hex.bytes(of: String(decoding: rest.prefix(2), as: UTF8.self)),
          decoded.count == 1
        else { return nil }
        bytes += decoded
        rest = rest.dropFirst(2)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
