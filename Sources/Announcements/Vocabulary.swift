// SPDX-License-Identifier: Apache-2.0

/// The finite list of clip tokens that a recorded voice needs for a locale's fixed announcements. The list is divided
/// into blocks, each of which makes further announcements possible.
public struct Vocabulary: Sendable, Hashable {
  public struct Word: Sendable, Hashable {
    /// The name of the clip token.
    public var token: String
    /// The words to record.
    public var text: String
    public var role: Script.Role
    /// Whether an announcement may end with this word. A speaker's voice falls at the end, so the word sounds different
    /// there.
    public var mayEnd: Bool
    /// The text of a whole announcement that contains the word.
    public var example: String
    /// The smallest amount of the block's currency that requires this word, such as `13.00 USD`; `nil` for words that
    /// belong to no amount.
    public var smallestAmount: String?
  }

  public struct Block: Sendable, Hashable {
    /// The announcements that are possible once this block and all before it are recorded:
    /// `every whole amount under 100 in CNY`.
    public var coverage: String
    /// Whether payments in one of the required currencies may need a word of this block. Other blocks serve other
    /// currencies, channels and names, which a shop may never need.
    public var isRequired: Bool
    public var words: [Word]
  }

  /// The locale as a BCP 47 tag.
  public var locale: String
  /// The blocks in recording order.
  public var blocks: [Block]

  public var words: [Word] { blocks.flatMap(\.words) }
}
