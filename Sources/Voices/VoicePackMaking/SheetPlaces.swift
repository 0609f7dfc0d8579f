// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The rows of the recording sheet to which the clips of a pack belong.
///
/// A pack does not state which sheet its speaker read. Sheets of other currencies have the same word in other rows. A
/// row is therefore only known if all sheets that the speaker may have read have the word in the same row.
public struct SheetPlaces: Sendable {
  private let sheets: [[SheetRow]]

  /// - Parameter sheet: the rows of the sheet that the speaker read.
  public init(sheet: [SheetRow]) { sheets = [sheet] }

  /// Creates the places of a pack whose sheet is not known. It may be the locale's whole sheet, the sheet of a single
  /// currency, or the sheet of all currencies for which the pack has words. Sheets that lack a clip of the pack are
  /// left out.
  ///
  /// - Throws: `AnnouncementError` for a phrase book that cannot speak its own currency.
  public init(of clips: [ListedClip], writer: ScriptWriter) throws(AnnouncementError) {
    let tokens = Set(clips.flatMap(\.tokens))
    let spoken = try Self.currencies(of: tokens, writer)
    var sheets = [Self.sheet(try writer.vocabulary())]
    // Words of all currencies come from the whole sheet, because nobody names all currencies one by one.
    let together = spoken.count < writer.bookCurrencies.count ? [spoken] : []
    for currencies in spoken.map({ [$0] }) + together {
      sheets.append(Self.sheet(try writer.vocabulary(currencies: currencies, includesOtherCurrencies: false)))
    }
    self.sheets = sheets.filter { sheet in
      let places = Set(sheet.map { TokenPlace(tokens: $0.tokens, position: $0.position) })
      return clips.allSatisfy { places.contains(TokenPlace(tokens: $0.tokens, position: $0.position)) }
    }
  }

  /// Returns the row of a clip; `nil` if it is not known.
  public func row(of clip: ListedClip) -> SheetRow? {
    let rows = sheets.map { sheet in sheet.first { $0.tokens == clip.tokens && $0.position == clip.position } }
    guard let first = rows.first, let row = first,
      rows.allSatisfy({ $0?.number == row.number && $0?.file == row.file })
    else { return nil }
    return row
  }

  /// Returns the currencies whose units are among the tokens; all currencies if the tokens have no units.
  private static func currencies(
    of tokens: Set<String>, _ writer: ScriptWriter
  ) throws(AnnouncementError) -> [Currency] {
    let currencies = writer.bookCurrencies
    var words: [Set<String>] = []
    for currency in currencies {
      // The word for the unit may differ for one, a few and many.
      let minor: [Int64] = currency.minorUnitsPerMajor > 1 ? [1, 2, 5] : []
      var said: Set<String> = []
      for units in minor + [1, 2, 5].map({ $0 * currency.minorUnitsPerMajor }) {
        let payment = Payment(amount: try Money(minorUnits: units, currency: currency))
        said.formUnion(try writer.script(for: .payment(payment), shortenings: [.amountOnly]).tokens.map(\.name))
      }
      words.append(said)
    }
    let common = words.dropFirst().reduce(words.first ?? []) { $0.intersection($1) }
    let spoken = zip(currencies, words).filter { !$1.subtracting(common).isDisjoint(with: tokens) }.map { $0.0 }
    return spoken.isEmpty ? currencies : spoken
  }

  private static func sheet(_ vocabulary: Vocabulary) -> [SheetRow] {
    RecordingSheet(vocabulary: vocabulary).rows
  }
}
