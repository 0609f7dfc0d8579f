// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("RecordingImport: what is said about probable mistakes")
struct RecordingImportHintsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func rows(_ texts: [String]) -> [SheetRow] {
    texts.enumerated().map {
      SheetRow(number: $0 + 1, file: String(format: "%03d", $0 + 1), token: "t\($0)", text: $1)
    }
  }

  /// Writes sounds of these lengths in s, with a pause of 0.7 s before each.
  private func long(_ lengths: [Double]) throws -> URL {
    try folder.wav(
      "long.wav",
      lengths.flatMap { Signals.silence(seconds: 0.7) + Signals.tone(300, 0.3, seconds: $0) }
        + Signals.silence(seconds: 0.5))
  }

  @Test("if many rows have no recording, one warning has their number and their ranges")
  func manyMissing() throws {
    for name in ["001", "004"] { try folder.wav("\(name).wav", Signals.take(seconds: 0.4)) }
    let rows = rows((1...12).map { _ in "word" })
    let warnings = try RecordingImport().recordings(in: folder.url, for: rows).warnings
    #expect(warnings.map(\.code) == [.missingRow])
    #expect(
      warnings.map(\.description) == ["10 of 12 rows have no recording: rows 2 to 3, rows 5 to 12."])
  }

  @Test("if a few rows have no recording, the warning names their words")
  func fewMissing() throws {
    try folder.wav("001.wav", Signals.take(seconds: 0.4))
    let warnings = try RecordingImport().recordings(in: folder.url, for: rows(["one", "two", "three"])).warnings
    #expect(warnings.map(\.description) == ["2 of 3 rows have no recording: row 2 (two), row 3 (three)."])
  }

  @Test(
    "one recording for different words gives a warning that names both, and one for equal words gives none")
  func sameRecording() throws {
    for (name, seconds) in [("001", 0.4), ("002", 0.4), ("003", 0.5), ("004", 0.5)] {
      try folder.wav("\(name).wav", Signals.take(seconds: seconds))
    }
    let warnings = try RecordingImport().recordings(in: folder.url, for: rows(["one", "two", "ten", "Ten"])).warnings
    #expect(warnings.map(\.code) == [.sameRecording])
    #expect(
      warnings.map(\.description) == [
        "row 1 (one, 001.wav) and row 2 (two, 002.wav): have the same recording; listen to it, and record the other "
          + "words again."
      ])
  }

  @Test("a recording with a silence of more than 500 ms inside gets a warning", arguments: [400, 700])
  func silenceInside(milliseconds: Int) throws {
    let quiet = Signals.silence(seconds: 0.5)
    let sounds = [0.3, 0.4].map { Signals.tone(300, 0.3, seconds: $0) }
    try folder.wav(
      "001.wav", quiet + sounds[0] + Signals.silence(seconds: Double(milliseconds) / 1000) + sounds[1] + quiet)
    let warnings = try RecordingImport().recordings(in: folder.url, for: rows(["one"])).warnings
    #expect(warnings.map(\.code) == (milliseconds > 500 ? [.silenceInside] : []))
    #expect(
      warnings.allSatisfy { $0.description.contains("silence of more than 500 ms") && $0.problem.contains("001") })
  }

  @Test("if a cough was found, the error does not advise a longer pause, which would join the cough to a word")
  func coughAndPause() throws {
    let texts = ["one hundred and twenty", "two", "three hundred thousand", "forty", "fifty million dollars"]
    var lengths = texts.map { Double($0.spokenLength + 3) * 0.06 }
    lengths.insert(0.12, at: 3)
    let file = try long(lengths)
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows(texts))
    }
    #expect(error?.remedy.wholeMatch(of: /cut 0:\d\d\.\d\d–0:\d\d\.\d\d out of the recording and import again/) != nil)
    #expect(error?.details.count == 1)
  }

  @Test(
    "if the lengths do not show which row was not read aloud, the error names a range that contains the row",
    arguments: 0..<10)
  func unreadRange(missing: Int) throws {
    // The first three rows have one length, and the others another.
    let texts = Array(repeating: "two", count: 3) + Array(repeating: "one hundred thousand", count: 7)
    var lengths = texts.map { Double($0.spokenLength + 3) * 0.05 }
    lengths.remove(at: missing)
    let file = try long(lengths)
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows(texts))
    }
    let range =
      missing < 3 ? "row 1 (two) and row 3 (two)" : "row 4 (one hundred thousand) and row 10 (one hundred thousand)"
    #expect(error?.details.count == 1)
    #expect(
      error?.details.first?.hasPrefix("one row between \(range): probably not read") == true, "\(error?.details ?? [])")
  }

  @Test(
    "if several rows were not read aloud, or any row may be the missing one, the error names no row", arguments: [1, 2])
  func noGuess(missing: Int) throws {
    let texts = Array(repeating: "two", count: 30)
    let file = try long(Array(repeating: 0.3, count: 30 - missing))
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows(texts))
    }
    #expect(error?.code == .utteranceCountMismatch)
    #expect(error?.details == [])
  }

  @Test("if a long recording fits the sheet that another option would give, the error names this option")
  func otherSheet() throws {
    let file = try long([0.3, 0.4, 0.5])
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(
        cutting: file, for: rows(["a", "b", "c", "d", "e"]),
        otherSheets: ["--currency USD": 3, "--currency EUR": 4])
    }
    #expect(error?.remedy == "the sheet that --currency USD selects has 3 rows: give --currency USD, or --sheet")
    #expect(error?.details == [])
  }

  @Test("each clip from a long recording has its time in the recording")
  func times() throws {
    let imported = try RecordingImport().recordings(cutting: try long([0.3, 0.4]), for: rows(["one", "two"]))
    #expect(imported.times.count == 2)
    #expect(imported.times.allSatisfy { $0.wholeMatch(of: /0:0\d\.\d\d–0:0\d\.\d\d/) != nil })
  }
}
