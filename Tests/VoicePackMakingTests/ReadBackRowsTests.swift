// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import SpeechServers
import Testing

@testable import VoicePackMaking

@Suite("ReadBackRows: the rows of a pack that a speech server may speak")
struct ReadBackRowsTests {
  private let readers = AmountReaders(
    directory: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Readers")
      .standardizedFileURL)

  @Test(
    "every row of a pack is read back, and the server gets the words that the manifest will have",
    arguments: ["en-US", "zh-CN"])
  func rows(locale: String) throws {
    let writer = try Templates.writer(locale)
    let vocabulary = try writer.vocabulary()
    let rows = try ReadBackRows(of: vocabulary, writer: writer, readers: readers)
    #expect(rows.unsendable.isEmpty)
    #expect(rows.rows == (try ProgramVoice.rows(of: vocabulary, writer: writer)))
    for row in rows.rows {
      let words = try #require(rows.words[row])
      #expect(words.text == row.spokenText && words.language == locale && !words.hasNames)
      #expect(words.text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .decimalNumber })
    }
    #expect(rows.rows.contains { rows.words[$0]?.saysAmount == true })
    #expect(rows.rows.contains { rows.words[$0]?.saysAmount == false })
  }

  @Test("without a reader of the language, no row of the pack is sent to a server")
  func noReader() throws {
    let writer = try Templates.writer("en-US")
    let vocabulary = try writer.vocabulary(includesOtherCurrencies: false)
    let error = #expect(throws: PackMakingError.self) {
      try ReadBackRows(of: vocabulary, writer: writer, readers: AmountReaders(directory: nil))
    }
    #expect(error?.code == .rowUnread && error?.subject.hasPrefix("row 1 (") == true)
    #expect(error?.remedy == "check Templates/en-US.json and Readers/en.json")
  }

  @Test("a row whose words no phrase book wrote is refused")
  func foreign() throws {
    let writer = try Templates.writer("en-US")
    var vocabulary = try writer.vocabulary(includesOtherCurrencies: false)
    vocabulary.blocks[0].words[0].source = nil
    #expect(throws: PackMakingError.self) { try ReadBackRows(of: vocabulary, writer: writer, readers: readers) }
    // Another text than the one that was read back is not sent either.
    vocabulary = try writer.vocabulary(includesOtherCurrencies: false)
    vocabulary.blocks[0].words[0].text = "nine"
    #expect(throws: PackMakingError.self) { try ReadBackRows(of: vocabulary, writer: writer, readers: readers) }
  }

  @Test("the test of a voice has at least 100 amounts, which have every required number word and are always the same")
  func amounts() throws {
    for locale in ["en-US", "hi-IN"] {
      let writer = try Templates.writer(locale)
      let currency = try #require(writer.ownCurrency)
      let amounts = try ServerVoiceTest.amounts(writer, currency)
      #expect(amounts.count >= 100)
      #expect(try ServerVoiceTest.amounts(writer, currency) == amounts)
      let said = Set(try amounts.flatMap { try writer.script(for: .payment($0)).tokens.map(\.name) })
      let required = try writer.vocabulary(includesOtherCurrencies: false).blocks.filter(\.isRequired).flatMap(\.words)
      #expect(said.isSuperset(of: required.filter { $0.role == .amount }.map(\.token)), "\(locale)")
      #expect(amounts.contains { $0.amount.majorPart > 100_000_000 })
    }
  }
}
