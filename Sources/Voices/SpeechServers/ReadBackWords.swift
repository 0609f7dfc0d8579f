// SPDX-License-Identifier: Apache-2.0

package import AmountReadback
package import Announcements
package import SpeakingPlans

/// Words that may be sent to a speech server.
///
/// A speech server may read digits wrongly ("3,497" as "thirty four ninety seven"), and nobody can prove the sound of a
/// neural voice. What is proven are the words, and this type is the proof. There are two rules, and no way around them:
///
/// - Only ``of(_:saying:in:readers:)`` makes such words. It takes the parts of a plan after an independent reader has read
///   the plan's words back, and has found exactly the amounts that were paid.
/// - The words contain only letters, their marks, spaces, and the punctuation of sentences. Text with a digit, a sign of
///   a currency, a symbol or markup is refused, wherever it comes from.
public struct ReadBackWords: Sendable, Hashable {
  /// The words in their usual spelling. Respellings are made for another engine, so they are not sent.
  public let text: String

  /// The language as a BCP 47 tag.
  public let language: String

  /// Whether the words say an amount or a count.
  public let saysAmount: Bool

  /// Whether the words contain a name, a note or another text from outside.
  public let hasNames: Bool

  /// The largest number of scalars. The longest announcement that fits into 30 s has about 600.
  private static let longest = 2_000

  private init(_ run: Script.Run) throws(SpeechServerError) {
    text = run.text
    language = run.language
    saysAmount = run.segments.contains { [.amount, .count].contains($0.role) }
    hasNames = run.segments.contains { [.channel, .payer, .note, .text].contains($0.role) }
    guard text.unicodeScalars.count <= Self.longest, text.unicodeScalars.allSatisfy(Self.isSendable),
      text.unicodeScalars.contains(where: \.properties.isAlphabetic)
    else {
      throw SpeechServerError(
        .wordsUnsendable, "was not asked, because the text is not only words",
        remedy: "another voice speaks it; leave digits, symbols and markup out of names and notes")
    }
  }

  /// Reads the words of a plan back, and returns those that a server may speak.
  ///
  /// - Parameters:
  ///   - plan: The plan of the announcement.
  ///   - announcement: The announcement whose amounts the words must say.
  ///   - locale: The locale of the script (BCP 47).
  /// - Returns: An element for each part of the plan: the words, or why they may not be sent; nil for a part that is
  ///   recorded.
  /// - Throws: `ReadbackMismatch` if the words do not say the amounts. Nothing may then be spoken, by no voice.
  package static func of(
    _ plan: SpeakingPlan, saying announcement: Announcement, in locale: String, readers: AmountReaders
  ) throws(ReadbackMismatch) -> [Result<ReadBackWords, SpeechServerError>?] {
    switch announcement {
    case .payment(let payment): try plan.readBack(payment.amount, locale, by: readers)
    case .summary(let summary): try plan.readBack(summary, locale, by: readers)
    case .text, .again: break
    }
    return plan.parts.map { part in
      guard case .spoken(let run) = part.source else { return nil }
      return Result { () throws(SpeechServerError) in try ReadBackWords(run) }
    }
  }

  private static func isSendable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .spaceSeparator:
      true
    // Marks between the letters of Indic scripts and of Persian.
    case .format: scalar.value == 0x200C || scalar.value == 0x200D
    case .dashPunctuation, .initialPunctuation, .finalPunctuation: true
    case .openPunctuation, .closePunctuation: !"[]{}".unicodeScalars.contains(scalar)
    case .otherPunctuation: !"#%&*/@\\".unicodeScalars.contains(scalar)
    default: false
    }
  }
}
