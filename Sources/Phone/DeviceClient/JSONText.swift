// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The byte ranges of the values in a JSON text, so that a value can be copied byte for byte.
///
/// A decoder would write numbers differently, such as 12.5 for 12.50. A decoder must have accepted the text before. If
/// the text is not JSON, the results are nil or wrong, but nothing outside the text is read.
struct JSONText {
  private let bytes: [UInt8]

  init(_ data: Data) { bytes = Array(data) }

  /// The range of the whole value.
  var whole: Range<Int>? {
    let start = position(afterSpaceFrom: 0)
    return end(ofValueAt: start).map { start..<$0 }
  }

  func data(_ place: Range<Int>) -> Data { Data(bytes[place]) }

  /// Returns the range of an object's member; nil if the value is not an object, or does not have the member. If
  /// several members have the key, the last one counts.
  func member(_ name: String, of place: Range<Int>) -> Range<Int>? {
    guard bytes[place].first == UInt8(ascii: "{") else { return nil }
    var found: Range<Int>?
    var index = position(afterSpaceFrom: place.lowerBound + 1)
    while index < place.upperBound, bytes[index] == UInt8(ascii: "\"") {
      guard let keyEnd = end(ofValueAt: index) else { return nil }
      let key = try? JSONDecoder().decode(String.self, from: Data(bytes[index..<keyEnd]))
      let colon = position(afterSpaceFrom: keyEnd)
      guard colon < place.upperBound, bytes[colon] == UInt8(ascii: ":") else { return nil }
      let start = position(afterSpaceFrom: colon + 1)
      guard let valueEnd = end(ofValueAt: start) else { return nil }
      if key == name { found = start..<valueEnd }
      index = position(afterCommaFrom: valueEnd)
    }
    return found
  }

  /// Returns the ranges of an array's elements; nil if the value is not an array.
  func elements(of place: Range<Int>) -> [Range<Int>]? {
    guard bytes[place].first == UInt8(ascii: "[") else { return nil }
    var found: [Range<Int>] = []
    var index = position(afterSpaceFrom: place.lowerBound + 1)
    while index < place.upperBound, bytes[index] != UInt8(ascii: "]") {
      guard let valueEnd = end(ofValueAt: index) else { return nil }
      found.append(index..<valueEnd)
      index = position(afterCommaFrom: valueEnd)
    }
    return found
  }

  /// Whether the value is an object.
  func isObject(_ place: Range<Int>) -> Bool { bytes[place].first == UInt8(ascii: "{") }

  private func position(afterSpaceFrom start: Int) -> Int {
    var index = start
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    return index
  }

  private func position(afterCommaFrom start: Int) -> Int {
    let index = position(afterSpaceFrom: start)
    return index < bytes.count && bytes[index] == UInt8(ascii: ",") ? position(afterSpaceFrom: index + 1) : index
  }

  /// Returns the position after a value. This method counts brackets instead of calling itself, so deep nesting cannot
  /// overflow the stack.
  private func end(ofValueAt start: Int) -> Int? {
    var depth = 0
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        guard let end = end(ofTextAt: index) else { return nil }
        index = end
        if depth == 0 { return index }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return index > start ? index : nil }
        depth -= 1
        if depth == 0 { return index + 1 }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
        if depth == 0 { return index > start ? index : nil }
      default: break
      }
      index += 1
    }
    return depth == 0 && index > start ? index : nil
  }

  private func end(ofTextAt start: Int) -> Int? {
    var index = start + 1
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\"") { return index + 1 }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }
}
