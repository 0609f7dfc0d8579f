// SPDX-License-Identifier: Apache-2.0

import Announcements

/// A place in an announcement where the words of a clip occur in running speech.
struct SpokenContext: Hashable {
  /// The tokens of the clip.
  var tokens: [String]
  var position: ClipPosition

  /// The words, spelled as in the phrase book.
  var text: String

  /// The range of the clip's words. Positions are counted in ``spokenLength`` from the start of the announcement.
  var extent: Range<Int>
}

/// An announcement that is spoken as a whole, with the clips that are cut out of it.
struct SpokenSentence {
  var source: WrittenAnnouncement
  var run: Script.Run
  var contexts: [SpokenContext]
}

/// The announcements from which the clips of a locale are cut.
///
/// The phrase book writes the announcements. They cover the numbers below a hundred before each unit, both in the
/// middle of a sentence and at its end. They also cover the words around the amount, and the units of the book's other
/// currencies.
struct SpokenContexts {
  /// The powers of ten whose multiples below a hundred have clips of their own, such as “twenty thousand”. Languages
  /// have words for some of these powers: hundred, thousand, 万, लाख.
  static let powers: [Int64] = [100, 1_000, 10_000, 100_000]

  /// The sentences in speaking order. Each sentence has at least one context that no earlier sentence has.
  private(set) var sentences: [SpokenSentence] = []

  private let writer: ScriptWriter
  private let groups: WordGroups
  private var known: Set<TokenPlace> = []

  /// Writes the announcements of a locale.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  init(writer: ScriptWriter) throws(AnnouncementError) {
    self.writer = writer
    guard let own = writer.ownCurrency else { throw .unspeakableBook }
    groups = try WordGroups(writer: writer, currency: own)
    let channel = writer.book.channels.first
    for kind in Payment.Kind.allCases {
      try add(major: 12, own, kind: kind)
      for channel in writer.book.channels { try add(major: 12, own, kind: kind, channel: channel) }
    }
    let half = own.minorUnitsPerMajor / 2
    for count in Int64(1)...99 {
      for power in Self.powers { try add(major: count * power + 18, minor: half, own) }
      for major in [6_300 + count, count] {
        try add(major: major, minor: half, own)
        try add(major: major, own)
        try add(major: major, own, channel: channel)
      }
      if count < own.minorUnitsPerMajor {
        try add(major: 7_308, minor: count, own)
        try add(major: 7_308, minor: count, own, channel: channel)
      }
    }
    for major: Int64 in [400, 4_000, 40_000, 400_000, 4_000_000] {
      try add(major: major, minor: half, own)
      try add(major: major, own)
      try add(major: major, own, channel: channel)
    }
    // For other currencies, the sentences cover only the units, and the numbers that contain a word without a clip.
    for currency in writer.bookCurrencies where currency != own {
      for major: Int64 in [1, 18, 300, 8_000] {
        try add(major: major, currency)
        try add(major: major, minor: currency.minorUnitsPerMajor / 2, currency)
        try add(major: major, currency, channel: channel)
      }
      if currency.minorUnitsPerMajor > 1 { try add(major: 18, minor: 1, currency) }
    }
    if let other = writer.bookCurrencies.first(where: { $0 != own }) {
      for count in Int64(1)...99 { try add(major: count, minor: other.minorUnitsPerMajor / 2, other) }
    }
  }

  private mutating func add(
    major: Int64, minor: Int64 = 0, _ currency: Currency, kind: Payment.Kind = .received, channel: String? = nil
  ) throws(AnnouncementError) {
    let amount = try Money(minorUnits: major * currency.minorUnitsPerMajor + minor, currency: currency)
    let source = try writer.written(.payment(Payment(amount: amount, kind: kind, channel: channel)))
    let script = source.script
    // The script must consist of one run, because a name in another voice would interrupt the sentence.
    guard script.runs.count == 1, let run = script.runs.first else { return }
    let contexts = contexts(in: script.pieces).filter {
      known.insert(TokenPlace(tokens: $0.tokens, position: $0.position)).inserted
    }
    if !contexts.isEmpty { sentences.append(SpokenSentence(source: source, run: run, contexts: contexts)) }
  }

  private func contexts(in pieces: [Script.Piece]) -> [SpokenContext] {
    var starts = [0]
    for piece in pieces { starts.append(starts[starts.count - 1] + piece.segment.text.spokenLength) }
    var contexts: [SpokenContext] = []
    for stretch in pieces.indices.split(whereSeparator: { pieces[$0].token == nil }) {
      let tokens = pieces[stretch].compactMap(\.token)
      for group in groups.groups(of: tokens.map(\.name)) {
        let said = tokens[group]
        guard let last = said.last, Set(said.map(\.role)).count == 1 else { continue }
        let (first, end) = (stretch.startIndex + group.lowerBound, stretch.startIndex + group.upperBound)
        let text = pieces[first..<end].map(\.segment.text).joined()
        contexts.append(
          SpokenContext(
            tokens: said.map(\.name), position: last.pause.position,
            text: text.trimmingToLetters, extent: starts[first]..<starts[end]))
      }
    }
    return contexts
  }
}

extension AnnouncementError {
  /// The error for a phrase book without a currency.
  static var unspeakableBook: AnnouncementError {
    AnnouncementError(
      .currencyUnspeakable, "currency", "the phrase book has no currency", remedy: "add a currency under currencies")
  }
}

extension ClipToken.Pause {
  /// The position of a clip that is followed by this pause.
  fileprivate var position: ClipPosition {
    switch self {
    case .word, .piece: .plain
    case .clause: .rising
    case .sentence, .end: .final
    }
  }
}

extension String {
  /// The number of characters in a text that the engine pronounces, which are all except white space and punctuation.
  /// It is used to align the engine's marks with the segments of the same text.
  var spokenLength: Int {
    unicodeScalars.count { scalar in
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
        .spacingMark:
        true
      default: false
      }
    }
  }

  /// The text from its first to its last letter.
  fileprivate var trimmingToLetters: String {
    String(drop { !$0.isLetter }.reversed().drop { !$0.isLetter }.reversed())
  }
}
