// SPDX-License-Identifier: Apache-2.0

import Announcements

/// A place in a JSON body, by RFC 6901: `/data/amount`. An array's elements are counted from 0.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
  /// The pointer as it was written.
  package let description: String
  private let tokens: [String]

  /// Reads a pointer.
  ///
  /// - Returns: nil for a text that is not empty and does not begin with a slash, and for a `~` without 0 or 1 after
  ///   it.
  package init?(_ text: String) {
    var tokens: [String] = []
    if !text.isEmpty {
      guard text.hasPrefix("/") else { return nil }
      for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
        guard !part.contains(/~(?![01])/) else { return nil }
        // RFC 6901, section 4, requires this order of the replacements: "~01" stands for "~1".
        tokens.append(String(part.replacing("~1", with: "/").replacing("~0", with: "~")))
      }
    }
    (description, self.tokens) = (text, tokens)
  }

  /// Returns the value at the place; nil if the value is missing or null.
  package func value(in fields: JSONFields) -> JSONFields? {
    var value = fields.value
    for token in tokens {
      switch value {
      case .object(let entries):
        guard let next = entries[token] else { return nil }
        value = next
      case .array(let elements):
        guard let index = Int(token), String(index) == token, elements.indices.contains(index) else { return nil }
        value = elements[index]
      default: return nil
      }
    }
    if case .null = value { return nil }
    return JSONFields(value)
  }
}
