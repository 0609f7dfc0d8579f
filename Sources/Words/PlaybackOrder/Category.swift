// SPDX-License-Identifier: Apache-2.0

extension PlaybackItem {
  /// The category of an announcement. The categories of two announcements decide which of them waits; see ``Meeting``.
  ///
  /// Payments and refunds share one order, because a refund makes no sense to a shopkeeper before the payment it
  /// belongs to.
  public enum Category: String, Sendable, Hashable, Codable, CaseIterable {
    /// Money was received.
    case payment
    /// Money was refunded or withdrawn, failed to arrive, or is still pending.
    case refund
    /// An event that needs immediate attention.
    case alert
    /// Everything else.
    case information

    public var isMoney: Bool { self == .payment || self == .refund }

    /// Whether an expired announcement may be dropped. Announcements of money are never dropped.
    public var mayExpire: Bool { !isMoney }

    /// Whether an announcement of another category may interrupt an announcement of this category. Announcements of
    /// money, and alerts, always play to their end.
    public var mayBeInterrupted: Bool {
      Category.allCases.contains { Meeting.of($0, with: self).whilePlaying == .interrupts }
    }
  }
}
