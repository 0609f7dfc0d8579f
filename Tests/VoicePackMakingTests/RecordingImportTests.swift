// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("RecordingImport: recordings are matched with their rows")
struct RecordingImportTests {
  private let folder: TemporaryFolder
  private let rows = [
    SheetRow(number: 1, file: "001-one.wav", token: "one", text: "one"),
    SheetRow(number: 2, file: "002-dollars.wav", token: "Hong_Kong_dollars", text: "Hong Kong dollars"),
    SheetRow(number: 3, file: "003-café.wav", token: "café", text: "Café"),
    SheetRow(number: 4, file: "004-one-final.wav", token: "one", text: "one", position: .final),
    SheetRow(number: 5, file: "005-twenty-one.wav", token: "twenty one", text: "twenty-one"),
  ]

  init() throws { folder = try TemporaryFolder() }

  private func record(_ names: String...) throws {
    for (index, name) in names.enumerated() {
      try folder.wav(name, Signals.take(seconds: 0.3 + Double(index) / 50))
    }
  }

  private func imported(_ rows: [SheetRow]? = nil) throws -> ImportedRecordings {
    try RecordingImport().recordings(in: folder.url, for: rows ?? self.rows)
  }

  @Test("a file is matched with a row by its name, the row's token or text, in any letter case and with any extension")
  func matching() throws {
    try record("001-ONE.wav", "hong kong_Dollars.wav", "cafe\u{301}.WAV", "004-one-final.flac", "Twenty-One.wav")
    let imported = try imported()
    #expect(imported.clips.map(\.tokens) == [["one"], ["Hong_Kong_dollars"], ["café"], ["one"], ["twenty", "one"]])
    #expect(imported.clips.map(\.position) == [.plain, .plain, .plain, .final, .plain])
    #expect(imported.clips.map(\.text) == rows.map(\.text))
    #expect(imported.warnings.isEmpty)
    #expect(imported.rows.map(\.number).sorted() == [1, 2, 3, 4, 5])
  }

  @Test("a file whose name is only a token becomes the plain clip of the token")
  func plainFirst() throws {
    try record("one.wav")
    #expect(try imported().clips.map(\.position) == [.plain])
  }

  @Test("imported clips have 22,050 Hz and are trimmed, and their ends are zero")
  func prepared() throws {
    try record("one.wav")
    let waveform = try #require(try imported().clips.first).waveform
    #expect(waveform.sampleRate == 22_050)
    #expect(waveform.durationMilliseconds < 350)
    #expect(waveform.samples.first == 0)
  }

  @Test("files without a row and rows without a file are reported, and the rest is imported")
  func warnings() throws {
    try record("one.wav", "three.wav")
    try folder.file("notes.txt", Array("one".utf8))
    try folder.file(".DS_Store", [0])
    let imported: ImportedRecordings
    do throws(PackMakingError) {
      imported = try RecordingImport().recordings(in: folder.url, for: Array(rows.prefix(2)))
    } catch {
      Issue.record("\(error) \(error.details)")
      return
    }
    #expect(imported.clips.count == 1)
    #expect(imported.warnings.map(\.code) == [.extraFile, .extraFile, .missingRow])
    #expect(imported.warnings.map(\.subject) == ["notes.txt", "three.wav", "row 2 (Hong Kong dollars)"])
  }

