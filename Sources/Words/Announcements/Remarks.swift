// SPDX-License-Identifier: Apache-2.0

/// The parts of an announcement that a listener does not hear, or hears differently from their spelling. They are
/// included in the report.
public struct Remarks: Sendable, Hashable {
  /// A part of a field that is not spoken.
  public struct Unspoken: Sendable, Hashable, Codable {
    /// The payload's field: `payer`, `note`, `channel`, `text`.
    public var field: String
    /// The unspoken part, spelled as in the field.
    public var text: String

    public init(field: String, text: String) {
      self.field = field
      self.text = text
    }
  }

  public var unspoken: [Unspoken] = []

  /// Warnings as sentences for people. They contain no amount and no name.
  public var warnings: [String] = []

  public init() {}

  mutating func addRefusedReading(_ spelling: NameReading.Spelling, at place: Int) {
    let expected =
      switch spelling {
      case .pinyin: "neither pinyin with tones nor a Chinese character"
      case .kana: "neither kana nor romaji"
      case .ownScripts: "not a letter of the language"
      }
    warnings.append("payer_reading: character \(place) is \(expected), so the name is spoken as it is written")
  }

  /// Warns if people of the locale speak another language than the book.
  mutating func addLanguage(_ locale: String, _ book: PhraseBook) {
    guard locale != book.locale, let spoken = book.content.spokenLanguage else { return }
    let subtags = locale.replacing("_", with: "-").lowercased().split(separator: "-").dropFirst()
    guard !spoken.unlike.isDisjoint(with: subtags.map(String.init)) else { return }
    warnings.append("locale: no book has this language, so it is spoken in \(spoken.name) (\(book.locale))")
  }

  mutating func add(_ reading: FreeText.Reading, field: String, _ book: PhraseBook) {
    unspoken += reading.unspoken.map { Unspoken(field: field, text: $0) }
    for warning in reading.warnings {
      switch warning {
      case .uncertainSum:
        warnings.append("\(field): a sum can be read in two ways, so its digits are said one by one")
      case .sumWithoutName:
        warnings.append("\(field): a sum is not spoken, because the voice has no name for its currency")
      case .sumInName:
        warnings.append("\(field): a sum of money is not spoken, because a listener would take it for the sum paid")
      case .borrowedVoice(let language):
        let remedy = field == "payer" ? "; give payer_reading to have it read in \(book.locale)" : ""
        warnings.append("\(field): a part is read by a voice of another language (\(language))\(remedy)")
      }
    }
  }
}
