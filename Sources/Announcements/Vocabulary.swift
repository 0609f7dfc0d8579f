// SPDX-License-Identifier: Apache-2.0

/// Everything that a locale's fixed announcements are made of: the finite list of clip tokens that a recorded voice
/// needs, in blocks that each buy something.
public struct Vocabulary: Sendable, Hashable {
  public struct Word: Sendable, Hashable {
    /// The clip token's name.
    public var token: String
    /// What is said.
    public var text: String
    public var role: Script.Role
    /// Whether an announcement may end with it: said so, with a falling voice, it sounds different.
    public var mayEnd: Bool
    /// A whole announcement in which the word stands, as text.
    public var example: String
    /// The smallest amount of the block's currency that cannot be said without this word, such as `13.00 USD`; `nil`
    /// for words of no amount.
    public var smallestAmount: String?
  }

  public struct Block: Sendable, Hashable {
    /// What can be said once this block and those before it are recorded: `every whole amount under 100 in CNY`.
    public var coverage: String
    /// Whether an announcement of a payment in one of the asked currencies may need a word of this block; if not, it is
    /// wanted for other currencies, or for channels and names that a shop may never meet.
    public var isRequired: Bool
    public var words: [Word]
  }

  /// BCP 47.
  public var locale: String
  /// In the order of recording.
  public var blocks: [Block]

  public var words: [Word] { blocks.flatMap(\.words) }
}
