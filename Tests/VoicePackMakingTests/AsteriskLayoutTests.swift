// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("AsteriskLayout: a telephone exchange's sounds become tokens")
struct AsteriskLayoutTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func lay(_ paths: String...) throws {
    for path in paths { try folder.file(path, []) }
  }

  private func sources(_ locale: String = "en-US") throws -> [RecordingSource] {
    try AsteriskLayout.sources(in: folder.url, locale: locale)
  }

  @Test("Asterisk's files of English numbers and dollars are found, and files with other words are not")
  func english() throws {
    try lay(
      "digits/1.wav", "digits/13.wav", "digits/90.wav", "digits/hundred.wav", "digits/dollars.wav",
      "letters/dollar.wav",
      "vm-and.wav", "digits/h-1.wav", "digits/day-1.wav", "digits/oh.wav", "letters/a.wav", "letters/dot.wav",
      "vm-youhave.wav")
    #expect(
      try sources().map(\.row.token) == ["one", "thirteen", "ninety", "hundred", "dollars", "dollar", "and"])
    #expect(try sources("en").map(\.file.lastPathComponent).contains("13.wav"))
  }

  @Test("Asterisk's files of Spanish numbers get the Spanish words")
  func spanish() throws {
    try lay(
      "digits/1.wav", "digits/1M.wav", "digits/22.wav", "digits/and.wav", "digits/hundred.wav", "digits/20-and.wav")
    #expect(try sources("es_MX").map(\.row.text) == ["uno", "un", "veintidós", "y", "cien"])
  }

  @Test("if a word has two files, the first of the table is used, and if a file has two formats, the WAV file is used")
  func oneOfEach() throws {
    try lay(
      "digits/100.gsm.wav", "digits/100.wav", "digits/hundred.wav", "digits/5.flac", "digits/5.wav", "digits/5.gsm")
    #expect(try sources("es").map(\.file.lastPathComponent) == ["5.wav", "100.wav"])
  }

  @Test("the rows of an import keep the numbers of the table, so that gaps show which sounds are missing")
  func numbers() throws {
    try lay("digits/0.wav", "digits/3.wav")
    #expect(try sources().map(\.row.number) == [1, 4])
  }

  @Test("an import of Asterisk's sounds turns them into clips")
  func imported() throws {
    try folder.wav("digits/7.wav", Signals.take(seconds: 0.4, rate: 8000), rate: 8000)
    let clips = try RecordingImport().recordings(sources()).clips
    #expect(clips.map(\.tokens) == [["seven"]])
    #expect((300...450).contains(clips[0].waveform.durationMilliseconds))
  }

  @Test("an import for a language without a table is refused, and the error names the available languages")
  func unknownLanguage() throws {
    try lay("digits/1.wav")
    let error = #expect(throws: PackMakingError.self) { try sources("fi-FI") }
    #expect(error?.code == .languageUnknown)
    #expect(error?.remedy.contains("en, es") == true)
  }

  @Test("an import from a folder without sounds, or from a missing folder, is refused")
  func wrongFolder() throws {
    try lay("one.wav", "en/digits/1.wav")
    #expect(#expect(throws: PackMakingError.self) { try sources() }?.code == .noRecordings)
    let missing = folder.url.appending(path: "missing")
    let error = #expect(throws: PackMakingError.self) { try AsteriskLayout.sources(in: missing, locale: "en") }
    #expect(error?.code == .noRecordings)
  }
}
