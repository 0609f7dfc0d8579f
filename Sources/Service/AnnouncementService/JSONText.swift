// SPDX-License-Identifier: Apache-2.0

import Foundation
import TextFormats

/// The text of a JSON object. Its members are in the order in which they were added.
struct JSONText {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  /// The object as UTF-8.
  var data: Data { Data(bytes + [UInt8(ascii: "}")]) }

  /// Adds a text. If the text is nil, nothing is added.
  ///
  /// - Parameter key: A key without characters that JSON escapes.
  mutating func add(_ key: String, _ text: String?) {
    guard let text else { return }
    begin(key)
    append(text)
  }

  mutating func add(_ key: String, _ texts: [String]) {
    begin(key)
    bytes.append(UInt8(ascii: "["))
    for (index, text) in texts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(text)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func add(_ key: String, _ object: JSONText) {
    begin(key)
    bytes += object.bytes
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func begin(_ key: String) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    append(key)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Appends a text with the escapes that RFC 8259, section 7, requires.
  private mutating func append(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x00..<0x20:
        bytes += Array("\\u00\(CollectionOfOne(byte).hexadecimal)".utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
