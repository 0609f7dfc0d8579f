// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Parses the bytes of a payload in one pass, so the time is proportional to the number of bytes.
///
/// The parser follows RFC 8259 strictly and reports the byte at which the text stops being JSON. It also enforces three
/// rules that Foundation's decoder does not have: a limit for the nesting depth, a limit for the length of a number,
/// and no repeated key within one object.
///
/// Foundation's decoder accepts a comma after the last element, half of a surrogate pair, and a byte order mark
/// (measured, Swift 6.3). It rounds a number of more than 38 digits without an error (measured: `1.000…1` with 45
/// digits becomes 1). If an object has two equal keys, it uses the first one, while other readers use the last. With
/// such a number or such keys, another reader would see a different sum.
///
/// Keys are compared byte by byte. Comparing them as characters would take time that grows with the square of the
/// number of combining marks.
struct PayloadParser {
  static let largestBytes = 64 * 1024
  static let deepestNesting = 16

  /// The largest length of a number, counting digits, point and exponent. A `Decimal` holds any such number exactly.
  static let longestNumber = 36

  /// The largest size of a key in bytes. A longer key is kept whole only if it is ASCII, which is cheap to compare. If
  /// a long key is not ASCII, only its beginning is kept. The beginning is followed by an ellipsis, which is not ASCII,
  /// so the key still counts as non-ASCII.
  static let longestKey = 64

  private let bytes: [UInt8]
  private let deepestNesting: Int
  private var position = 0
  private var depth = 0

  /// Parses one value.
  ///
  /// - Throws: `.payloadTooLarge` or `.payloadMalformed`.
  static func value(
    of bytes: [UInt8], largestBytes: Int = largestBytes, deepestNesting: Int = deepestNesting
  ) throws(AnnouncementError) -> PayloadValue {
    #if CRIER_WATCHDOG
      ParsedPayloads.note(bytes)
    #endif
    guard bytes.count <= largestBytes else {
      throw AnnouncementError(
        .payloadTooLarge, "payload", "is \(bytes.count) bytes",
        remedy: "send at most \(largestBytes) bytes")
    }
    guard !bytes.isEmpty else { throw malformed("is empty") }
    // JSON text never contains NUL. ASCII text encoded as UTF-16 or UTF-32 contains many.
    guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else {
      throw malformed("is not JSON in UTF-8")
    }
    var parser = PayloadParser(bytes: bytes, deepestNesting: deepestNesting)
    return try parser.whole()
  }

  private init(bytes: [UInt8], deepestNesting: Int) { (self.bytes, self.deepestNesting) = (bytes, deepestNesting) }

  /// Returns an error that says what is wrong at `position`.
  private func fault(_ reason: String) -> AnnouncementError {
    Self.malformed(
      "is not valid JSON (RFC 8259): " + (byte == nil ? "the text ends too early" : "\(reason) at \(place)"))
  }

  /// The line and the column of `position`, both counted from 1. A column is one Unicode scalar, as in most editors.
  /// For a text of one line only the column is given, because for a row of a list the line number is already known.
  private var place: String {
    let before = bytes[..<position]
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
    return bytes.contains(UInt8(ascii: "\n")) ? "line \(line), column \(column)" : "column \(column)"
  }

  private static func malformed(
    _ problem: String, remedy: String = "send one JSON object: a payment, or an APNs payload"
  ) -> AnnouncementError {
    AnnouncementError(.payloadMalformed, "payload", problem, remedy: remedy)
  }

  // MARK: Values

