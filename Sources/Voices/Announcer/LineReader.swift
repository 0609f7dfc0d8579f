// SPDX-License-Identifier: Apache-2.0

/// Splits bytes that arrive in pieces into lines. A line ends with a line feed. Memory holds only one line and one
/// piece.
struct LineReader: Sendable {
  struct Line: Equatable {
    /// The number of the line, counted from 1.
    var number: Int
    /// The bytes of the line without its line feed. If the line is too long, these are only its first `longest` + 1
    /// bytes.
    var bytes: [UInt8]
  }

  /// The largest permitted length of a line, in bytes.
  let longest: Int

  /// The number of bytes in the lines that were returned so far.
  private(set) var consumedBytes = 0

  private var buffer: [UInt8] = []
  private var position = 0
  private var hasEnded = false
  private var number = 0
  private var line: [UInt8] = []
  private var lineBytes = 0

  init(longest: Int) { self.longest = longest }

  mutating func append(_ bytes: some Collection<UInt8>) {
    buffer.removeFirst(position)
    position = 0
    buffer += bytes
  }

  /// Marks the end of the input. The last line needs no line feed.
  mutating func end() { hasEnded = true }

  /// Returns the next line. The result is `nil` if more bytes are needed or, after ``end()``, if there are no more
  /// lines.
  mutating func next() -> Line? {
    let rest = buffer[position...]
    let end = rest.firstIndex(of: UInt8(ascii: "\n"))
    let part = rest[..<(end ?? rest.endIndex)]
    line += part.prefix(longest + 1 - line.count)
    lineBytes += part.count + (end == nil ? 0 : 1)
    position = end.map { $0 + 1 } ?? rest.endIndex
    guard end != nil || hasEnded && lineBytes > 0 else { return nil }
    consumedBytes += lineBytes
    number += 1
    defer { (line, lineBytes) = ([], 0) }
    return Line(number: number, bytes: line)
  }
}
