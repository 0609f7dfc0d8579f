// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing
import TestSupport

@testable import VoicePackMaking

@Suite("ProgramVoice: any speech program makes the recordings of a pack")
struct ProgramVoiceTests {
  private let folder: TemporaryFolder
  private let rows = [
    SheetRow(number: 1, file: "001", token: "one", text: "one"),
    SheetRow(number: 2, file: "002", token: "two", text: "two"),
    SheetRow(number: 3, file: "003", token: "two", text: "two", position: .final),
  ]

  init() throws {
    folder = try TemporaryFolder()
    try folder.wav("sound.wav", Signals.take(seconds: 0.3))
  }

  /// Writes a program that notes its texts in `said` and then runs these lines.
  ///
  /// The shell reads it. It is not executed itself: a test beside this one could start a process while the file is open
  /// for writing, and Linux refuses to execute a file that any process has open for writing.
  private func program(_ lines: String = #"cp sound.wav "$2""#) throws {
    let script = "cd '\(folder.url.path)'\nprintf '%s\\n' \"$1\" >> said\n\(lines)\n"
    try Data(script.utf8).write(to: folder.url.appending(path: "program"))
  }

  private func voice(_ arguments: String = "{text} {output}", seconds: Int = 60) throws -> ProgramVoice {
    try ProgramVoice(
      SpeechCommand("sh '\(folder.url.path)/program' \(arguments)"), seconds: seconds,
      folder: folder.url.appending(path: "rows"))
  }

  private var said: [String] {
    let text = try? String(contentsOf: folder.url.appending(path: "said"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  private func error(_ voice: ProgramVoice) async -> PackMakingError? {
    await #expect(throws: PackMakingError.self) { try await voice.recordings(of: rows) }
  }

  @Test("the program says each row followed by a comma, and a last word followed by a full stop")
  func rowsSaid() async throws {
    try program()
    var steps: [Int] = []
    let sources = try await voice().recordings(of: rows) { done, _ in steps.append(done) }
    #expect(said == ["one,", "two,", "two."])
    #expect(steps == [1, 2, 3])
    #expect(sources.map(\.row) == rows)
    #expect(try RecordingImport().recordings(sources).clips.map(\.text) == ["one", "two", "two"])
  }

  @Test("one warning counts the sounds at telephone rate, names their rows and says what to change")
  func telephone() async throws {
    try folder.wav("sound.wav", Signals.take(seconds: 0.3, rate: 8_000), rate: 8_000)
    try program()
    let imported = try RecordingImport(isProgram: true).recordings(try await voice().recordings(of: rows))
    let warnings = imported.warnings.filter { $0.code == .lowSampleRate }
    #expect(
      warnings.map(\.description) == [
        "3 of 3 recordings are at 8000 Hz, which sounds like a telephone: choose a voice or an option of the program "
          + "that gives at least 16000 Hz: row 1 (one), row 2 (two), row 3 (two)."
      ])
  }

  @Test("a program that reads its words from a file gets a file with the words")
  func textFile() async throws {
    try program(#"cat "$1" >> said; cp sound.wav "$2""#)
    _ = try await voice("{text_file} {output}").recordings(of: rows)
    #expect(said.filter { !$0.hasPrefix("/") } == ["one,", "two,", "two."])
  }

  @Test("a second run makes only the missing recordings, and with another command makes all of them again")
  func resumed() async throws {
    try program(#"test "$1" != two. && cp sound.wav "$2""#)
    let stopped = await error(try voice())
    #expect(stopped?.code == .programFailed && stopped?.subject == "row 3 (two)")
    #expect(stopped?.problem == "sh ended with status 1")
    #expect(stopped?.remedy.hasSuffix("the finished rows are kept for the next run") == true)
    try program()
    _ = try await voice().recordings(of: rows)
    #expect(said == ["one,", "two,", "two.", "two."])
    _ = try await voice("{text} {output} other").recordings(of: rows)
    #expect(said.count == 7)
    try voice().removeRecordings()
    #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "rows").path))
  }

  @Test(
    "the error for a program that fails has the last line of the program's messages",
    arguments: [
      (
        "echo first >&2; echo 'no voice slt' >&2; echo >&2; exit 3",
        "sh ended with status 3 and said: no voice slt"
      ),
      ("kill -9 $$", "sh was ended by signal 9"), ("true", "sh wrote no sound"),
      (": > \"$2\"; echo odd >&2", "sh wrote no sound and said: odd"),
      ("echo x > \"$2\"", "what the program wrote is not a sound file that libsndfile can read"),
    ])
  func failures(lines: String, problem: String) async throws {
    try program(lines)
    let error = await error(try voice())
    #expect(error?.subject == "row 1 (one)" && error?.problem == problem)
    #expect(said.count == 1, "the first failure ends the run")
  }

  @Test("a speech program that takes too long is killed together with the programs that it started")
  func late() async throws {
    try program("sh -c 'echo $$ > child; exec sleep 1000' & wait")
    let error = await error(try voice(seconds: 1))
    #expect(error?.problem == "sh did not end within 1 s")
    let child = try String(contentsOf: folder.url.appending(path: "child"), encoding: .utf8)
    let number = try #require(Int32(child.trimmingCharacters(in: .whitespacesAndNewlines)))
    // A killed process without a parent stays a zombie until the system collects it.
    try await eventually {
      (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8))?.contains(") Z ") ?? true
    }
  }

  @Test("a cancelled run kills the speech program and keeps the finished rows")
  func cancelled() async throws {
    try program(#"test "$1" = one, && cp sound.wav "$2" && exit; touch waiting; exec sleep 1000"#)
    let voice = try voice()
    let run = Task { [rows] in try await voice.recordings(of: rows) }
    try await eventually { FileManager.default.fileExists(atPath: folder.url.appending(path: "waiting").path) }
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    try program()
    _ = try await voice.recordings(of: rows)
    #expect(said == ["one,", "two,", "two,", "two."])
  }

  @Test("a speech program that is not installed is refused before the first row")
  func missing() {
    let error = #expect(throws: PackMakingError.self) {
      try ProgramVoice(SpeechCommand("no-such-program {text} {output}"), seconds: 1, folder: folder.url)
    }
    #expect(error?.code == .commandInvalid)
    #expect(error?.problem == "names the program no-such-program, which is not installed")
  }

  @Test("the rows for a speech program are those of the sheet, and then phrases of numbers with their units")
  func sheet() throws {
    let writer = try Templates.writer("en-US")
    let vocabulary = try writer.vocabulary(currencies: nil, includesOtherCurrencies: false)
    let rows = try ProgramVoice.rows(of: vocabulary, writer: writer)
    let sheet = RecordingSheet(vocabulary: vocabulary).rows
    #expect(Array(rows.prefix(sheet.count)) == sheet)
    let phrases = rows.dropFirst(sheet.count)
    #expect(phrases.contains { $0.token == "twenty five dollars" && $0.position == .final })
    #expect(phrases.allSatisfy { $0.tokens.count > 1 && !$0.token.contains("Kuwaiti") })
    #expect(Set(rows.map { "\($0.token) \($0.position)" }).count == rows.count)
  }
}
