// SPDX-License-Identifier: Apache-2.0

package import AmountReadback
package import Announcements
package import SpeakingPlans

/// Words that may be sent to a speech server.
///
/// A speech server may read digits wrongly ("3,497" as "thirty four ninety seven"), and no program can prove that the
/// sound of a neural voice is right. Therefore the words are verified before they are sent, and a value of this type
/// proves that they were verified. Two rules have no exceptions:
///
/// - Only ``of(_:saying:in:readers:)``, ``stretches(of:saying:in:readers:by:)`` and
///   ``excerpt(_:endsSentence:from:readers:)`` create such values. The first two take the parts of a plan after an
///   independent reader has read the plan's words back, and has found exactly the amounts that were paid. The third
///   takes words out of an announcement that was read back in the same way. A row of a recording sheet, such as "twenty
///   dollars" or "received", is not an announcement, so its words are taken from an announcement that contains them.
///   All words of such a row come from a phrase book.
/// - The words contain only letters, their marks, spaces, and the punctuation of sentences. Text with a digit, a sign
///   of a currency, a symbol or markup is refused, wherever it comes from.
public struct ReadBackWords: Sendable, Hashable {
  /// The words in their usual spelling. Respellings are meant for espeak-ng, so they are not sent.
  public let text: String

  /// The language as a BCP 47 tag.
  public let language: String

  /// Whether the words say an amount or a count.
  public let saysAmount: Bool

  /// Whether the words contain a name, a note or another text from outside.
  public let hasNames: Bool

  /// The largest number of scalars. The longest announcement that fits into 30 s has about 600.
  private static let longest = 2_000

  /// - Parameter isOfBook: Whether all words come from a phrase book. The name of a channel then also comes from the
  ///   phrase book, and does not count as text from outside.
  private init(_ run: Script.Run, isOfBook: Bool = false) throws(SpeechServerError) {
    text = run.text
    language = run.language
    saysAmount = run.segments.contains { [.amount, .count].contains($0.role) }
    hasNames = !isOfBook && run.segments.contains { [.channel, .payer, .note, .text].contains($0.role) }
    guard text.unicodeScalars.count <= Self.longest, text.unicodeScalars.allSatisfy(Self.isSendable),
      text.unicodeScalars.contains(where: \.properties.isAlphabetic)
    else { throw .unsendable }
  }

  /// Reads the words of a plan back, and returns those that a server may speak.
  ///
  /// - Parameters:
  ///   - plan: The plan of the announcement.
  ///   - announcement: The announcement whose amounts the words must say.
  ///   - locale: The locale of the script (BCP 47).
  /// - Returns: An element for each part of the plan: the words, or the error that says why they may not be sent; nil
  ///   for a part that is recorded.
  /// - Throws: `ReadbackMismatch` if the words do not say the amounts. No voice may then speak the announcement.
  package static func of(
    _ plan: SpeakingPlan, saying announcement: Announcement, in locale: String, readers: AmountReaders
  ) throws(ReadbackMismatch) -> [Result<ReadBackWords, SpeechServerError>?] {
    try readBack(plan, announcement, locale, readers)
    return plan.parts.map { part in
      guard case .spoken(let run) = part.source else { return nil }
      return Result { () throws(SpeechServerError) in try ReadBackWords(run) }
    }
  }

  /// Reads an announcement back, and returns a few of its words, such as a row of a recording sheet. A server can speak
  /// them by themselves.
  ///
  /// - Parameters:
  ///   - tokens: The names of the words' tokens. They must follow one another in the announcement.
  ///   - endsSentence: Whether a full stop follows the words, so that the pitch of the voice falls. Otherwise a comma
  ///     follows.
  ///   - source: The announcement: a payment or a summary.
  /// - Returns: The words; or the error `wordsUnsendable` if the announcement does not contain them, or if they come
  ///   from its payer, its note, or a channel that the phrase book does not know.
  /// - Throws: `ReadbackMismatch` if the words of the announcement do not say its amounts.
  package static func excerpt(
    _ tokens: [String], endsSentence: Bool, from source: WrittenAnnouncement, readers: AmountReaders
  ) throws(ReadbackMismatch) -> Result<ReadBackWords, SpeechServerError> {
    let script = source.script
    try readBack(SpeakingPlan(spoken: script), source.announcement, script.locale, readers)
    return Result { () throws(SpeechServerError) in
      let pieces = script.pieces
      let isOfBook = pieces.map { piece in
        switch piece.segment.role {
        case .phrase, .amount, .count: piece.token != nil
        case .channel: piece.token != nil && source.hasBookChannel
        case .payer, .note, .text: false
        }
      }
      // A free text has no amount to read back, so none of its words are verified.
      let isProven =
        switch source.announcement {
        case .payment, .summary: true
        case .text, .again: false
        }
      let places = pieces.indices.first { start in
        let said = pieces[start...].prefix(tokens.count)
        return said.map { $0.token?.name } == tokens && said.indices.allSatisfy { isOfBook[$0] }
          && Set(said.map(\.run)).count == 1
      }
      guard isProven, !tokens.isEmpty, let start = places else { throw .unsendable }
      let segments = pieces[start..<start + tokens.count].map(\.segment)
      let words = segments.map(\.text).joined()
      guard let first = words.firstIndex(where: \.isLetter), let last = words.lastIndex(where: \.isLetter) else {
        throw .unsendable
      }
      // The first segment has the whole text. The other segments are empty, and keep the roles of the words.
      var said = segments.map { Script.Segment("", $0.role) }
      said[0].text = words[first...last] + (endsSentence ? "." : ",")
      return try ReadBackWords(Script.Run(language: script.locale, voice: nil, segments: said), isOfBook: true)
    }
  }

