// SPDX-License-Identifier: Apache-2.0

/// The rule for a new announcement and one that is already playing or waiting.
///
/// It is modelled on the priorities of speech-dispatcher (SSIP, "Priority Categories"). There, `important` messages are
/// never interrupted and are spoken in order, which is what money needs.
public struct Meeting: Sendable, Hashable {
  /// The effect of a new announcement on the one that is playing.
  public enum WhilePlaying: Sendable, Hashable {
    /// The new announcement waits until the playing one has ended.
    case waits
    /// The playing announcement stops at once, and is played again later from its start.
    case interrupts
  }

  /// The place of a new announcement relative to a waiting one.
  public enum WhileWaiting: Sendable, Hashable {
    case before, after
    /// Two announcements of money are ordered by sequence number if both have one, and otherwise by acceptance.
    ///
    /// Money with sequence numbers and money without them form two queues. The next announcement comes from the queue
    /// that contains the earliest accepted announcement, unless that queue waits for a missing number.
    case inOrder
  }

  public var whilePlaying: WhilePlaying
  /// The place of the new announcement relative to a waiting one. ``PlaybackOrder/next(at:)`` produces this order by
  /// taking money before alerts, and alerts before information. Tests compare the rule and the result for each cell of
  /// the table.
  public var whileWaiting: WhileWaiting

  /// The rule for each pair of categories; every cell is tested. A cell gives the effect on a playing announcement, and
  /// then the place relative to a waiting one. The rule applies to announcements that may play now. An announcement
  /// that waits for a missing sequence number neither goes before others nor interrupts them until its waiting time has
  /// passed.
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
