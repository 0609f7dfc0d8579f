// SPDX-License-Identifier: Apache-2.0

/// Splits bytes that come piece by piece into lines that end in a line feed, in memory for one line and one piece.
struct LineReader: Sendable {
  struct Line: Equatable {
    /// From 1.
    var number: Int
    /// Without the line feed; of a longer line its first `longest` bytes and one more.
    var bytes: [UInt8]
  }

  /// In bytes.
  let longest: Int

  /// How many bytes the lines had that were given.
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

  /// Says that no more bytes come: a last line needs no line feed.
  mutating func end() { hasEnded = true }

  /// The next line; `nil` when more bytes are needed, or, after ``end()``, when there is none.
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
