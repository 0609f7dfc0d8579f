// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The decision that was made about an announcement together with its clip: the words, the language, the voice and the
/// clip. Players, pushes and lists all use the decision, so that people hear exactly what the service reported.
///
/// The ledger keeps a decision for as long as it keeps the announcement or an answer about the announcement.
public struct Decision: Sendable, Hashable {
  /// An exact amount.
  public struct Amount: Sendable, Hashable {
    /// The amount as decimal text, with all decimal digits that the currency has.
    public var value: String
    /// The ISO 4217 code of the currency.
    public var currency: String

    public init(value: String, currency: String) {
      (self.value, self.currency) = (value, currency)
    }
  }

  /// The kind of the payment, such as `received`; `text` for free text, and `summary` for a summary of payments.
  public var kind: String
  /// The words that the clip says.
  public var text: String
  /// The language of the words, as a BCP 47 tag.
  public var locale: String
  /// The amount of a payment; nil for everything else.
  public var amount: Amount?
  public var channel: String?
  public var payer: String?
  public var note: String?
  /// The time of the payment, as its sender gave it.
  public var occurredAt: Date?
  public var sequence: Int64?
  /// The id of the payment that a refund pays back.
  public var refundOf: String?
  /// The kind of voice: `speech` (the engine), `clips` (a voice pack) or `mixed` (both).
  public var method: String
  /// The engine's voice, or the id of the voice pack.
  public var voice: String
  /// The digest of the voice pack; nil if the engine spoke all words.
  public var packDigest: String?
  /// The clip. Its name is the digest of its recipe and a file extension.
  public var clip: PublishedClip
  /// The length of the clip, in ms.
  public var durationMilliseconds: Int
  /// The integrated loudness of the clip, in LUFS.
  public var loudnessLUFS: Double
  /// The report's sentences about parts of the text that the clip does not say as they were written.
  public var warnings: [String]
  /// The time of acceptance. The ledger sets it when it stores the decision.
  public package(set) var acceptedAt = Date(timeIntervalSince1970: 0)

  public init(
    kind: String, text: String, locale: String, amount: Amount? = nil, channel: String? = nil, payer: String? = nil,
    note: String? = nil, occurredAt: Date? = nil, sequence: Int64? = nil, refundOf: String? = nil,
    method: String, voice: String, packDigest: String? = nil, clip: PublishedClip, durationMilliseconds: Int,
    loudnessLUFS: Double,
    warnings: [String] = []
  ) {
    self.kind = kind
    self.text = text
    self.locale = locale
    self.amount = amount
    self.channel = channel
    self.payer = payer
    self.note = note
    self.occurredAt = occurredAt
    self.sequence = sequence
    self.refundOf = refundOf
    self.method = method
    self.voice = voice
    self.packDigest = packDigest
    self.clip = clip
    self.durationMilliseconds = durationMilliseconds
    self.loudnessLUFS = loudnessLUFS
    self.warnings = warnings
  }

  /// The warnings as a ledger stores them.
  package var storedWarnings: String { warnings.joined(separator: "\n") }

  private var texts: [String] {
    [kind, text, locale, amount?.value, amount?.currency, channel, payer, note, refundOf, method, voice, packDigest]
      .compactMap(\.self) + warnings
  }

  /// The number of bytes that the decision takes in a row, roughly.
  package var byteCount: Int { texts.reduce(200) { $0 + $1.utf8.count } }

  /// The first rule that a value breaks; nil when the decision can be stored.
  package var brokenRule: String? {
    if texts.contains(where: \.hasZero) { return "decision (texts without NUL)" }
    if byteCount > StoredAnnouncement.maximumPayloadBytes {
      return "decision (at most \(StoredAnnouncement.maximumPayloadBytes) bytes)"
    }
    if let occurredAt, occurredAt.wholeMilliseconds == nil {
      return "occurredAt (a date that the calendar can represent)"
    }
    return clip.brokenRule
  }
}

extension Decision {
  package init(row: some StoredRow) throws {
    let warnings: String = try row.value("warnings")
    self.init(
      kind: try row.value("kind"), text: try row.value("text"), locale: try row.value("locale"),
      amount: try row.text("amount").map { Amount(value: $0, currency: try row.value("currency")) },
      channel: try row.optional("channel"), payer: try row.optional("payer"), note: try row.optional("note"),
      occurredAt: try row.optional("occurred_at"), sequence: try row.optional("sequence"),
      refundOf: try row.optional("refund_of"), method: try row.value("method"), voice: try row.value("voice"),
      packDigest: try row.optional("pack_digest"),
      clip: PublishedClip(name: try row.value("clip"), group: try row.optional("clip_group")),
      durationMilliseconds: try row.value("duration"), loudnessLUFS: try row.value("loudness"),
      warnings: warnings.split(separator: "\n").map(String.init))
    acceptedAt = try row.value("accepted_at")
  }
}
