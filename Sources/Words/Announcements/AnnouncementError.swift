// SPDX-License-Identifier: Apache-2.0

/// The reason why a payload, a phrase book or an amount could not be turned into words.
///
/// `description` names the field, describes the shape of its value, and says how to correct it. It never contains an
/// amount, a name or a note, so it can be logged and returned to a caller unchanged.
public struct AnnouncementError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error. The raw values are stable, so that programs can branch on them.
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
    /// A list of announcements without a row.
    case listEmpty = "list_empty"
  }

  public var code: Code

  /// The field or file that has the error, spelled as in the input: `payment.amount`, `zh-CN.json`.
  public var subject: String

  /// What is wrong. The text describes the shape of the value and never the value itself: `is a string of 3 letters`.
  public var problem: String

  /// What a correct value looks like, or what to do next.
  public var remedy: String

  /// The other faults of the same payload, at most ``mostOthers``. Their own ``others`` are empty.
  public var others: [AnnouncementError] = []

  /// The largest number of ``others``.
  public static let mostOthers = 19

  public init(_ code: Code, _ subject: String, _ problem: String, remedy: String) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(subject): \(problem); \(remedy)" + (remedy.hasSuffix("?") ? "" : ".") }
}
