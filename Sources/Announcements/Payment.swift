// SPDX-License-Identifier: Apache-2.0

public import struct Foundation.Date

/// Money that moved, as a merchant's backend tells it.
public struct Payment: Sendable, Hashable {
  /// What happened to the money.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case received, refunded, withdrawn, failed
  }

  /// Unique per account; `nil` when the payment was typed at a command line.
  public var id: String?
  public var amount: Money
  public var kind: Kind

  /// How it was paid: a name the phrase book knows, else spoken as it stands.
  public var channel: String?

  /// Who paid, at most ``longestPayer`` characters.
  public var payer: String?

  /// How the payer's name is said (kana, pinyin), where its writing does not tell; at most ``longestPayer`` characters.
  public var payerReading: String?

  /// What the payer wrote, at most ``longestNote`` characters.
  public var note: String?

  /// BCP 47.
  public var locale: String?

  /// Rises by one per device.
  public var sequence: Int64?
  public var occurredAt: Date?

  /// The payload's limits, in characters.
  public static let longestPayer = 80
  public static let longestNote = 200
  public static let longestChannel = 80

  public init(
    id: String? = nil, amount: Money, kind: Kind = .received, channel: String? = nil, payer: String? = nil,
    payerReading: String? = nil, note: String? = nil, locale: String? = nil, sequence: Int64? = nil,
    occurredAt: Date? = nil
  ) {
    self.id = id
    self.amount = amount
    self.kind = kind
    self.channel = channel
    self.payer = payer
    self.payerReading = payerReading
    self.note = note
    self.locale = locale
    self.sequence = sequence
    self.occurredAt = occurredAt
  }
}

/// What is to be said: a payment, free text, or several payments in one.
public enum Announcement: Sendable, Hashable {
  case payment(Payment)

  /// Text spoken as it stands, at most ``longestText`` characters, in `locale` (BCP 47).
  case text(String, locale: String?)

  /// A backlog of payments told as one; no step that shortens leaves anything out of it.
  case summary(PaymentSummary)

  /// What is heard before an announcement that is heard again, in `locale` (BCP 47): `Again`.
  case again(locale: String?)

  /// Far more than 30 s of speech, so that text which is merely too long is told how long it is.
  public static let longestText = 2_000

  /// The locale that the announcement itself asks for.
  public var locale: String? {
    switch self {
    case .payment(let payment): payment.locale
    case .text(_, let locale), .again(let locale): locale
    case .summary(let summary): summary.locale
    }
  }
}
