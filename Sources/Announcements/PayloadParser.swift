// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads a payload's bytes into a value, in one pass over them: what it costs is bounded by how many there are.
///
/// It reads JSON by the letter of RFC 8259, and says at which byte a text stops being it. It has limits that Foundation's
/// decoder has not: how deep a payload nests, how long its numbers are, and that no object says one key twice. Foundation
/// takes a comma behind the last element, half of a surrogate pair and a byte order mark (measured, Swift 6.3), and
/// rounds a number of more than 38 digits without a word (measured: `1.000…1` with 45 digits becomes 1), and of two equal
/// keys it takes the first where other readers take the last: both would be a sum that somebody else reads differently.
/// Keys are compared byte by byte, because comparing letters takes time that grows with the square of their combining
/// marks.
struct PayloadParser {
  static let largestBytes = 64 * 1024
  static let deepestNesting = 16

  /// Digits, point and exponent together; a `Decimal` holds any such number exactly.
  static let longestNumber = 36

  /// In bytes. A longer key is kept whole in ASCII alone, where comparing is cheap; of another one only the beginning is
  /// kept, and a sign of what is left out, which is not ASCII either.
  static let longestKey = 64

  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  /// - Throws: `.payloadTooLarge` or `.payloadMalformed`.
  static func value(of bytes: [UInt8], atMost largest: Int = largestBytes) throws(AnnouncementError) -> PayloadValue {
    guard bytes.count <= largest else {
      throw AnnouncementError(
        .payloadTooLarge, "payload", "is \(bytes.count) bytes",
        remedy: "a payload is at most \(largestBytes) bytes")
    }
    guard !bytes.isEmpty else { throw malformed("is empty") }
    // JSON has no NUL, and what other encodings make of ASCII has many.
    guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
      throw malformed("is not JSON in UTF-8")
    }
    var parser = PayloadParser(bytes: bytes)
    return try parser.whole()
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// What is wrong with the byte at `position`.
  private func fault(_ reason: String) -> AnnouncementError {
    Self.malformed(
      "is not JSON by RFC 8259: " + (byte == nil ? "it ends too early" : "byte \(position + 1) \(reason)"))
  }

  private static func malformed(
    _ problem: String, remedy: String = "send one JSON object: a payment, or an APNs payload"
  ) -> AnnouncementError {
    AnnouncementError(.payloadMalformed, "payload", problem, remedy: remedy)
  }

  // MARK: Values

