// SPDX-License-Identifier: Apache-2.0

/// Why a payload, a phrase book or an amount could not become words.
///
/// `description` names the field, the shape of what was given and what would be right; it never holds an amount,
/// a name or a note, so it may be logged and sent back to a caller as it is.
public struct AnnouncementError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is; stable, for programs to branch on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case payloadTooLarge = "payload_too_large"
    case payloadMalformed = "payload_malformed"
    case fieldMissing = "field_missing"
    case fieldInvalid = "field_invalid"
    case fieldUnknown = "field_unknown"
    case fieldsConflict = "fields_conflict"
    case localeUnknown = "locale_unknown"
    case currencyUnspeakable = "currency_unspeakable"
    case nothingToSay = "nothing_to_say"
    case phraseBookInvalid = "phrase_book_invalid"
    case phraseBooksMissing = "phrase_books_missing"
    case lexiconInvalid = "lexicon_invalid"
  }

  public var code: Code

  /// The field or file at fault, as its writer spells it: `payment.amount`, `zh-CN.json`.
  public var subject: String

  /// What is wrong with it, in the shape of the value and not the value itself: `a string of 3 letters`.
  public var problem: String

  /// What would be right, or what to do next.
  public var remedy: String

  public init(_ code: Code, _ subject: String, _ problem: String, remedy: String) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(subject): \(problem); \(remedy)" + (remedy.hasSuffix("?") ? "" : ".") }
}
