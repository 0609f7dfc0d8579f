// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@testable import VoicePackMaking

@Suite("SheetLocale: a sheet belongs to its pack's language")
struct SheetLocaleTests {
  private let locales = ["en-US", "zh-CN", "hi-IN"]

  private func sheet(_ locale: String) throws -> [SheetRow] {
    RecordingSheet(vocabulary: try Templates.writer(locale).vocabulary()).rows
  }

  private func error(_ rows: [SheetRow], _ locale: String) throws -> PackMakingError? {
    let vocabulary = try Templates.writer(locale).vocabulary()
    do throws(PackMakingError) {
      try SheetLocale.check(rows, against: vocabulary) {
        locales.compactMap { try? Templates.writer($0).vocabulary() }
      }
      return nil
    } catch {
      return error
    }
  }

  @Test("a sheet fits a pack of its language, in any letter case, and its CSV keeps the language")
  func own() throws {
    for locale in locales { #expect(try error(sheet(locale), locale) == nil) }
    let csv = RecordingSheet(vocabulary: try Templates.writer("zh-CN").vocabulary()).csv
    let rows = try RecordingSheet.rows(csv: Array(csv.replacing("zh-CN", with: "ZH-cn").utf8))
    #expect(rows.allSatisfy { $0.locale == "ZH-cn" })
    #expect(try error(rows, "zh-CN") == nil)
  }

  @Test("a sheet that names another language than the pack's is refused, even if the words are the same")
  func named() throws {
    let rows = try sheet("en-US").map { row in
      var row = row
      row.locale = "en-GB"
      return row
    }
    let error = try error(rows, "en-US")
    #expect(error?.code == .wrongLocale)
    #expect(error?.problem == "the sheet is for en-GB, but the pack is for en-US")
    #expect(error?.remedy == "give --locale en-GB, or the sheet of en-US")
  }

  @Test("a sheet without a language is refused if most of its words are of another language")
  func unnamed() throws {
    let rows = try sheet("zh-CN").map { row in
      var row = row
      row.locale = nil
      return row
    }
    #expect(try error(rows, "zh-CN") == nil)
    let error = try error(rows, "en-US")
    #expect(error?.code == .wrongLocale)
    #expect(error?.remedy.hasPrefix("give --locale zh-CN, or ") == true)
    #expect(try self.error([], "en-US") == nil)
  }
}
