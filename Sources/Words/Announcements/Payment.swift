// SPDX-License-Identifier: Apache-2.0

public import struct Foundation.Date

/// A payment, as reported by a merchant's backend.
public struct Payment: Sendable, Hashable {
  /// The direction and outcome of a payment.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case received
    /// The payment was begun, and no money has arrived yet.
    case pending
    case refunded, withdrawn, failed
  }

  /// The payment's id, unique per account; `nil` when the payment was typed at a command line.
  public var id: String?
  public var amount: Money
  public var kind: Kind

  /// The payment channel. If the phrase book knows the name, it is translated. Any other name is spoken as given.
  public var channel: String?

  /// The payer's name, at most ``longestPayer`` characters long.
  public var payer: String?

  /// The pronunciation of the payer's name (kana, pinyin), for names whose spelling does not show it. It is at most
  /// ``longestPayer`` characters long.
  public var payerReading: String?

  /// The payer's message, at most ``longestNote`` characters long.
  public var note: String?

  /// The locale as a BCP 47 tag.
  public var locale: String?

  /// The id of the payment that a refund pays back; nil for other kinds, and if the sender did not state it.
  public var refundOf: String?

  /// The payment's number in the sequence of its device. The number increases by one for each payment.
  public var sequence: Int64?
  public var occurredAt: Date?

  /// The largest length of a payer's name, in characters.
  public static let longestPayer = 80
  public static let longestNote = 200
  public static let longestChannel = 80

  public init(
    id: String? = nil, amount: Money, kind: Kind = .received, channel: String? = nil, payer: String? = nil,
    payerReading: String? = nil, note: String? = nil, locale: String? = nil, refundOf: String? = nil,
    sequence: Int64? = nil, occurredAt: Date? = nil
  ) {
    self.id = id
    self.amount = amount
    self.kind = kind
    self.channel = channel
    self.payer = payer
    self.payerReading = payerReading
    self.note = note
    self.locale = locale
    self.refundOf = refundOf
    self.sequence = sequence
    self.occurredAt = occurredAt
  }
}

/// An announcement: a payment, a text, a summary of several payments, or the words before a repeated announcement.
public enum Announcement: Sendable, Hashable {
  case payment(Payment)

  /// A text to be spoken in `locale` (BCP 47), at most ``longestText`` characters long.
  case text(String, locale: String?)

  /// Several waiting payments as one announcement. Shortening a clip never removes a part of a summary.
  case summary(PaymentSummary)

  /// The word spoken before a repeated announcement, in `locale` (BCP 47): `Again`.
  case again(locale: String?)

  /// The largest length of a text in characters. Such a text takes much longer than 30 s to speak. The error for a text
  /// that is only somewhat too long can therefore report how long it would take.
  public static let longestText = 2_000

  /// The locale that the announcement itself requests.
  public var locale: String? {
    switch self {
    case .payment(let payment): payment.locale
    case .text(_, let locale), .again(let locale): locale
    case .summary(let summary): summary.locale
    }
  }
}
