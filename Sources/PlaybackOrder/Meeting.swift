// SPDX-License-Identifier: Apache-2.0

/// What becomes of two announcements that meet.
///
/// Modelled on the priorities of speech-dispatcher (SSIP, "Priority Categories"): its `important` is never interrupted
/// and said in the order in which it came, which is what money needs.
public struct Meeting: Sendable, Hashable {
  /// What the newcomer does while the present one plays.
  public enum WhilePlaying: Sendable, Hashable {
    /// Until it has been heard.
    case waits
    /// The present one falls silent at once and is said again later, from its start.
    case interrupts
  }

  /// Where the newcomer goes when the present one waits.
  public enum WhileWaiting: Sendable, Hashable {
    case before, after
    /// Money by sequence where both have one; else by acceptance.
    ///
    /// Money with a number and money without are two lines, each in its order. The next is taken from the line that
    /// holds the one accepted first, unless that line waits for a missing number.
    case inOrder
  }

  public var whilePlaying: WhilePlaying
  public var whileWaiting: WhileWaiting

  /// The table, pair by pair; every cell is tested. It holds for those whose turn it may be: what waits for a missing
  /// sequence number neither goes before others nor interrupts them until it was waited for.
  ///
  /// | newcomer, present | payment | refund | alert | information |
  /// |---|---|---|---|---|
  /// | payment | waits; in order | waits; in order | waits; before | interrupts; before |
  /// | refund | waits; in order | waits; in order | waits; before | interrupts; before |
  /// | alert | waits; after | waits; after | waits; in order | interrupts; before |
  /// | information | waits; after | waits; after | waits; after | waits; in order |
  public static func of(_ newcomer: PlaybackItem.Category, with present: PlaybackItem.Category) -> Meeting {
    switch (newcomer, present) {
    case (.payment, .payment), (.payment, .refund), (.refund, .payment), (.refund, .refund):
      Meeting(whilePlaying: .waits, whileWaiting: .inOrder)
    case (.payment, .alert), (.refund, .alert): Meeting(whilePlaying: .waits, whileWaiting: .before)
    case (.payment, .information), (.refund, .information):
      Meeting(whilePlaying: .interrupts, whileWaiting: .before)
    case (.alert, .payment), (.alert, .refund): Meeting(whilePlaying: .waits, whileWaiting: .after)
    case (.alert, .alert): Meeting(whilePlaying: .waits, whileWaiting: .inOrder)
    case (.alert, .information): Meeting(whilePlaying: .interrupts, whileWaiting: .before)
    case (.information, .payment), (.information, .refund), (.information, .alert):
      Meeting(whilePlaying: .waits, whileWaiting: .after)
    case (.information, .information): Meeting(whilePlaying: .waits, whileWaiting: .inOrder)
    }
  }
}
