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

  /// Adds the members of another object after the members of this one. The two objects must not have a key in common.
  mutating func add(_ other: EncodedObject) {
    guard other.bytes.count > 2 else { return }
    bytes.removeLast()
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(other.bytes.dropFirst())
  }

  /// Removes a member of the object. If the object has no member with this key, nothing is removed.
  mutating func remove(_ key: String) {
    guard let value = Self.value(of: key, in: bytes, from: bytes.startIndex) else { return }
    // The member begins with the quotation mark before its key, and one comma goes with it.
    var start = value.lowerBound - key.utf8.count - 3
    var end = value.upperBound
    if bytes[end] == UInt8(ascii: ",") {
      end += 1
    } else if bytes[start - 1] == UInt8(ascii: ",") {
      start -= 1
    }
    bytes.removeSubrange(start..<end)
  }

  /// Replaces a text in an object that is a member of this one. If the object or the text is missing, or if the value
  /// is not a text, nothing is replaced.
  ///
  /// - Parameter text: The new text, without characters that JSON escapes.
  mutating func replace(_ key: String, of member: String, with text: String) {
    guard let object = Self.value(of: member, in: bytes, from: bytes.startIndex),
      let value = Self.value(of: key, in: bytes, from: object.lowerBound), bytes[value.lowerBound] == UInt8(ascii: "\"")
    else { return }
    bytes.replaceSubrange(value, with: Data("\"\(text)\"".utf8))
  }

  /// Returns the range of a member's value. Keys are compared as they are written. The object must not contain spaces
  /// outside of texts.
  ///
  /// - Parameter start: The place of the object's opening brace.
  private static func value(of key: String, in bytes: Data, from start: Int) -> Range<Int>? {
    guard bytes[start] == UInt8(ascii: "{") else { return nil }
    let name = Array(key.utf8)
    var place = start + 1
    while place < bytes.endIndex, bytes[place] == UInt8(ascii: "\"") {
      let end = self.end(of: place, in: bytes)
      let value = (end + 1)..<self.end(of: end + 1, in: bytes)
      if bytes[(place + 1)..<(end - 1)].elementsEqual(name) { return value }
      place = value.upperBound + 1
    }
    return nil
  }

  /// Returns the index of the first byte after a value.
  private static func end(of start: Int, in bytes: Data) -> Int {
    var (place, depth, isInText) = (start, 0, false)
    while place < bytes.endIndex {
      switch bytes[place] {
      case UInt8(ascii: "\\") where isInText: place += 1
      case UInt8(ascii: "\""):
        isInText.toggle()
        if !isInText, depth == 0 { return place + 1 }
      case UInt8(ascii: "{"), UInt8(ascii: "["): if !isInText { depth += 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if !isInText {
          // A number or a word has no closing character. Here, the end of the enclosing object ends it.
          if depth == 0 { return place }
          depth -= 1
          if depth == 0 { return place + 1 }
        }
      case UInt8(ascii: ",") where !isInText && depth == 0: return place
      default: break
      }
      place += 1
    }
    return bytes.endIndex
  }
}
