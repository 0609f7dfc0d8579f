// SPDX-License-Identifier: Apache-2.0

/// One small mistake in a source file.
public struct Mutation: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A condition is negated, or a truth value is the other one.
    case condition
    /// A comparison or a range includes its boundary, or no longer does.
    case boundary
    /// Another operation, or a number that is one larger.
    case arithmetic
    /// A call is left out.
    case removedCall = "removed call"
    /// Two arguments of a call have changed their places.
    case swappedArguments = "swapped arguments"
  }

  public let kind: Kind
  /// The place of the text that is replaced, in bytes from the start of the file.
  public let range: Range<Int>
  public let replacement: String

  /// Returns the source with the mistake.
  public func applied(to source: String) -> String {
    var bytes = Array(source.utf8)
    bytes.replaceSubrange(range, with: replacement.utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the number of the line in which the mistake begins, counted from 1.
  public func line(in source: String) -> Int {
    source.utf8.prefix(range.lowerBound).count { $0 == UInt8(ascii: "\n") } + 1
  }

  /// Returns the lines that the mistake changes, as a difference with `-` and `+`.
  public func difference(in source: String) -> String {
    func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    let (before, after) = (lines(source), lines(applied(to: source)))
    let start = zip(before, after).prefix { $0 == $1 }.count
    let end = zip(before.dropFirst(start).reversed(), after.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    return (before[start..<(before.count - end)].map { "-\($0)" } + after[start..<(after.count - end)].map { "+\($0)" })
      .joined(separator: "\n")
  }
}
