// SPDX-License-Identifier: Apache-2.0

/// A sentence with placeholders for the fields of a payment: `[{channel} ]到账{amount}[，来自{payer}]`.
///
/// Words outside braces are spoken unchanged. A part in square brackets is spoken only if the placeholder inside it is
/// filled. Brackets cannot be nested.
struct SentenceTemplate: Sendable {
  enum Piece: Equatable, Sendable {
    case words(String)
    case place(Place)
  }

  /// A placeholder that a payment or a summary fills.
  enum Place: String, Sendable {
    case amount, channel, payer, note, count
    /// A channel that the book does not know. Its name is text from outside.
    case otherChannel
    /// A placeholder that sentences must not have. It exists so that a template with `{text}` gets a specific error.
    case text
  }

  private let parts: [Part]

  init(_ template: String) { parts = Self.parts(of: template) }

  /// Returns the pieces that remain when only the given placeholders are filled.
  func pieces(filled: Set<Place>) -> [Piece] {
    parts.flatMap { part in
      let isLeftOut =
        part.isOptional
        && part.pieces.contains { piece in
          if case .place(let place) = piece { !filled.contains(place) } else { false }
        }
      return isLeftOut ? [] : part.pieces
    }
  }

  /// Returns the pieces of a template. Use this for a template that is used only once.
  static func pieces(of template: String, filled: Set<Place>) -> [Piece] {
    SentenceTemplate(template).pieces(filled: filled)
  }

  /// Returns whether the sentence has this placeholder.
  func has(_ place: Place) -> Bool { parts.contains { $0.pieces.contains(.place(place)) } }

  /// Returns what is wrong with the template of a payment sentence, or `nil`.
  ///
  /// Text from outside must come after the amount. If it came first, a listener could mistake a number in it for the
  /// sum paid.
  static func fault(in template: String) -> String? {
    let optional: Set<Place> = [.channel, .otherChannel, .payer, .note]
    if let fault = fault(in: template, required: [.amount], optional: optional, filler: "payment") { return fault }
    let places = parts(of: template).flatMap(\.pieces).compactMap { piece in
      if case .place(let place) = piece { place } else { nil }
    }
    let before = places.prefix { $0 != .amount }
    if let place = before.first(where: { $0 != .channel }) {
      return "has {\(place.rawValue)} before {amount}; text from outside must follow the amount"
    }
    if before.contains(.channel) != places.contains(.otherChannel) {
      return before.contains(.channel)
        ? "has {channel} before {amount}, but no {otherChannel} after it for channels that the book does not know"
        : "has {otherChannel}, but no {channel} before {amount}"
    }
    return nil
  }

  /// Returns what is wrong with the phrase around a channel's name, or `nil`.
  static func channelFault(in template: String) -> String? {
    if template.contains("[") || template.contains("]") { return "has brackets, but cannot have optional parts" }
    return fault(in: template, required: [.channel], optional: [], filler: "channel phrase")
  }

  /// Returns what is wrong with the template of a summary, or `nil`. The template must have no optional part, and there
  /// must be a word between its numbers.
  static func summaryFault(in template: String) -> String? {
    if template.contains("[") || template.contains("]") { return "has brackets, but cannot have optional parts" }
    if let fault = fault(in: template, required: [.count, .amount], optional: [], filler: "summary") { return fault }
    let pieces = pieces(of: template, filled: [])
    let places = pieces.indices.filter { if case .place = pieces[$0] { true } else { false } }
    let isParted = pieces[places[0]...places[1]].contains { piece in
      if case .words(let words) = piece { words.contains(where: \.isLetter) } else { false }
    }
    return isParted ? nil : "has no word between {count} and {amount}, so they would be heard as one number"
  }

  /// Returns what is wrong with a phrase of a banner, or `nil`. The phrase must have this placeholder and no other.
  static func bannerFault(in template: String, _ place: Place) -> String? {
    if template.contains("[") || template.contains("]") { return "has brackets, but cannot have optional parts" }
    return fault(in: template, required: [place], optional: [], filler: "phrase with {\(place.rawValue)}")
  }

  /// Returns what is wrong with a template, or `nil`.
  ///
  /// - Parameters:
  ///   - required: the placeholders that must occur exactly once, in the order of the checks.
  ///   - filler: what fills the placeholders, as a noun for the error.
  private static func fault(
    in template: String, required: [Place], optional: Set<Place>, filler: String
  ) -> String? {
    var depth = 0
    for character in template {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      guard (0...1).contains(depth) else { return "has unbalanced brackets" }
    }
    guard depth == 0 else { return "has unbalanced brackets" }
    let parts = parts(of: template)
    for part in parts {
      for case .words(let words) in part.pieces {
        if words.contains(where: { $0 == "{" || $0 == "}" }) { return "has a brace outside a place like {amount}" }
        if words.unicodeScalars.contains(where: { $0.properties.generalCategory == .decimalNumber }) {
          return "has a digit; write it as a word"
        }
      }
      if part.isOptional, part.pieces.filter({ if case .place = $0 { true } else { false } }).count != 1 {
        return "has an optional part with no place or with several places"
      }
    }
    let places = optional.union(required)
    for part in parts {
      for case .place(let place) in part.pieces {
        guard places.contains(place) else {
          return "has the place {\(place.rawValue)}, which does not exist in a \(filler)"
        }
        if !part.isOptional, optional.contains(place) {
          return "has {\(place.rawValue)} outside brackets, although it is optional"
        }
      }
    }
    let said = parts.filter { !$0.isOptional }.flatMap(\.pieces)
    let wrong = required.first { place in said.filter { $0 == .place(place) }.count != 1 }
    return wrong.map { "must have {\($0.rawValue)} exactly once" }
  }

  private struct Part: Sendable {
    var isOptional: Bool
    var pieces: [Piece]
  }

  private static func parts(of template: String) -> [Part] {
    template.split(separator: "[").flatMap { chunk -> [Part] in
      guard let end = chunk.firstIndex(of: "]") else { return [Part(isOptional: false, pieces: pieces(of: chunk))] }
      let rest = chunk[chunk.index(after: end)...]
      return [Part(isOptional: true, pieces: pieces(of: chunk[..<end]))]
        + (rest.isEmpty ? [] : [Part(isOptional: false, pieces: pieces(of: rest))])
    }
  }

  private static func pieces(of text: Substring) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}"),
      let place = Place(rawValue: String(rest[rest.index(after: open)..<close]))
    {
      if open > rest.startIndex { pieces.append(.words(String(rest[..<open]))) }
      pieces.append(.place(place))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.words(String(rest))) }
    return pieces
  }
}
