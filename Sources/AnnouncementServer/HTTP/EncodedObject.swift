// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An encoded JSON object, to which members can be added without decoding it.
struct EncodedObject: Sendable, Hashable {
  /// The object as JSON.
  private(set) var bytes: Data

  /// The error for bytes that are not an object.
  struct NotAnObject: Error {}

  /// - Parameter bytes: A valid JSON object without spaces around it.
  /// - Throws: ``NotAnObject`` if the bytes do not begin and end with the braces of an object.
  init(_ bytes: Data) throws(NotAnObject) {
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else {
      throw NotAnObject()
    }
    self.bytes = bytes
  }

  /// Adds the members of another object after those of this one. Both objects must not have a key in common.
  mutating func add(_ other: EncodedObject) {
    guard other.bytes.count > 2 else { return }
    bytes.removeLast()
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(other.bytes.dropFirst())
  }
}
