// SPDX-License-Identifier: Apache-2.0

/// A book's wording for banners: the key `banner` of a phrase book. These phrases are written for reading. The book's
/// other phrases are written for a voice.
struct BannerPhrases: Sendable, Decodable {
  /// The titles, by kind of payment. Each has the placeholder `{amount}`.
  var titles: [String: SentenceForms]
  /// The phrases around the payer's name, by kind of payment. A kind without a phrase does not show the payer.
  var payer: [String: String]
  /// The phrase around the payment's note.
  var note: String
  /// The text between the payer and the note.
  var separator: String
  /// The written names of the book's channels.
  var channels: [String: String]
  var summary: Summary

  /// The phrases for several payments.
  struct Summary: Sendable, Decodable {
    /// The title for one payment, if it differs from `other`.
    var one: String?
    /// The title for several payments. It has the placeholder `{count}`.
    var other: String
    /// The body. It has the placeholder `{amount}`, which stands for the sums in all currencies.
    var total: String

    func title(for count: Int) -> String { count == 1 ? one ?? other : other }
  }

  /// The largest length of a title without its placeholder, in characters. The title must fit in one line of a phone,
  /// and a count is shorter than a sum.
  private static func longestTitle(_ place: SentenceTemplate.Place) -> Int { place == .count ? 24 : 18 }

  /// What is wrong with the phrases, phrased to follow the word `banner` in a message; `nil` if they are valid.
  ///
  /// - Parameter spoken: the channels that have a spoken name. Each of them needs a written name.
  func fault(spoken: some Collection<String>) -> String? {
    for kind in Payment.Kind.allCases {
      guard let forms = titles[kind.rawValue] else { return ".titles.\(kind.rawValue) is missing" }
      for (suffix, title) in forms.named {
        if let fault = titleFault(title, .amount) { return ".titles.\(kind.rawValue)\(suffix) \(fault)" }
      }
    }
    for (kind, phrase) in payer.sorted(by: { $0.key < $1.key }) {
      guard Payment.Kind(rawValue: kind) != nil else { return ".payer.\(kind) is not a kind of payment" }
      if let fault = SentenceTemplate.bannerFault(in: phrase, .payer) { return ".payer.\(kind) \(fault)" }
    }
    if let fault = SentenceTemplate.bannerFault(in: note, .note) { return ".note \(fault)" }
    if separator.isEmpty || separator.contains(where: { $0.isLetter || $0.isNumber }) {
      return ".separator must be the punctuation between the payer and the note"
    }
    for (name, title) in [("one", summary.one), ("other", summary.other)] {
      if let title, let fault = titleFault(title, .count) { return ".summary.\(name) \(fault)" }
    }
    if let fault = SentenceTemplate.bannerFault(in: summary.total, .amount) { return ".summary.total \(fault)" }
    if let channel = spoken.sorted().first(where: { channels[$0] == nil }) {
      return ".channels.\(channel) is missing"
    }
    for (channel, name) in channels.sorted(by: { $0.key < $1.key }) {
      guard spoken.contains(channel) else { return ".channels.\(channel) is not in the book's channels" }
      if VisibleText.of(name, atMost: Payment.longestChannel) != name {
        return ".channels.\(channel) is empty, is too long, or has white space or invisible characters to remove"
      }
    }
    return nil
  }

  private func titleFault(_ title: String, _ place: SentenceTemplate.Place) -> String? {
    if let fault = SentenceTemplate.bannerFault(in: title, place) { return fault }
    let length = title.count - "{\(place.rawValue)}".count
    let longest = Self.longestTitle(place)
    return length <= longest
      ? nil : "has \(length) characters without {\(place.rawValue)}; at most \(longest) are allowed"
  }
}

extension SentenceForms {
  /// Returns the form of the sentence for an amount.
  func form(for amount: Money) -> String { amount.isOneUnit ? one ?? other : other }
}
