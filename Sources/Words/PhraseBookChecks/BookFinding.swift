// SPDX-License-Identifier: Apache-2.0

/// What a check found in a phrase book or in its reader, in words for the person who writes them.
public struct BookFinding: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// The locale must not be used like this.
    case problem
    /// Something that only a speaker of the language can judge.
    case note
  }

  public var kind: Kind
  /// A sentence: what was said or read, and why that is wrong.
  public var text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
