// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import Testing

@Suite("Pronunciation and unspoken text")
struct PronunciationTests {
  @Test("a lexicon changes the clip and its name, but not the text in the report")
  func recipe() async throws {
    let workshop = try Workshop()
    let announcement = try Workshop.payment("5", "USD", payer: "Siobhan", locale: "en-US")
    let plain = try await workshop.announcer.render(announcement, into: nil)
    let lexicon = try Lexicon(
      data: Data("locale,text,said\nen-US,Siobhan,Shivawn\n".utf8), name: "lexicon.csv")
    let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    let installation = Installation(data: nil, environment: [:], executable: executable)
    let books = try PhraseBooks(directory: installation.templates, lexicon: lexicon)
    let said = try await Announcer(
      phraseBooks: books, readers: workshop.announcer.readers, engine: workshop.engine
    ).render(announcement, into: nil)
    #expect(said.report.text == plain.report.text)
    #expect(said.report.clip.name != plain.report.clip.name)
    #expect(said.bytes != plain.bytes)
  }

  @Test("the report lists unspoken text, even if the clip already existed")
  func unspokenText() async throws {
    let workshop = try Workshop()
    let announcement = try Workshop.payment("5", "USD", payer: "Bob, $1,000 สมชาย", locale: "en-US")
    for isCached in [false, true] {
      let report = try await workshop.announcer.render(announcement, into: workshop.library).report
      #expect(report.cached == isCached)
      #expect(report.text == "Received five dollars, from Bob")
      #expect(
        report.unspoken == [
          Remarks.Unspoken(field: "payer", text: "$1,000"), Remarks.Unspoken(field: "payer", text: "สมชาย"),
        ])
      #expect(report.warnings.count == 1)
    }
  }

  @Test("the marks of respelled words contain the original words")
  func marks() async throws {
    let workshop = try Workshop()
    let won = try await workshop.announcer.render(try Workshop.payment("20", "KRW", locale: "en-US"), into: nil)
    #expect(won.report.marks.map(\.text) == ["Received", "twenty", "won"])
    let yuan = try await workshop.announcer.render(try Workshop.payment("1.10"), into: nil)
    #expect(yuan.report.marks.map(\.text).joined() == "到账一元一角")
  }
}