  private mutating func whole() throws(AnnouncementError) -> PayloadValue {
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw fault("there is a byte order mark") }
    let value = try value()
    skipBlanks()
    guard position == bytes.count else { throw fault("there is more text after the value") }
    return value
  }

  private mutating func value() throws(AnnouncementError) -> PayloadValue {
    skipBlanks()
    guard let first = byte else { throw fault("a value is missing") }
    switch first {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(String(decoding: try string(), as: UTF8.self))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"): return try literal("true", .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw fault("a value is missing")
    }
  }

  private mutating func object() throws(AnnouncementError) -> [String: PayloadValue] {
    try descend()
    var values: [String: PayloadValue] = [:]
    var keys: Set<[UInt8]> = []
    while try isFollowed(isFirst: keys.isEmpty, end: UInt8(ascii: "}")) {
      guard byte == UInt8(ascii: "\"") else { throw fault("a key in quotation marks is missing") }
      let key = Array(try string())
      guard keys.insert(key).inserted else { throw Self.repeated(key) }
      guard take(UInt8(ascii: ":")) else { throw fault("the colon after a key is missing") }
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

  /// Skips the comma before the next element, or the bracket that ends the list. Returns whether an element follows.
  private mutating func isFollowed(isFirst: Bool, end: UInt8) throws(AnnouncementError) -> Bool {
    if take(end) { return false }
    guard !isFirst else { return true }
    guard take(UInt8(ascii: ",")) else { throw fault("a comma or a closing bracket is missing") }
    skipBlanks()
    guard byte != end else { throw fault("there is a comma before a closing bracket") }
    return true
  }

  /// Skips the bracket that opens an object or an array.
  private mutating func descend() throws(AnnouncementError) {
    guard depth < deepestNesting else {
      throw Self.malformed(
        "nests deeper than \(deepestNesting) levels",
        remedy: "send the payment as a flat object, bare or under the key payment")
    }
    depth += 1
    position += 1
  }

  private mutating func literal(_ word: StaticString, _ value: PayloadValue) throws(AnnouncementError) -> PayloadValue {
    guard take(word) else { throw fault("a value is missing") }
    return value
  }

  // MARK: Keys

  private static func name(of key: [UInt8]) -> String {
    guard key.count > longestKey, key.contains(where: { $0 >= 0x80 }) else {
      return String(decoding: key, as: UTF8.self)
    }
    // The cut must not split a scalar.
    var end = longestKey
    while key[end] & 0xC0 == 0x80 { end -= 1 }
    return String(decoding: key[..<end], as: UTF8.self) + "…"
  }

  private static func repeated(_ key: [UInt8]) -> AnnouncementError {
    let name = PayloadKeys.printable(name(of: key))
    return AnnouncementError(
      .payloadMalformed, name.isEmpty ? "a key" : name, "occurs twice in one object",
      remedy: "give each key only once, so that every reader takes the same value")
  }

  // MARK: Numbers

  /// Returns the digits of a number unchanged, after checking them against RFC 8259, section 6.
  private mutating func number() throws(AnnouncementError) -> String {
    let start = position
    take("-")
    if take("0") {
      if let byte, Self.digits.contains(byte) { throw fault("a number has a leading zero") }
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
        "contains a number that is \(position - start) characters long",
        remedy: "use at most \(Self.longestNumber) characters, and send an amount as a decimal string")
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

  private mutating func passDigits() throws(AnnouncementError) {
    let start = position
    while let byte, Self.digits.contains(byte) { position += 1 }
    guard position > start else { throw fault("a number lacks a digit") }
  }

  // MARK: Strings

  /// Returns the bytes between two quotation marks, with escapes resolved.
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
      guard let next = byte, next >= 0x20 else { throw fault("a string contains a control character") }
      position += 1
      switch next {
      case UInt8(ascii: "\""): return text[...]
      case UInt8(ascii: "\\"): try unescape(into: &text)
      default: text.append(next)
      }
    }
  }

  /// Appends the character for the escape after a backslash.
  private mutating func unescape(into text: inout [UInt8]) throws(AnnouncementError) {
    guard let letter = byte else { throw fault("a string ends too early") }
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
      throw fault("an escape is not valid")
    }
  }

  /// Returns the scalar of one escape, or of two escapes that form a surrogate pair.
  private mutating func escapedScalar() throws(AnnouncementError) -> Unicode.Scalar {
    let start = position
    var value = try hexadecimal()
    if (0xD800..<0xDC00).contains(value), take("\\u") {
      let low = try hexadecimal()
      value = (0xDC00..<0xE000).contains(low) ? 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00) : value
    }
    guard let scalar = Unicode.Scalar(value) else {
      position = start
      throw fault("an escape is half of a surrogate pair")
    }
    return scalar
  }

  /// Returns the value of four hexadecimal digits.
  private mutating func hexadecimal() throws(AnnouncementError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = byte.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw fault("an escape is not valid")
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

  /// Skips white space, and then the wanted byte if it is next. Returns whether the byte was next.
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
