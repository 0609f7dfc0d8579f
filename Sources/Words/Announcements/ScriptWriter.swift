// SPDX-License-Identifier: Apache-2.0

/// Writes the scripts of announcements with the words of one phrase book.
public struct ScriptWriter: Sendable {
  /// The steps that shorten a clip to keep it under 30 s, in the order in which they are tried.
  public enum Shortening: String, Sendable, Hashable, Codable, CaseIterable {
    case note, payer, rate
    case amountOnly = "amount_only"
  }

  public let book: PhraseBook
  /// The locale for which the book was chosen.
  let askedLocale: String
  let voices: ScriptVoices
  let pronunciations: Pronunciations
  /// The user's lexicon for the book's language, combined with the book's own readings.
  let lexicon: ReplacementTable
  let sumWords: SumWords
  var smallSums: SmallSums

  /// Returns the script of an announcement; see ``writing(of:shortenings:)``.
  public func script(
    for announcement: Announcement, shortenings: Set<Shortening> = []
  ) throws(AnnouncementError) -> Script {
    try writing(of: announcement, shortenings: shortenings).script
  }

  /// Writes the script of an announcement. Returns it with remarks about the parts that are not spoken.
  ///
  /// - Parameter shortenings: the pieces to leave out. `rate` changes no words.
  /// - Throws: `.currencyUnspeakable`; `.nothingToSay` for free text that contains no word. If a payer, note or channel
  ///   cannot be spoken, it is left out, and the payment is still announced.
  public func writing(
    of announcement: Announcement, shortenings: Set<Shortening> = []
  ) throws(AnnouncementError) -> (script: Script, remarks: Remarks) {
    var runs = RunBuilder()
    var remarks = Remarks()
    remarks.addLanguage(askedLocale, book)
    switch announcement {
    case .text(let text, _):
      let reading = freeText.reading(of: text, as: .text)
      remarks.add(reading, field: "text", book)
      guard !reading.pieces.isEmpty else {
        throw AnnouncementError(
          .nothingToSay, "text", "has no word that a voice can say", remedy: "give at least one word")
      }
      for piece in reading.pieces { runs.append(piece, .text) }
    case .payment(var payment) where shortenings.contains(.amountOnly):
      if payment.kind == .received {
        try appendAmount(of: payment, to: &runs)
      } else {
        // If only a sum is said, listeners understand that money was received. For any other kind of payment, the
        // sentence is kept.
        (payment.channel, payment.payer, payment.note) = (nil, nil, nil)
        try append(payment, without: [], to: &runs, &remarks)
      }
    case .payment(let payment):
      try append(payment, without: shortenings, to: &runs, &remarks)
    case .summary(let summary):
      for (index, total) in summary.totals.enumerated() {
        if index > 0 { runs.append(book.piece(book.content.summary.separator), .phrase) }
        try append(total, to: &runs)
      }
    case .again: runs.append(book.piece(book.content.again), .phrase)
    }
    let script = Script(
      locale: book.locale, runs: runs.finished.map(pronunciations.respelled), rate: book.rate)
    return (script, remarks)
  }

  /// Returns the run with the respellings that its voice needs.
  public func respelled(_ run: Script.Run) -> Script.Run { pronunciations.respelled(run) }

  private var freeText: FreeText {
    FreeText(book: book, voices: voices, pronunciations: pronunciations, lexicon: lexicon, sumWords: sumWords)
  }

  private typealias Filled = [SentenceTemplate.Place: [(piece: FreeText.Piece, role: Script.Role)]]

