// SPDX-License-Identifier: Apache-2.0

/// A phrase book's wording for one channel. It is either a name, which the book inserts into its channel phrase
/// (`through {channel}`), or a complete phrase for each kind of payment (`in cash`). For a kind of payment it may also
/// have a sentence of its own.
struct ChannelName: Sendable, Decodable {
  var name: String
  /// The complete phrases, by kind of payment. The key `other` applies to all kinds that have no phrase. With an empty
  /// phrase, the channel is not spoken. For example, nobody says that cash was withdrawn in cash.
  var phrases: [String: String] = [:]
  /// Sentences that replace the book's sentences, by kind of payment, for a channel that needs another verb: cash is
  /// not deposited. The channel's words are a part of the sentence.
  var sentences: [String: SentenceForms] = [:]

  private enum CodingKeys: String, CodingKey { case name, phrases, sentences }

  init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self.name = name
      return
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    name = try fields.decode(String.self, forKey: .name)
    phrases = try fields.decodeIfPresent([String: String].self, forKey: .phrases) ?? [:]
    sentences = try fields.decodeIfPresent([String: SentenceForms].self, forKey: .sentences) ?? [:]
  }

  /// Returns the channel's own phrase for a kind of payment, or `nil` when the book's channel phrase applies.
  func phrase(for kind: Payment.Kind) -> String? { phrases[kind.rawValue] ?? phrases["other"] }
}

/// A sentence of a phrase book. In languages where the verb agrees with the amount, the sentence has a second form for
/// an amount of one unit: हुआ, हुए.
struct SentenceForms: Sendable, Decodable {
  var one: String?
  var other: String

  private enum CodingKeys: String, CodingKey { case one, other }

  init(from decoder: any Decoder) throws {
    if let sentence = try? decoder.singleValueContainer().decode(String.self) {
      other = sentence
      return
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    one = try fields.decodeIfPresent(String.self, forKey: .one)
    other = try fields.decode(String.self, forKey: .other)
  }

  /// Both forms. Each has a suffix that identifies it in errors.
  var named: [(suffix: String, sentence: String)] {
    [("", other)] + (one.map { [(".one", $0)] } ?? [])
  }
}

/// The forms of a sentence, parsed when the book is read.
struct SentenceTemplates: Sendable {
  private let one: SentenceTemplate?
  private let other: SentenceTemplate

  init(_ forms: SentenceForms) {
    one = forms.one.map { SentenceTemplate($0) }
    other = SentenceTemplate(forms.other)
  }

  func template(for amount: Money) -> SentenceTemplate { amount.isOneUnit ? one ?? other : other }

  /// Returns the sentences of a phrase book, parsed.
  static func byKind(_ sentences: [String: SentenceForms]) -> [Payment.Kind: SentenceTemplates] {
    sentences.reduce(into: [:]) { templates, entry in
      if let kind = Payment.Kind(rawValue: entry.key) { templates[kind] = SentenceTemplates(entry.value) }
    }
  }
}
