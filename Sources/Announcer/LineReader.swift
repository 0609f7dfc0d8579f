// SPDX-License-Identifier: Apache-2.0

/// Splits bytes that arrive in pieces into lines that end with a line feed. It keeps only one line and one piece in
/// memory.
struct LineReader: Sendable {
  struct Line: Equatable {
    /// The line number, from 1.
    var number: Int
    /// The line without its line feed. A line that is too long is cut to its first `longest` bytes and one more.
    var bytes: [UInt8]
  }

  /// The length of the longest line, in bytes.
  let longest: Int

  /// The number of bytes in the lines returned so far.
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

  /// Returns the next line, or `nil` if more bytes are needed or, after ``end()``, if there are no more lines.
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