  private mutating func whole() throws(AnnouncementError) -> PayloadValue {
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw fault("begins a byte order mark") }
    let value = try value()
    skipBlanks()
    guard position == bytes.count else { throw fault("is behind the end of the value") }
    return value
  }

  private mutating func value() throws(AnnouncementError) -> PayloadValue {
    skipBlanks()
    guard let first = byte else { throw fault("begins no value") }
    switch first {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(String(decoding: try string(), as: UTF8.self))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"): return try literal("true", .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw fault("begins no value")
    }
  }

  private mutating func object() throws(AnnouncementError) -> [String: PayloadValue] {
    try descend()
    var values: [String: PayloadValue] = [:]
    var keys: Set<[UInt8]> = []
    while try isFollowed(isFirst: keys.isEmpty, end: UInt8(ascii: "}")) {
      guard byte == UInt8(ascii: "\"") else { throw fault("begins no key in quotation marks") }
      let key = Array(try string())
      guard keys.insert(key).inserted else { throw Self.repeated(key) }
      guard take(UInt8(ascii: ":")) else { throw fault("is no colon behind a key") }
      values[Self.name(of: key)] = try value()
    }
    depth -= 1
    return values
  }

  private mutating func array() throws(AnnouncementError) -> [PayloadValue] {
    try descend()
    var values: [PayloadValue] = []
    while try isFollowed(isFirst: values.isEmpty, end: UInt8(ascii: "]")) { values.append(try value()) }
    depth -= 1
    return values
  }

  /// Passes over the comma in front of the next element, or over the bracket that ends them.
  private mutating func isFollowed(isFirst: Bool, end: UInt8) throws(AnnouncementError) -> Bool {
    if take(end) { return false }
    guard !isFirst else { return true }
    guard take(UInt8(ascii: ",")) else { throw fault("is neither a comma nor the end of a list or an object") }
    skipBlanks()
    guard byte != end else { throw fault("is an end behind a comma") }
    return true
  }

  /// Passes over the bracket that opens an object or an array.
  private mutating func descend() throws(AnnouncementError) {
    guard depth < Self.deepestNesting else {
      throw Self.malformed(
        "nests deeper than \(Self.deepestNesting) levels",
        remedy: "send the payment as a flat object, bare or under the key payment")
    }
    depth += 1
    position += 1
  }

  private mutating func literal(_ word: StaticString, _ value: PayloadValue) throws(AnnouncementError) -> PayloadValue {
    guard take(word) else { throw fault("begins no value") }
    return value
  }

  // MARK: Keys

  private static func name(of key: [UInt8]) -> String {
    guard key.count > longestKey, key.contains(where: { $0 >= 0x80 }) else {
      return String(decoding: key, as: UTF8.self)
    }
    // No scalar is cut.
    var end = longestKey
    while key[end] & 0xC0 == 0x80 { end -= 1 }
    return String(decoding: key[..<end], as: UTF8.self) + "…"
  }

  private static func repeated(_ key: [UInt8]) -> AnnouncementError {
    let name = PayloadKeys.printable(name(of: key))
    return AnnouncementError(
      .payloadMalformed, name.isEmpty ? "a key" : name, "stands twice in one object",
      remedy: "say each key once, so that every reader takes the same value")
  }

  // MARK: Numbers

  /// The digits as they stand, by RFC 8259, section 6.
  private mutating func number() throws(AnnouncementError) -> String {
    let start = position
    take("-")
    if take("0") {
      if let byte, Self.digits.contains(byte) { throw fault("is a digit behind a leading zero") }
    } else {
      try passDigits()
    }
    if take(".") { try passDigits() }
    if take("e") || take("E") {
      if !take("+") { take("-") }
      try passDigits()
    }
    guard position - start <= Self.longestNumber else {
      throw Self.malformed(
        "holds a number of \(position - start) characters",
        remedy: "a number has at most \(Self.longestNumber); send an amount as a decimal string")
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

  private mutating func passDigits() throws(AnnouncementError) {
    let start = position
    while let byte, Self.digits.contains(byte) { position += 1 }
    guard position > start else { throw fault("is no digit, and the number needs one") }
  }

  // MARK: Strings

  /// The bytes between two quotation marks, without escapes.
  private mutating func string() throws(AnnouncementError) -> ArraySlice<UInt8> {
    position += 1
    let start = position
    while let byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    if byte == UInt8(ascii: "\"") {
      position += 1
      return bytes[start..<position - 1]
    }
    var text = Array(bytes[start..<position])
    while true {
      guard let next = byte, next >= 0x20 else { throw fault("is a control character in a text") }
      position += 1
      switch next {
      case UInt8(ascii: "\""): return text[...]
      case UInt8(ascii: "\\"): try unescape(into: &text)
      default: text.append(next)
      }
    }
  }

  /// Appends what stands behind a reverse solidus.
  private mutating func unescape(into text: inout [UInt8]) throws(AnnouncementError) {
    guard let letter = byte else { throw fault("ends a text") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      text.append(contentsOf: UTF8.encode(try escapedScalar()) ?? UTF8.encodedReplacementCharacter)
    default:
      position -= 1
      throw fault("begins an escape that JSON does not have")
    }
  }

  /// The scalar of one escape, or of the two that are a surrogate pair.
  private mutating func escapedScalar() throws(AnnouncementError) -> Unicode.Scalar {
    let start = position
    var value = try hexadecimal()
    if (0xD800..<0xDC00).contains(value), take("\\u") {
      let low = try hexadecimal()
      value = (0xDC00..<0xE000).contains(low) ? 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00) : value
    }
    guard let scalar = Unicode.Scalar(value) else {
      position = start
      throw fault("begins one half of a surrogate pair")
    }
    return scalar
  }

  /// The value of four hexadecimal digits.
  private mutating func hexadecimal() throws(AnnouncementError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = byte.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw fault("begins an escape that JSON does not have")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  // MARK: Bytes

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  /// Passes over blanks, and over this byte where it stands behind them.
  private mutating func take(_ wanted: UInt8) -> Bool {
    skipBlanks()
    guard byte == wanted else { return false }
    position += 1
    return true
  }

  @discardableResult
  private mutating func take(_ wanted: StaticString) -> Bool {
    guard bytes[position...].starts(with: "\(wanted)".utf8) else { return false }
    position += wanted.utf8CodeUnitCount
    return true
  }
}
