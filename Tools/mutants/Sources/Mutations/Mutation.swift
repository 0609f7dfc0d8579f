// SPDX-License-Identifier: Apache-2.0

/// One small mistake in a source file.
public struct Mutation: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A condition is negated, or a truth value is replaced by the other one.
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

  /// The construct with which a program chooses between the code and the mistake while it runs.
  public enum Form: Sendable, Hashable {
    /// `c ? a : b`
    case expression
    /// The same, with arrays of the elements, because a mistake may give a range of another type.
    case elements
    /// `if c { a } else { b }`
    case statement
    /// `if c { a }`, for a statement that the mistake leaves out.
    case removal
  }

  public let kind: Kind
  public let form: Form
  /// The place of the expression or statement that contains the mistake, in bytes from the start of the file.
  public let range: Range<Int>
  /// The expression or statement with the mistake.
  public let replacement: String

  /// Returns the source with the mistake.
  public func applied(to source: String) -> String {
    var bytes = Array(source.utf8)
    bytes.replaceSubrange(range, with: replacement.utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the number of the line in which the mistake begins, counted from 1.
  public func line(in source: String) -> Int {
    let same = zip(source.utf8.dropFirst(range.lowerBound), replacement.utf8).prefix { $0 == $1 }.count
    return source.utf8.prefix(range.lowerBound + same).count { $0 == UInt8(ascii: "\n") } + 1
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
