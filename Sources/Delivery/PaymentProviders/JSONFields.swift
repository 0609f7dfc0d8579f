// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Foundation

/// The values of a JSON body, found by their paths. Numbers keep their digits.
package struct JSONFields: Sendable {
  package let value: PayloadValue

  package init(_ value: PayloadValue) { self.value = value }

  /// Reads a body.
  ///
  /// - Parameter body: UTF-8 JSON of at most ``ProviderRequest/largestBody`` bytes and at most 64 levels deep.
  /// - Returns: nil if the body is not JSON by RFC 8259, has a key twice in one object, half of a surrogate pair, or a
  ///   number of more than 36 characters. Other readers could read such a body as another payment.
  package init?(_ body: Data) {
    guard
      let value = try? PayloadValue(
        json: Array(body), largestBytes: ProviderRequest.largestBody, deepestNesting: 64)
    else { return nil }
    self.value = value
  }

  /// Returns a body in which the replacement character replaces each half of a surrogate pair without its other half.
  /// The bytes of everything else stay as they are. A name that was cut in the middle of an emoji ends with such a
  /// half.
  package static func withoutHalfPairs(_ body: Data) -> Data {
    let bytes = Array(body)
    func unit(at index: Int) -> UInt16? {
      guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
        return nil
      }
      return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }
    var mended = Data(capacity: bytes.count)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\") else {
        mended.append(bytes[index])
        index += 1
        continue
      }
      var length = min(2, bytes.count - index)
      if let first = unit(at: index) {
        length = 6
        if UTF16.isLeadSurrogate(first), let second = unit(at: index + 6), UTF16.isTrailSurrogate(second) {
          length = 12
        } else if UTF16.isSurrogate(first) {
          mended.append(contentsOf: Array("\\ufffd".utf8))
          index += 6
          continue
        }
      }
      mended.append(contentsOf: bytes[index..<(index + length)])
      index += length
    }
    return mended
  }

  /// Returns the value at a path of keys; nil if the value is missing or null.
  package subscript(_ keys: String...) -> JSONFields? {
    var value = value
    for key in keys {
      guard case .object(let fields) = value, let next = fields[key] else { return nil }
      value = next
    }
    if case .null = value { return nil }
    return JSONFields(value)
  }

  /// The text of a string; nil for any other value.
  package var text: String? { if case .string(let text) = value { text } else { nil } }
  /// Whether the value is true; nil for a value that is neither true nor false.
  package var boolean: Bool? { if case .boolean(let boolean) = value { boolean } else { nil } }
  /// The elements of an array; nil for any other value.
  package var elements: [JSONFields]? {
    if case .array(let elements) = value { elements.map(JSONFields.init) } else { nil }
  }
  /// The characters of a number or a string; nil for any other value. Some providers write numbers as text.
  package var characters: String? {
    switch value {
    case .string(let text), .number(let text): text
    default: nil
    }
  }

  /// An id: the characters of a number or a string, 1 to 200 printable ASCII characters without a space. Nil for any
  /// other value, and for a number with a point or an exponent.
  package var id: String? {
    guard let characters, (1...200).contains(characters.utf8.count),
      characters.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    if case .number(let digits) = value, !digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return nil }
    return characters
  }

  /// A whole number of at least 0; nil for any other value. It may be a string, and have decimals that are zeros.
  package var wholeNumber: Int64? {
    guard let characters else { return nil }
    let parts = characters.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
      parts[0].allSatisfy({ (0x30...0x39).contains($0) }), parts.count == 1 || parts[1].allSatisfy({ $0 == 0x30 })
    else { return nil }
    return Int64(String(decoding: parts[0], as: UTF8.self))
  }

  /// A time in seconds since 1970; nil for any other value.
  package var date: Date? {
    // Years after 9999 are refused, because many programs cannot read or write them correctly.
    wholeNumber.flatMap { $0 < 253_402_300_800 ? Date(timeIntervalSince1970: TimeInterval($0)) : nil }
  }

  /// A time in the format of RFC 3339; nil for any other value.
  package var timestamp: Date? { text.flatMap(Timestamp.date) }
}
