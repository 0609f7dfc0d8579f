// SPDX-License-Identifier: Apache-2.0

/// A finding of a check of a phrase book or its reader, in words for the author of the book or the reader.
public struct BookFinding: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// A fault that must be corrected before the locale is used.
    case problem
    /// Something that only a speaker of the language can judge.
    case note
  }

  public var kind: Kind
  /// A sentence with the words that were said or read, and the reason why they are wrong.
  public var text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
