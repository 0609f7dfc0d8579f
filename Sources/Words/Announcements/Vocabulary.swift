// SPDX-License-Identifier: Apache-2.0

/// The finite list of clip tokens that a recorded voice needs for the fixed words of a locale's announcements. It is
/// divided into blocks. Each block makes further announcements possible.
public struct Vocabulary: Sendable, Hashable {
  public struct Word: Sendable, Hashable {
    /// The name of the clip token.
    public var token: String
    /// The words to record.
    public var text: String
    public var role: Script.Role
    /// Whether an announcement may end with this word. A speaker lowers the voice at the end, so the word sounds
    /// different there.
    public var mayEnd: Bool
    /// The text of a whole announcement that contains the word.
    public var example: String
    /// The smallest amount of the block's currency that requires this word, such as `13.00 USD`; `nil` for words that
    /// are not part of amounts.
    public var smallestAmount: String?
    /// An announcement that contains the word, by which the word can be read back.
    package var source: WrittenAnnouncement? = nil
  }

  public struct Block: Sendable, Hashable {
    /// The announcements that become possible when this block and all blocks before it are recorded:
    /// `every whole amount under 100 in CNY`.
    public var coverage: String
    /// Whether payments in one of the required currencies may need a word of this block. The other blocks are for
    /// currencies, channels and names that a shop may never need.
    public var isRequired: Bool
    public var words: [Word]
  }

  /// The locale as a BCP 47 tag.
  public var locale: String
  /// The blocks in recording order.
  public var blocks: [Block]

  public var words: [Word] { blocks.flatMap(\.words) }
}
