// SPDX-License-Identifier: Apache-2.0

/// A sentence with places for what a payment holds: `[{channel} ]到账{amount}[，来自{payer}]`.
///
/// Words outside braces are said as they stand. A part in square brackets is said only when the one place in it is
/// filled. Brackets do not nest.
struct SentenceTemplate: Sendable {
  enum Piece: Equatable, Sendable {
    case words(String)
    case place(Place)
  }

  /// What a payment or a summary fills in.
  enum Place: String, Sendable {
    case amount, channel, payer, note, count
    /// A channel that the book does not know: text from outside.
    case otherChannel
    /// What fills no sentence, and is told to whoever writes it into one.
    case text
  }

  private let parts: [Part]

  init(_ template: String) { parts = Self.parts(of: template) }

  /// The pieces that are left when only the given places are filled.
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

  /// The pieces of a template that is used once.
  static func pieces(of template: String, filled: Set<Place>) -> [Piece] {
    SentenceTemplate(template).pieces(filled: filled)
  }

  /// Whether the sentence has this place.
  func has(_ place: Place) -> Bool { parts.contains { $0.pieces.contains(.place(place)) } }

  /// What is wrong with a payment's template, or `nil`.
  ///
  /// Text from outside stands behind the amount: before it, a listener would take a number in it for the sum paid.
  static func fault(in template: String) -> String? {
    let optional: Set<Place> = [.channel, .otherChannel, .payer, .note]
    if let fault = fault(in: template, required: [.amount], optional: optional, filler: "payment") { return fault }
    let places = parts(of: template).flatMap(\.pieces).compactMap { piece in
      if case .place(let place) = piece { place } else { nil }
    }
    let before = places.prefix { $0 != .amount }
    if let place = before.first(where: { $0 != .channel }) {
      return "says {\(place.rawValue)} before {amount}, and what others write stands behind it"
    }
    if before.contains(.channel) != places.contains(.otherChannel) {
      return before.contains(.channel)
        ? "says {channel} before {amount}, and has no {otherChannel} behind it for channels that the book does not know"
        : "has {otherChannel}, and {channel} is not said before {amount}"
    }
    return nil
  }

  /// What is wrong with the phrase around a channel's name, or `nil`.
  static func channelFault(in template: String) -> String? {
    if template.contains("[") || template.contains("]") { return "has brackets, and nothing in it may be absent" }
    return fault(in: template, required: [.channel], optional: [], filler: "channel phrase")
  }

  /// What is wrong with the template of a summary, or `nil`: nothing in it may be absent, and a word parts its numbers.
  static func summaryFault(in template: String) -> String? {
    if template.contains("[") || template.contains("]") { return "has brackets, and nothing in it may be absent" }
    if let fault = fault(in: template, required: [.count, .amount], optional: [], filler: "summary") { return fault }
    let pieces = pieces(of: template, filled: [])
    let places = pieces.indices.filter { if case .place = pieces[$0] { true } else { false } }
    let isParted = pieces[places[0]...places[1]].contains { piece in
      if case .words(let words) = piece { words.contains(where: \.isLetter) } else { false }
    }
    return isParted ? nil : "has no word between {count} and {amount}, which would be heard as one number"
  }

  /// - Parameters:
  ///   - required: places that stand exactly once, in the order in which they are looked for.
  ///   - filler: what fills the places.
  private static func fault(
    in template: String, required: [Place], optional: Set<Place>, filler: String
  ) -> String? {
    var depth = 0
    for character in template {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      guard (0...1).contains(depth) else { return "has brackets that do not pair" }
    }
    guard depth == 0 else { return "has brackets that do not pair" }
    let parts = parts(of: template)
    for part in parts {
      for case .words(let words) in part.pieces {
        if words.contains(where: { $0 == "{" || $0 == "}" }) { return "has a place that is not a name in braces" }
        if words.unicodeScalars.contains(where: { $0.properties.generalCategory == .decimalNumber }) {
          return "has a digit; write it as a word"
        }
      }
      if part.isOptional, part.pieces.filter({ if case .place = $0 { true } else { false } }).count != 1 {
        return "has an optional part without exactly one place"
      }
    }
    let places = optional.union(required)
    for part in parts {
      for case .place(let place) in part.pieces {
        guard places.contains(place) else {
          return "has the place {\(place.rawValue)}, which a \(filler) does not fill"
        }
        if !part.isOptional, optional.contains(place) {
          return "says {\(place.rawValue)} outside brackets, and it may be absent"
        }
      }
    }
    let said = parts.filter { !$0.isOptional }.flatMap(\.pieces)
    let wrong = required.first { place in said.filter { $0 == .place(place) }.count != 1 }
    return wrong.map { "does not say {\($0.rawValue)} exactly once" }
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