  @Test("clipped, noisy and telephone recordings are counted, with one warning for each kind")
  func quality() throws {
    try folder.wav("one.wav", Signals.take(5))
    try folder.wav("café.wav", Signals.take(0.1, noise: 0.02))
    for row in 1...7 { try folder.wav("phone\(row).wav", Signals.take(rate: 8000), rate: 8000) }
    let phones = (1...7).map { SheetRow(number: 5 + $0, file: "phone\($0)", token: "phone\($0)", text: "phone") }
    let warnings = try imported([rows[0], rows[2]] + phones).warnings
    #expect(warnings.map(\.code) == [.clippedRecording, .noisyRecording, .lowSampleRate])
    #expect(
      warnings.map(\.description) == [
        "1 of 9 recordings is clipped: record again at a lower level: one.wav.",
        "1 of 9 recordings is less than 30 dB above the noise: record closer to the microphone: café.wav.",
        "7 of 9 recordings are at 8000 Hz, which sounds like a telephone: record at 48000 Hz, or at least 16000 Hz: "
          + "phone1.wav, phone2.wav, phone3.wav, phone4.wav, phone5.wav and 2 more.",
      ])
  }

  @Test("two files for one row are an error that names both files")
  func twoFiles() throws {
    try record("one.wav", "001-one.flac", "café.wav")
    let error = #expect(throws: PackMakingError.self) { try imported() }
    #expect(error?.code == .ambiguousRecording)
    #expect(error?.details == ["row 1 (one) has several recordings: 001-one.flac, one.wav"])
  }

  @Test("one file for two rows is an error that names both rows")
  func twoRows() throws {
    try record("two.wav")
    let rows = [
      SheetRow(number: 1, file: "a", token: "二", text: "two"), SheetRow(number: 2, file: "b", token: "两", text: "two"),
    ]
    let error = #expect(throws: PackMakingError.self) { try imported(rows) }
    #expect(error?.details == ["two.wav matches several rows: row 1 (two), row 2 (two)"])
  }

  @Test("one error lists all unusable recordings with their reasons")
  func unusable() throws {
    try record("one.wav")
    try folder.file("café.wav", Array("not a sound".utf8))
    try folder.wav("005-twenty-one.wav", Signals.silence(seconds: 1))
    let error = #expect(throws: PackMakingError.self) { try imported() }
    #expect(error?.code == .unusableRecordings)
    #expect(error?.details.count == 2)
    #expect(error?.details.first?.hasPrefix("café.wav: is not a sound file") == true)
    #expect(error?.details.last?.hasPrefix("005-twenty-one.wav: contains no voice") == true)
    #expect(error?.description.split(separator: "\n").count == 3)
  }

  @Test("a recording in an unsupported format is reported instead of being ignored")
  func unreadFormat() throws {
    try folder.file("one.m4a", Array("ftypM4A".utf8))
    let error = #expect(throws: PackMakingError.self) { try imported() }
    #expect(
      error?.details == [
        "one.m4a: is not a sound file that libsndfile can read; "
          + "convert it: ffmpeg -i \(folder.url.path)/one.m4a \(folder.url.path)/one.wav"
      ])
  }

  @Test("several recordings in an unsupported format get one command that converts all of them")
  func unreadFormats() throws {
    for name in ["one.m4a", "it's.m4a", "café.aac"] { try folder.file(name, Array("ftypM4A".utf8)) }
    let error = #expect(throws: PackMakingError.self) {
      try imported(rows + [SheetRow(number: 6, file: "it's", token: "its", text: "its")])
    }
    #expect(
      error?.remedy
        == #"convert them in their folder: for file in *.aac *.m4a; do ffmpeg -i "$file" "${file%.*}.wav"; done"#)
    #expect(error?.details.contains { $0.hasSuffix(#"/it'\''s.wav'"#) } == true)
  }

  @Test("the command that is suggested to convert a long recording has the path as it was given")
  func unreadLongRecording() throws {
    try folder.file("all.m4a", Array("ftypM4A".utf8))
    let given = URL(filePath: "shop/../all.m4a", relativeTo: folder.url)
    try FileManager.default.createDirectory(at: folder.url.appending(path: "shop"), withIntermediateDirectories: true)
    let error = #expect(throws: PackMakingError.self) { try RecordingImport().recordings(cutting: given, for: rows) }
    #expect(error?.subject == "all.m4a")
    #expect(error?.remedy == "convert it: ffmpeg -i shop/../all.m4a shop/../all.wav")
    #expect(SoundConversion.line(for: "-i.m4a") == "ffmpeg -i ./-i.m4a ./-i.wav")
  }

  @Test("a converted recording is used even if the original, which libsndfile cannot read, is still there")
  func converted() throws {
    try record("one.wav")
    try folder.file("one.m4a", Array("ftypM4A".utf8))
    #expect(try imported([rows[0]]).clips.count == 1)
  }

  @Test("an import from a folder without matching files, or from a missing folder, is refused")
  func nothing() throws {
    try record("three.wav")
    #expect(#expect(throws: PackMakingError.self) { try imported() }?.code == .noRecordings)
    let missing = folder.url.appending(path: "missing")
    let error = #expect(throws: PackMakingError.self) { try RecordingImport().recordings(in: missing, for: rows) }
    #expect(error?.code == .recordingUnreadable)
  }

  @Test("the progress of an import counts every file, in the order of the rows")
  func progress() throws {
    try record("café.wav", "one.wav")
    var steps: [String] = []
    _ = try RecordingImport().recordings(in: folder.url, for: rows) { steps.append("\($0)/\($1) \($2)") }
    #expect(steps == ["1/2 one.wav", "2/2 café.wav"])
  }

  @Test("one long recording is divided into a clip for each row, in order")
  func cutting() throws {
    let takes = [200.0, 400, 800].map { Signals.silence(seconds: 0.7) + Signals.tone($0, 0.3, seconds: 0.3) }
    let file = try folder.wav("long.wav", takes.flatMap(\.self) + Signals.silence(seconds: 0.5))
    var steps: [String] = []
    let imported = try RecordingImport().recordings(cutting: file, for: Array(rows.prefix(3))) {
      steps.append("\($0)/\($1) \($2)")
    }
    #expect(imported.clips.map(\.text) == ["one", "Hong Kong dollars", "Café"])
    #expect(steps == ["1/3 row 1 (one)", "2/3 row 2 (Hong Kong dollars)", "3/3 row 3 (Café)"])
    for (clip, hertz) in zip(imported.clips, [200.0, 400, 800]) {
      let middle = clip.waveform.samples[1000..<6000].map { Float($0) / 32_768 }
      #expect(amplitude(of: hertz, in: middle, rate: 22_050) > 0.1)
    }
  }

  @Test("one long recording of only the required rows is accepted, with a warning about the missing rows")
  func onlyRequired() throws {
    let file = try folder.wav("long.wav", Self.long([0.3, 0.3]))
    let imported = try RecordingImport().recordings(cutting: file, for: rows, orOnly: [rows[0], rows[3]])
    #expect(imported.clips.map(\.text) == ["one", "one"])
    #expect(imported.clips.map(\.position) == [.plain, .final])
    #expect(
      imported.warnings.map(\.description) == [
        "The recording: has the 2 required rows; the other 3 have no recording."
      ])
  }

  @Test("a cough in a long recording is shown with its time and the words around it, and nothing else is listed")
  func cough() throws {
    // The words last as long as their letters need, and the cough is shorter than any word.
    let texts = ["one hundred and twenty", "two", "three hundred thousand", "forty", "fifty million dollars"]
    let rows = texts.enumerated().map { SheetRow(number: $0 + 1, file: "\($0)", token: "t\($0)", text: $1) }
    var lengths = texts.map { Double($0.spokenLength + 3) * 0.06 }
    lengths.insert(0.12, at: 3)
    let file = try folder.wav("long.wav", Self.long(lengths))
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows)
    }
    #expect(error?.code == .utteranceCountMismatch)
    #expect(error?.subject == "long.wav")
    #expect(error?.problem == "was split into 6 pieces at pauses of 500 ms, but the sheet has 5 rows")
    #expect(error?.details.count == 1)
    #expect(
      error?.details.first?.contains(
        ": probably a cough, a noise or a repeated word, between row 3 (three hundred thousand) and row 4 (forty)")
        == true)
    // The cough begins after 0.7 s of silence before each of the four sounds, and after the three words.
    let start = 4 * 0.7 + lengths[..<3].reduce(0, +)
    #expect(error?.details.first?.hasPrefix(String(format: "0:%04.1f", start).dropLast(1)) == true)
    let time = try #require(error?.details.first?.prefix { $0 != " " }.dropLast())
    #expect(error?.remedy == "cut \(time) out of the recording and import again")
  }

  @Test("a row that was not read aloud is named with the times between which it should be, if no other row fits")
  func unread() throws {
    let texts = ["one hundred and twenty", "two", "three hundred thousand", "forty", "fifty million dollars"]
    let rows = texts.enumerated().map { SheetRow(number: $0 + 1, file: "\($0)", token: "t\($0)", text: $1) }
    var lengths = texts.map { Double($0.spokenLength + 3) * 0.06 }
    lengths.remove(at: 1)
    let file = try folder.wav("long.wav", Self.long(lengths))
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows)
    }
    #expect(error?.details.map { String($0.prefix { $0 != ":" }) } == ["row 2 (two)"])
    #expect(error?.details.first?.contains("look between 0:") == true)
  }

  @Test("if a long recording does not fit the sheet at all, the error lists no guesses")
  func farFromTheSheet() throws {
    let file = try folder.wav("long.wav", Self.long(Array(repeating: 0.3, count: 15)))
    let error = #expect(throws: PackMakingError.self) {
      try RecordingImport().recordings(cutting: file, for: rows, orOnly: [rows[0]])
    }
    #expect(
      error?.problem
        == "was split into 15 pieces at pauses of 500 ms, but the sheet has 5 rows, of which 1 are required")
    #expect(error?.details.isEmpty == true)
  }

  /// Returns sounds of these lengths in s, with a pause of 0.7 s before each.
  private static func long(_ lengths: [Double]) -> [Double] {
    lengths.flatMap { Signals.silence(seconds: 0.7) + Signals.tone(300, 0.3, seconds: $0) }
      + Signals.silence(seconds: 0.5)
  }
}
