// SPDX-License-Identifier: Apache-2.0

extension PlaybackItem {
  /// What an announcement is about, which decides who waits for whom: see ``Meeting``.
  ///
  /// Payments and refunds are one stream, because a shopkeeper who hears a refund before the payment it belongs to hears
  /// nonsense.
  public enum Category: String, Sendable, Hashable, Codable, CaseIterable {
    /// Money came.
    case payment
    /// Money went back, was withdrawn, or did not come.
    case refund
    /// Something that wants a hand now.
    case alert
    /// All else.
    case information

    public var isMoney: Bool { self == .payment || self == .refund }

    /// Whether an announcement that waited longer than it lives may be left out. Money never is.
    public var mayExpire: Bool { !isMoney }

    /// Whether there is anything that may make it fall silent. Money and alerts are heard to their end.
    public var mayBeInterrupted: Bool {
      Category.allCases.contains { Meeting.of($0, with: self).whilePlaying == .interrupts }
    }
  }
}