  /// Words that follow one another in a part of a plan and have one speaker.
  package enum Stretch: Sendable {
    /// A speech server speaks the words.
    case sent(ReadBackWords, SpeakingServer)
    /// The engine speaks the words, because the server must not speak them; see
    /// ``SpeakingServer/refusal(of:hasNumber:)``. The reason is nil if no server speaks the language.
    case kept(Script.Run, reason: String?)
  }

  /// Reads the words of a plan back, and divides its parts into stretches for the servers and stretches for the engine.
  ///
  /// - Parameter server: Returns the server that speaks a language.
  /// - Returns: The stretches of each part of the plan; an empty array for a part that is recorded.
  /// - Throws: `ReadbackMismatch`, for the same reason as ``of(_:saying:in:readers:)``.
  package static func stretches(
    of plan: SpeakingPlan, saying announcement: Announcement, in locale: String, readers: AmountReaders,
    by server: (_ language: String) -> SpeakingServer?
  ) throws(ReadbackMismatch) -> [[Stretch]] {
    try readBack(plan, announcement, locale, readers)
    return plan.parts.map { part in
      guard case .spoken(let run) = part.source else { return [] }
      guard let server = server(run.language) else { return [.kept(run, reason: nil)] }
      // Without a reader, nobody knows which words are numbers.
      let reader = try? readers.reader(for: run.language)
      return divided(run) { server.refusal(of: $0) { reader?.hasNumberWord(in: $0) ?? true } }.map { stretch in
        if let reason = stretch.reason { return .kept(stretch.run, reason: reason) }
        do throws(SpeechServerError) { return .sent(try ReadBackWords(stretch.run), server) } catch {
          return .kept(stretch.run, reason: error.reason)
        }
      }
    }
  }

  private static func readBack(
    _ plan: SpeakingPlan, _ announcement: Announcement, _ locale: String, _ readers: AmountReaders
  ) throws(ReadbackMismatch) {
    switch announcement {
    case .payment(let payment): try plan.readBack(payment.amount, locale, by: readers)
    case .summary(let summary): try plan.readBack(summary, locale, by: readers)
    case .text, .again: break
    }
  }

  /// Divides a run at each place where the words that the server may speak begin or end. Punctuation stays with the
  /// words before it, or with the first words.
  private static func divided(
    _ run: Script.Run, by refusal: (Script.Segment) -> String?
  ) -> [(run: Script.Run, reason: String?)] {
    let isWord = run.segments.map { $0.text.unicodeScalars.contains(where: \.properties.isAlphabetic) }
    var reason = zip(run.segments, isWord).first { $0.1 }.flatMap { refusal($0.0) }
    var stretches: [(run: Script.Run, reason: String?)] = []
    for (segment, isWord) in zip(run.segments, isWord) {
      if isWord { reason = refusal(segment) }
      if let last = stretches.indices.last, stretches[last].reason == reason {
        stretches[last].run.segments.append(segment)
      } else {
        stretches.append((Script.Run(language: run.language, voice: run.voice, segments: [segment]), reason))
      }
    }
    return stretches
  }

  private static func isSendable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .spaceSeparator:
      true
    // The zero-width non-joiner and joiner, which stand between letters of Indic scripts and of Persian.
    case .format: scalar.value == 0x200C || scalar.value == 0x200D
    case .dashPunctuation, .initialPunctuation, .finalPunctuation: true
    case .openPunctuation, .closePunctuation: !"[]{}".unicodeScalars.contains(scalar)
    case .otherPunctuation: !"#%&*/@\\".unicodeScalars.contains(scalar)
    default: false
    }
  }
}

extension SpeechServerError {
  fileprivate static var unsendable: SpeechServerError {
    SpeechServerError(
      .wordsUnsendable, "was not asked, because the text is not only words",
      remedy: "another voice speaks the text; leave digits, symbols and markup out of names and notes")
  }
}
