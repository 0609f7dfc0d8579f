// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What must hold of a payload's bytes before they are decoded: its size, how deep it nests, how long its numbers
/// are, and that no object says one key twice.
///
/// Foundation's decoder checks none of these to our limits. It rounds a number of more than 38 digits without a word
/// (measured: `1.000…1` with 45 digits becomes 1) and of two equal keys it takes the first, where other readers take
/// the last: both would be a sum that somebody else reads differently.
struct PayloadScan {
  static let largestBytes = 64 * 1024
  static let deepestNesting = 16

  /// Digits, point and exponent together; a `Decimal` holds any such number exactly.
  static let longestNumber = 36

  private let bytes: [UInt8]
  private var position = 0
  private var keysByDepth: [Set<String>] = []
  private var isObject: [Bool] = []

  /// - Throws: `.payloadTooLarge` or `.payloadMalformed`. A text that is not JSON at all may pass: the decoder says so.
  static func check(_ bytes: [UInt8], atMost largest: Int = largestBytes) throws(AnnouncementError) {
    guard bytes.count <= largest else {
      throw AnnouncementError(
        .payloadTooLarge, "payload", "is \(bytes.count) bytes",
        remedy: "a payload is at most \(largestBytes) bytes")
    }
    // The decoder would take UTF-16 and UTF-32 as well, which this scan cannot follow.
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
      throw AnnouncementError(
        .payloadMalformed, "payload", "is not JSON in UTF-8",
        remedy: "send one JSON object: a payment, or an APNs payload")
    }
    var scan = PayloadScan(bytes: bytes)
    try scan.run()
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func run() throws(AnnouncementError) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        try open(object: bytes[position] == UInt8(ascii: "{"))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = keysByDepth.popLast()
        _ = isObject.popLast()
        position += 1
      case UInt8(ascii: "\""):
        try string()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        try number()
      default:
        position += 1
      }
    }
  }

  private mutating func open(object: Bool) throws(AnnouncementError) {
    guard isObject.count < Self.deepestNesting else {
      throw AnnouncementError(
        .payloadMalformed, "payload", "nests deeper than \(Self.deepestNesting) levels",
        remedy: "send the payment as a flat object, bare or under the key payment")
    }
    isObject.append(object)
    keysByDepth.append([])
    position += 1
  }

  private mutating func string() throws(AnnouncementError) {
    let start = position + 1
    position = start
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    let end = min(position, bytes.count)
    position = end + 1
    guard isObject.last == true, nextSignificantByte == UInt8(ascii: ":") else { return }
    let key = Self.unescaped(bytes[start..<end])
    guard keysByDepth[keysByDepth.count - 1].insert(key).inserted else {
      let name = key.prefix(40).filter { $0.isASCII && ($0.isLetter || $0 == "_") }
      throw AnnouncementError(
        .payloadMalformed, name.isEmpty ? "a key" : name, "stands twice in one object",
        remedy: "say each key once, so that every reader takes the same value")
    }
  }

  /// A key as its reader sees it: `\u0061mount` is amount.
  private static func unescaped(_ key: ArraySlice<UInt8>) -> String {
    let text = String(decoding: key, as: UTF8.self)
    guard key.contains(UInt8(ascii: "\\")) else { return text }
    return (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) ?? text
  }

  private var nextSignificantByte: UInt8? {
    guard position < bytes.count else { return nil }
    return bytes[position...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }

  private mutating func number() throws(AnnouncementError) {
    let start = position
    while position < bytes.count, Self.numberBytes.contains(bytes[position]) { position += 1 }
    guard position - start <= Self.longestNumber else {
      throw AnnouncementError(
        .payloadMalformed, "payload", "holds a number of \(position - start) characters",
        remedy: "a number has at most \(Self.longestNumber); send an amount as a decimal string")
    }
  }

  private static let numberBytes = Set("+-.eE0123456789".utf8)
}
