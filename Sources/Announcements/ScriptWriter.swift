// SPDX-License-Identifier: Apache-2.0

/// Writes the script of an announcement in one phrase book.
public struct ScriptWriter: Sendable {
  /// The steps that make a long clip shorter, in the order they are taken; the product's rule for 30 s.
  public enum Shortening: String, Sendable, Hashable, Codable, CaseIterable {
    case note, payer, rate
    case amountOnly = "amount_only"
  }

  public let book: PhraseBook
  let voices: ScriptVoices

  init(book: PhraseBook, voices: ScriptVoices) {
    self.book = book
    self.voices = voices
  }

  /// - Parameter shortenings: which pieces to leave out. `rate` changes no words.
  /// - Throws: `.currencyUnspeakable`; `.nothingToSay` for free text without a word. A payer, note or channel in which
  ///   nothing can be spoken is left out: the payment is announced all the same.
  public func script(
    for announcement: Announcement, shortenings: Set<Shortening> = []
  ) throws(AnnouncementError) -> Script {
    var runs = RunBuilder()
    switch announcement {
    case .text(let text, _):
      let pieces = freeText.pieces(text)
      guard !pieces.isEmpty else {
        throw AnnouncementError(
          .nothingToSay, "text", "has no word that a voice can say", remedy: "give at least one word")
      }
      for piece in pieces { runs.append(piece, .text) }
    case .payment(var payment) where shortenings.contains(.amountOnly):
      if payment.kind == .received {
        try appendAmount(payment.amount, to: &runs)
      } else {
        // A sum by itself is heard as money received: what else happened to it stays said.
        (payment.channel, payment.payer, payment.note) = (nil, nil, nil)
        try append(payment, without: [], to: &runs)
      }
    case .payment(let payment):
      try append(payment, without: shortenings, to: &runs)
    case .summary(let summary):
      for (index, total) in summary.totals.enumerated() {
        if index > 0 { runs.append(book.piece(book.content.summary.separator), .phrase) }
        try append(total, to: &runs)
      }
    }
    return Script(locale: book.locale, runs: runs.finished, rate: book.rate)
  }

  private var freeText: FreeText { FreeText(book: book, voices: voices) }

  private func append(
    _ payment: Payment, without shortenings: Set<Shortening>, to runs: inout RunBuilder
  ) throws(AnnouncementError) {
    var filled: [Script.Role: [FreeText.Piece]] = [:]
    if let channel = payment.channel {
      filled[.channel] =
        book.content.channels[channel.lowercased()].map { name in
          [FreeText.Piece(language: book.locale, voice: book.voice, text: name)]
        } ?? freeText.pieces(channel)
    }
    if let payer = payment.payer, !shortenings.contains(.payer) { filled[.payer] = freeText.pieces(payer) }
    if let note = payment.note, !shortenings.contains(.note) { filled[.note] = freeText.pieces(note) }
    let places = Set(filled.filter { !$0.value.isEmpty }.keys)
    // The book was checked to have a sentence for each kind.
    let sentence = book.content.sentences[payment.kind.rawValue] ?? "{amount}"
    for piece in SentenceTemplate.pieces(of: sentence, filled: places) {
      switch piece {
      case .words(let words): runs.append(book.piece(words), .phrase)
      case .place(.amount): try appendAmount(payment.amount, to: &runs)
      case .place(let role): for part in filled[role] ?? [] { runs.append(part, role) }
      }
    }
  }

  private func append(_ total: PaymentSummary.Total, to runs: inout RunBuilder) throws(AnnouncementError) {
    for piece in SentenceTemplate.pieces(of: book.content.summary.sentence(of: total.count), filled: []) {
      switch piece {
      case .words(let words): for clause in words.clauses { runs.append(book.piece(clause), .phrase) }
      case .place(.amount): try appendAmount(total.amount, to: &runs)
      // The book was checked to have no third place.
      case .place: for word in AmountGrammar(book: book).count(total.count) { runs.append(book.piece(word), .count) }
      }
    }
  }

  private func appendAmount(_ amount: Money, to runs: inout RunBuilder) throws(AnnouncementError) {
    for word in try AmountGrammar(book: book).words(amount) { runs.append(book.piece(word), .amount) }
  }
}

extension PhraseBook {
  fileprivate func piece(_ words: String) -> FreeText.Piece {
    FreeText.Piece(language: locale, voice: voice, text: words)
  }
}

/// Joins pieces into runs: neighbours of one voice become one run, so that the engine hears whole clauses.
private struct RunBuilder {
  private var runs: [Script.Run] = []

  mutating func append(_ piece: FreeText.Piece, _ role: Script.Role) {
    if let last = runs.indices.last, runs[last].voice == piece.voice {
      runs[last].segments.append(Script.Segment(piece.text, role))
      return
    }
    // A run begins with a word: a comma before it closes the clause of the run that ended.
    let opening = piece.text.prefix { !$0.isLetter }
    if let last = runs.indices.last, !opening.isEmpty {
      runs[last].segments.append(Script.Segment(String(opening), .phrase))
    }
    let words = String(piece.text.dropFirst(opening.count))
    guard !words.isEmpty else { return }
    runs.append(
      Script.Run(language: piece.language, voice: piece.voice, segments: [Script.Segment(words, role)]))
  }

  /// Runs without white space hanging at their ends.
  var finished: [Script.Run] {
    runs.map { run in
      var run = run
      while let last = run.segments.indices.last {
        while run.segments[last].text.last?.isWhitespace == true { run.segments[last].text.removeLast() }
        guard run.segments[last].text.isEmpty else { break }
        run.segments.removeLast()
      }
      return run
    }
  }
}
