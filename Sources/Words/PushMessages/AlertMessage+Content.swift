// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation

extension AlertMessage {
  /// The part of the payload that the service extension on the phone reads: the key `crier`.
  public struct Content: Sendable, Hashable {
    /// An amount, which the phone reads back and sums up.
    public struct Amount: Sendable, Hashable {
      /// Major units in decimal text, with all digits of the currency: `12.50`.
      public let value: String
      /// The ISO 4217 code.
      public let currency: String

      /// - Throws: ``PushMessageError`` with `amountInvalid`.
      public init(value: String, currency: String) throws(PushMessageError) {
        let parts = value.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }) else {
          throw PushMessageError(.amountInvalid, "must be a decimal number without a sign, such as 12.50")
        }
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard currency.utf8.count == 3, currency.utf8.allSatisfy(letters.contains) else {
          throw PushMessageError(.amountInvalid, "must have a currency of three capital letters, such as CNY")
        }
        self.value = value
        self.currency = currency
      }
    }

    /// The payer, for the sender's picture of a communication notification.
    public struct Payer: Sendable, Hashable, Codable {
      public var name: String
      public var avatarURL: URL?

      public init(name: String, avatarURL: URL? = nil) {
        self.name = name
        self.avatarURL = avatarURL
      }

      private enum CodingKeys: String, CodingKey {
        case name
        case avatarURL = "avatar_url"
      }
    }

    /// The announcement in a form that a phone with the voice pack can say without a network.
    public struct Spoken: Sendable, Hashable {
      /// The id of the voice pack that has a clip for every token.
      public let pack: String
      public let tokens: [ClipToken]

      /// - Throws: ``PushMessageError`` with `tokenInvalid` if the name of a token is empty or contains white space, or
      ///   if a token is a payer's name or a note, because no pack has clips of these.
      public init(pack: String, tokens: [ClipToken]) throws(PushMessageError) {
        guard tokens.allSatisfy({ $0.payload != nil }) else {
          throw PushMessageError(
            .tokenInvalid,
            "must have a name without white space, such as Hong_Kong_dollars, and the role of a recording")
        }
        self.pack = pack
        self.tokens = tokens
      }
    }

    /// The announcement's id.
    public var id: String
    /// The number of the push on its device, which increases by one with each push.
    public var sequence: Int64?
    /// The language of the clip, as a BCP 47 tag.
    public var locale: String
    /// The amount; nil for an announcement without an amount.
    public var amount: Amount?
    /// What happened: `received`, `pending`, `refunded`, `withdrawn` or `failed`; nil if the announcement is not a
    /// payment.
    public var kind: String?
    /// The spoken words.
    public var text: String?
    public var clip: PushedClip?
    public var spoken: Spoken?
    public var payer: Payer?

    public init(
      id: String, sequence: Int64? = nil, locale: String, amount: Amount? = nil, kind: String? = nil,
      text: String? = nil, clip: PushedClip? = nil, spoken: Spoken? = nil, payer: Payer? = nil
    ) {
      self.id = id
      self.sequence = sequence
      self.locale = locale
      self.amount = amount
      self.kind = kind
      self.text = text
      self.clip = clip
      self.spoken = spoken
      self.payer = payer
    }

    /// Reads the content for the extension from a payload. Unknown keys are ignored.
    ///
    /// - Parameter payload: The whole payload in JSON. Only the key `crier` is read.
    /// - Returns: nil if the payload has no key `crier`, so the push does not come from Crier.
    /// - Throws: ``PushMessageError`` with `contentInvalid` if the payload is not JSON, or if a known key has a value
    ///   of the wrong type; `clipInvalid` or `amountInvalid` if the clip or the amount breaks its rules.
    public init?(payload: Data) throws(PushMessageError) {
      struct Outer: Decodable { var crier: Content? }
      guard let content = try decodedPayload(Outer.self, from: payload).crier else { return nil }
      self = content
    }
  }
}

/// Reads a payload; errors name the key and no value.
func decodedPayload<Value: Decodable>(_ type: Value.Type, from payload: Data) throws(PushMessageError) -> Value {
  do {
    return try JSONDecoder().decode(type, from: payload)
  } catch {
    throw PushMessageError(decoding: error)
  }
}

extension PushMessageError {
  /// The error of a payload that a decoder refused. It names the key and no value.
  package init(decoding error: any Error) {
    switch error {
    case let error as PushMessageError: self = error
    case DecodingError.keyNotFound(let key, let context):
      let path = (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
      self.init(.contentInvalid, "must have the key \(path)")
    case DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty,
      DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty,
      DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
      self.init(.contentInvalid, "has a value of another type than docs/push.md says, at the key \(path)")
    default: self.init(.contentInvalid, "must be a JSON object, with integers of at most 64 bits")
    }
  }
}

extension AlertMessage.Content: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, sequence, locale, amount, currency, kind, text, clip, pack, tokens, payer
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    let value = try keys.decodeIfPresent(String.self, forKey: .amount)
    let currency = try keys.decodeIfPresent(String.self, forKey: .currency)
    let pack = try keys.decodeIfPresent(String.self, forKey: .pack)
    let texts = try keys.decodeIfPresent([String].self, forKey: .tokens) ?? []
    // A newer service may send roles that this version does not know. Saying only some of the tokens would be wrong, so
    // none of them is used.
    let tokens = texts.compactMap(ClipToken.init(payload:))
    let areKnown = !texts.isEmpty && tokens.count == texts.count
    self.init(
      id: try keys.decode(String.self, forKey: .id),
      sequence: try keys.decodeIfPresent(Int64.self, forKey: .sequence),
      locale: try keys.decode(String.self, forKey: .locale),
      amount: value == nil && currency == nil ? nil : try Amount(value: value ?? "", currency: currency ?? ""),
      kind: try keys.decodeIfPresent(String.self, forKey: .kind),
      text: try keys.decodeIfPresent(String.self, forKey: .text),
      clip: try keys.decodeIfPresent(PushedClip.self, forKey: .clip),
      spoken: areKnown ? try pack.map { try Spoken(pack: $0, tokens: tokens) } : nil,
      payer: try keys.decodeIfPresent(Payer.self, forKey: .payer))
  }

  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: CodingKeys.self)
    try keys.encode(id, forKey: .id)
    try keys.encodeIfPresent(sequence, forKey: .sequence)
    try keys.encode(locale, forKey: .locale)
    try keys.encodeIfPresent(amount?.value, forKey: .amount)
    try keys.encodeIfPresent(amount?.currency, forKey: .currency)
    try keys.encodeIfPresent(kind, forKey: .kind)
    try keys.encodeIfPresent(text, forKey: .text)
    try keys.encodeIfPresent(clip, forKey: .clip)
    try keys.encodeIfPresent(spoken?.pack, forKey: .pack)
    try keys.encodeIfPresent(spoken?.tokens.compactMap(\.payload), forKey: .tokens)
    try keys.encodeIfPresent(payer, forKey: .payer)
  }
}
