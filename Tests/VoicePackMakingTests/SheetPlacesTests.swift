// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing
import VoicePacks

@testable import VoicePackMaking

@Suite("SheetPlaces: the rows of the sheet from which a pack was recorded")
struct SheetPlacesTests {
  private let writer: ScriptWriter

  init() throws { writer = try Templates.writer("en-US") }

  /// The rows of a sheet that is limited to currencies; of the whole sheet without currencies.
  private func rows(_ codes: [String]) throws -> [SheetRow] {
    let currencies = try codes.map { code in try #require(writer.bookCurrencies.first { $0.code == code }) }
    let vocabulary = try writer.vocabulary(
      currencies: codes.isEmpty ? nil : currencies, includesOtherCurrencies: codes.isEmpty)
    return RecordingSheet(vocabulary: vocabulary).rows
  }

  private func clip(_ row: SheetRow) -> ListedClip {
    ListedClip(file: "\(row.number)", tokens: row.tokens, position: row.position, text: row.text)
  }

  @Test(
    "no clip has a wrong row, whichever currencies the sheet had, and each clip has its row if the sheet is given",
    arguments: [["USD"], ["EUR"], ["JPY"], ["EUR", "USD"], ["USD", "EUR"]])
  func limited(codes: [String]) throws {
    let rows = try rows(codes)
    let places = try SheetPlaces(of: rows.map(clip), writer: writer)
    for row in rows {
      let found = places.row(of: clip(row))
      #expect(found == nil || (found?.number == row.number && found?.file == row.file), "\(row.token)")
      #expect(SheetPlaces(sheet: rows).row(of: clip(row)) == row)
    }
    // The words before the first unit are the same in all sheets.
    #expect(places.row(of: clip(rows[0])) != nil)
  }

  @Test("each clip has its row if the pack has the whole sheet, or only the part that payments need")
  func whole() throws {
    let rows = try rows([])
    for count in [rows.count, 32] {
      let places = try SheetPlaces(of: rows.prefix(count).map(clip), writer: writer)
      #expect(rows.prefix(count).allSatisfy { places.row(of: clip($0))?.number == $0.number })
    }
  }

  @Test("clips that no sheet has, such as those of a built pack's phrases, have no row")
  func phrases() throws {
    let phrase = ListedClip(file: "x", tokens: ["two", "dollars"], position: .plain, text: "two dollars")
    let places = try SheetPlaces(of: [clip(try rows([])[0]), phrase], writer: writer)
    #expect(places.row(of: phrase) == nil)
    #expect(places.row(of: clip(try rows([])[0])) == nil)
  }

  @Test("a file name in a sheet gets an extension if it has none")
  func names() {
    #expect(SheetRow(number: 1, file: "001", token: "one", text: "one").recordingName == "001.wav")
    #expect(SheetRow(number: 1, file: "001.flac", token: "one", text: "one").recordingName == "001.flac")
  }
}
