// SPDX-License-Identifier: Apache-2.0

/// How a phrase book names one channel: by a name, which the book puts into its channel phrase (`through {channel}`), or
/// by phrases of the channel's own (`in cash`).
struct ChannelName: Sendable, Decodable {
  var name: String
  /// By kind of payment, and `other` for the kinds without one.
  var phrases: [String: String] = [:]

  private enum CodingKeys: String, CodingKey { case name, phrases }

  init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self.name = name
      return
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    name = try fields.decode(String.self, forKey: .name)
    phrases = try fields.decode([String: String].self, forKey: .phrases)
  }

  /// The channel's own phrase for a kind of payment; `nil` when the book's channel phrase serves.
  func phrase(for kind: Payment.Kind) -> String? { phrases[kind.rawValue] ?? phrases["other"] }
}

/// A sentence of a phrase book, with a form for an amount of one unit where the verb agrees with it: हुआ, हुए.
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

  /// Both forms with their names for errors.
  var named: [(suffix: String, sentence: String)] {
    [("", other)] + (one.map { [(".one", $0)] } ?? [])
  }
}

/// The forms of a sentence, taken apart when the book is read.
struct SentenceTemplates: Sendable {
  private let one: SentenceTemplate?
  private let other: SentenceTemplate

  init(_ forms: SentenceForms) {
    one = forms.one.map { SentenceTemplate($0) }
    other = SentenceTemplate(forms.other)
  }

  func template(for amount: Money) -> SentenceTemplate { amount.isOneUnit ? one ?? other : other }
}
