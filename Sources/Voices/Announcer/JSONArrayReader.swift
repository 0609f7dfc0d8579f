// SPDX-License-Identifier: Apache-2.0

/// Divides a JSON array that arrives in pieces into its elements. Memory holds only one element and one piece.
///
/// The reader finds the ends of the elements by their brackets and strings. It does not check an element itself, so an
/// element that is not valid JSON does not affect the other elements.
struct JSONArrayReader: Sendable {
  struct Element: Equatable {
    /// The number of the element, counted from 1.
    var number: Int
    /// The number of the line on which the element begins, counted from 1.
    var line: Int
    /// The bytes of the element. If the element is too long, these are only its first `longest` + 1 bytes.
    var bytes: [UInt8]
  }

  /// A fault after which the rest of the array cannot be divided.
  struct Fault: Error, Equatable {
    /// The number and the first line of the element at which reading ends.
    var number: Int
    var line: Int
    var problem: String
    var remedy: String
  }

  private enum State {
    case beforeArray, beforeFirst, beforeNext, inElement, afterArray, failed
  }

  /// The largest permitted length of an element, in bytes.
  let longest: Int

  /// The number of bytes that were read up to the end of the last element.
  private(set) var consumedBytes = 0

  private var buffer: [UInt8] = []
  private var position = 0
  private var hasEnded = false
  private var state = State.beforeArray
  private var readBytes = 0
  private var line = 1
  private var element = Element(number: 0, line: 1, bytes: [])
  /// The number of open brackets and braces in the element.
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  private static let blanks = Set(" \t\r\n".utf8)
  private static let byteOrderMark = Set([0xEF, 0xBB, 0xBF] as [UInt8])

  init(longest: Int) { self.longest = longest }

  mutating func append(_ bytes: some Collection<UInt8>) {
    buffer.removeFirst(position)
    position = 0
    buffer += bytes
  }

  /// Marks the end of the input.
  mutating func end() { hasEnded = true }

  /// Returns the next element. The result is `nil` if more bytes are needed or, after ``end()``, if there are no more
  /// elements.
  mutating func next() throws(Fault) -> Element? {
    while position < buffer.count, state != .failed {
      let byte = buffer[position]
      position += 1
      readBytes += 1
      defer { if byte == UInt8(ascii: "\n") { line += 1 } }
      if state == .inElement {
        if let whole = take(byte) { return whole }
      } else if !Self.blanks.contains(byte) {
        try step(byte)
      }
    }
    if hasEnded { try checkEnd() }
    return nil
  }

  /// Reads a byte between the elements that is not white space.
  private mutating func step(_ byte: UInt8) throws(Fault) {
    switch (state, byte) {
    // The array may begin with a byte order mark.
    case (.beforeArray, _) where Self.byteOrderMark.contains(byte): break
    case (.beforeArray, UInt8(ascii: "[")): state = .beforeFirst
    case (.beforeArray, _): throw fault("does not begin with [", "give a JSON array")
    case (.beforeFirst, UInt8(ascii: "]")): state = .afterArray
    case (.beforeFirst, UInt8(ascii: ",")), (.beforeNext, UInt8(ascii: ",")), (.beforeNext, UInt8(ascii: "]")):
      throw fault("is missing", "remove the comma, or write an object")
    case (.afterArray, _):
      throw fault("follows the array", "end the list with its bracket")
    default:
      element = Element(number: element.number + 1, line: line, bytes: [])
      (state, depth, isInString, isEscaped) = (.inElement, 0, false, false)
      _ = take(byte)
    }
  }

  /// Reads a byte of the element.
  ///
  /// - Returns: The element if the byte ends it.
  private mutating func take(_ byte: UInt8) -> Element? {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
    } else {
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0:
        state = byte == UInt8(ascii: ",") ? .beforeNext : .afterArray
        consumedBytes = readBytes
        return element
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
      default: break
      }
    }
    if element.bytes.count <= longest { element.bytes.append(byte) }
    return nil
  }

  private mutating func checkEnd() throws(Fault) {
    switch state {
    case .beforeArray, .afterArray, .failed: break
    case .beforeFirst, .beforeNext:
      throw fault("is missing, because the list ends without its bracket ]", "give the whole list")
    case .inElement:
      let (number, line) = (element.number, element.line)
      state = .failed
      throw Fault(
        number: number, line: line, problem: "does not end",
        remedy: "look for a brace, a bracket or a quotation mark that is not closed")
    }
  }

  /// Ends the reading, and returns the fault at the place where the next element would begin.
  private mutating func fault(_ problem: String, _ remedy: String) -> Fault {
    state = .failed
    return Fault(number: element.number + 1, line: line, problem: problem, remedy: remedy)
  }
}