  private func append(
    _ payment: Payment, without shortenings: Set<Shortening>, to runs: inout RunBuilder, _ remarks: inout Remarks
  ) throws(AnnouncementError) {
    var filled: Filled = [:]
    func read(_ text: String, as kind: FreeTextScanner.Kind, _ role: Script.Role) -> [FreeText.Piece] {
      let reading = freeText.reading(of: text, as: kind)
      remarks.add(reading, field: role.rawValue, book)
      return reading.pieces
    }
    let sentence = book.sentence(for: payment)
    if let channel = payment.channel {
      let known = book.content.channels[channel.lowercased()]
      if known?.phrase(for: payment.kind) == "" {
        remarks.unspoken.append(Remarks.Unspoken(field: "channel", text: channel))
      } else if known == nil, sentence.has(.otherChannel) {
        filled[.otherChannel] = read(channel, as: .name, .channel).map { ($0, .channel) }
      } else {
        filled[.channel] = self.channel(channel, payment.kind) { read($0, as: .name, .channel) }
      }
    }
    if let payer = payment.payer, !shortenings.contains(.payer) {
      filled[.payer] = self.payer(payer, payment.payerReading, &remarks).map { ($0, .payer) }
    }
    if let note = payment.note, !shortenings.contains(.note) {
      filled[.note] = read(note, as: .note, .note).map { ($0, .note) }
    }
    let places = Set(filled.filter { !$0.value.isEmpty }.keys)
    for piece in sentence.pieces(filled: places) {
      switch piece {
      case .words(let words): runs.append(book.piece(words), .phrase)
      case .place(.amount): try appendAmount(of: payment, to: &runs)
      case .place(let place): for part in filled[place] ?? [] { runs.append(part.piece, part.role) }
      }
    }
  }

  /// Returns the words for a channel: either the book's complete phrase for it, or the book's channel phrase with the
  /// channel's name inserted.
  private func channel(
    _ channel: String, _ kind: Payment.Kind, read: (String) -> [FreeText.Piece]
  ) -> [(piece: FreeText.Piece, role: Script.Role)] {
    let known = book.content.channels[channel.lowercased()]
    if let phrase = known?.phrase(for: kind) { return [(book.piece(phrase), .channel)] }
    let name = known.map { [named($0.name)] } ?? read(channel)
    guard !name.isEmpty else { return [] }
    let phrases = book.channelPhrases
    let template = phrases[kind.rawValue] ?? phrases["other"] ?? SentenceTemplate("{channel}")
    var said: [(piece: FreeText.Piece, role: Script.Role)] = []
    for piece in template.pieces(filled: [.channel]) {
      switch piece {
      case .words(let words): said.append((book.piece(words), .phrase))
      case .place: said += name.map { ($0, .channel) }
      }
    }
    return said
  }

  /// Returns a name from the book, with the pronunciation from the lexicon.
  private func named(_ name: String) -> FreeText.Piece {
    var piece = book.piece(name)
    if !lexicon.isEmpty {
      let lowered = name.unicodeScalars.map(\.lowercased)
      if let entry = lexicon.match(lowered, at: 0), entry.key.count == lowered.count { piece.said = entry.value }
    }
    return piece
  }

  /// Returns the words for a payer. The form of address that the sentence adds is removed from the name. The
  /// pronunciation comes from the payload.
  private func payer(_ payer: String, _ payerReading: String?, _ remarks: inout Remarks) -> [FreeText.Piece] {
    let name = freeText.reading(of: book.withoutHonorific(payer), as: .name)
    guard let payerReading, let reading = self.reading(payerReading, &remarks) else {
      remarks.add(name, field: "payer", book)
      return name.pieces
    }
    guard reading.count == 1, var piece = reading.first else { return reading }
    let written = name.pieces.map(\.text).joined(separator: " ")
    if !written.isEmpty { (piece.text, piece.said) = (written, piece.said ?? piece.text) }
    return [piece]
  }

  /// Returns the words for the pronunciation of a payer's name; nil if no voice can speak it, or if the book's voice
  /// does not read its spelling.
  private func reading(_ payerReading: String, _ remarks: inout Remarks) -> [FreeText.Piece]? {
    var said = book.withoutHonorific(payerReading)
    var isPinyin = false
    if let spelling = book.content.nameReadings {
      do throws(NameReading.Fault) {
        let reading = try NameReading(said, spelling, ownScripts: book.writingSystems)
        (said, isPinyin) = (reading.said, reading.isPinyin)
      } catch {
        remarks.addRefusedReading(spelling, at: error.place)
        return nil
      }
    }
    var reading =
      if !isPinyin {
        freeText.reading(of: said, as: .name)
      } else if sumWords.sounds.isSum(said) {
        FreeText.Reading(unspoken: [said], warnings: [.sumInName])
      } else {
        FreeText.Reading(pieces: [book.piece(said)])
      }
    // The remarks quote the payload, and not the spelling for the voice.
    if said != payerReading, !reading.unspoken.isEmpty { reading.unspoken = [payerReading] }
    remarks.add(reading, field: "payer", book)
    return reading.pieces.isEmpty ? nil : reading.pieces
  }

