// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Base 64 with the alphabet for URLs and file names (RFC 4648, section 5), without padding.
package enum Base64URL {
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    let standard = Data(bytes).base64EncodedData().prefix { $0 != UInt8(ascii: "=") }
    return String(
      decoding: standard.map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      }, as: UTF8.self)
  }

  /// Decodes a text. The result is nil for every text that ``text(of:)`` never returns, for example a text with other
  /// characters, with padding, or with unused bits that are not 0. Each value therefore has exactly one text.
  package static func bytes(of text: String) -> [UInt8]? {
    var standard = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
    guard let data = Data(base64Encoded: Data(standard)), self.text(of: data) == text else { return nil }
    return Array(data)
  }
}