  private func append(_ total: PaymentSummary.Total, to runs: inout RunBuilder) throws(AnnouncementError) {
    for piece in SentenceTemplate.pieces(of: book.content.summary.sentence(of: total.count), filled: []) {
      switch piece {
      case .words(let words): for clause in words.clauses { runs.append(book.piece(clause), .phrase) }
      case .place(.amount): try appendAmount(total.amount, to: &runs)
      // A valid book has no third kind of placeholder here.
      case .place: for word in AmountGrammar(book: book).count(total.count) { runs.append(book.piece(word), .count) }
      }
    }
  }

  /// Appends the amount of a payment. If the settings ask for it, a word marks a very small amount.
  private func appendAmount(of payment: Payment, to runs: inout RunBuilder) throws(AnnouncementError) {
    if smallSums.contains(payment.amount) { runs.append(book.piece(book.content.only), .phrase) }
    try appendAmount(payment.amount, to: &runs)
  }

  private func appendAmount(_ amount: Money, to runs: inout RunBuilder) throws(AnnouncementError) {
    for word in try AmountGrammar(book: book).words(amount) { runs.append(book.piece(word), .amount) }
  }
}

extension PhraseBook {
  fileprivate func piece(_ words: String) -> FreeText.Piece {
    FreeText.Piece(language: locale, voice: voice, text: words)
  }

  /// Returns a name without the form of address at its end, because the sentence itself adds one.
  func withoutHonorific(_ name: String) -> String {
    guard let honorifics = content.honorifics else { return name }
    let trimmed = name.trimmed
    let ending = honorifics.filter { trimmed.hasSuffix($0) && trimmed != $0 }.max { $0.count < $1.count }
    return ending.map { String(trimmed.dropLast($0.count)).trimmed } ?? name
  }
}

/// Joins pieces into runs. Adjacent pieces of the same voice become one run, so that the engine receives whole clauses.
private struct RunBuilder {
  private var runs: [Script.Run] = []

  mutating func append(_ piece: FreeText.Piece, _ role: Script.Role) {
    if let last = runs.indices.last, runs[last].voice == piece.voice {
      var segment = Script.Segment(piece.text, role, respelled: piece.said)
      // White space and punctuation alone do not form a segment. They are added to the start of the next segment,
      // unless that segment is part of a number, because its words are read back.
      if let before = runs[last].segments.last, before.role == .phrase, !before.text.contains(where: { $0.isLetter }),
        role != .amount, role != .count
      {
        runs[last].segments.removeLast()
        segment.text = before.text + segment.text
        segment.respelled = segment.respelled.map { before.text + $0 }
      }
      runs[last].segments.append(segment)
      return
    }
    // A run must begin with a word. A comma before that word is moved to the end of the previous run.
    let opening = piece.text.prefix { !$0.isLetter }
    if let last = runs.indices.last, !opening.isEmpty {
      runs[last].segments.append(Script.Segment(String(opening), .phrase))
    }
    let words = String(piece.text.dropFirst(opening.count))
    guard !words.isEmpty else { return }
    runs.append(
      Script.Run(
        language: piece.language, voice: piece.voice,
        segments: [Script.Segment(words, role, respelled: piece.said)]))
  }

  /// The runs without white space at their ends.
  var finished: [Script.Run] {
    runs.map { run in
      var run = run
      while let last = run.segments.indices.last {
        while run.segments[last].text.last?.isWhitespace == true { run.segments[last].text.removeLast() }
        while run.segments[last].respelled?.last?.isWhitespace == true { run.segments[last].respelled?.removeLast() }
        guard run.segments[last].text.isEmpty else { break }
        run.segments.removeLast()
      }
      return run
    }
  }
}
