// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePackMaking
import Waveforms

@Suite("crier voices build --with")
struct VoicesBuildWithTests {
  private let crier: Command
  private let voices: URL

  init() throws {
    crier = try Command()
    voices = crier.home.appending(path: "Voices")
    let samples = (0..<800).map { Int16(12_000 * sin(Double($0) * 2 * .pi * 300 / 8_000)) }
    try Data(WAVFile.encode(Waveform(samples: samples, sampleRate: 8_000)))
      .write(to: crier.directory.appending(path: "tone.wav"))
  }

  /// Writes a program of one line that copies a sound after it noted its text in `said`.
  ///
  /// The shell reads it. It is not executed itself: a test beside this one could start a process while the file is open
  /// for writing, and Linux refuses to execute a file that any process has open for writing.
  private func program(_ line: String = #"cp "$DIRECTORY/tone.wav" "$2""#) throws {
    let script = #"echo "$1" >> "$DIRECTORY/said"; "# + line + "\n"
    try Data(script.replacing("$DIRECTORY", with: crier.directory.path).utf8)
      .write(to: crier.directory.appending(path: "program"))
  }

  /// The program and its argument, as they name the speaker.
  private var speaker: String { "sh " + crier.directory.appending(path: "program").path }

  private func build(_ options: [String] = [], id: String = "robot") throws -> Command.Result {
    let command = "sh '\(crier.directory.appending(path: "program").path)' {text} {output}"
    return try crier.run(
      ["voices", "build", "--with", command, "--locale", "zh-CN", "--currency", "CNY", "--id", id] + options)
  }

  private var said: [Substring] {
    get throws {
      try String(contentsOf: crier.directory.appending(path: "said"), encoding: .utf8).split(separator: "\n")
    }
  }

  private func manifest(_ id: String) throws -> [String: Any] {
    let bytes = try Data(contentsOf: voices.appending(path: "\(id)/manifest.json"))
    return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
  }

  @Test("a program makes a built pack in the home folder, and a run after a failure speaks only the remaining rows")
  func made() throws {
    defer { crier.remove() }
    // The program fails at its third row, as if it were interrupted.
    try program(#"[ $(wc -l < "$DIRECTORY/said") -ne 3 ] && cp "$DIRECTORY/tone.wav" "$2""#)
    let failed = try build()
    #expect(failed.status == 69 && failed.output.isEmpty, "\(failed)")
    #expect(failed.message.contains("row 3 ") && failed.message.contains("the finished rows are kept"))
    #expect(try said.count == 3)
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: "robot").path))

    let result = try build()
    #expect(result.status == 0, "\(result)")
    #expect(result.output == voices.appending(path: "robot").path + "\n")
    #expect(result.message.contains("8000 Hz"), "a warning about the sounds")
    #expect(result.message.hasSuffix("To let it speak, run crier voices use robot\n"))
    let all = try said
    #expect(Array(all[..<3]).last == all[3] && Set(all).count == all.count - 1, "only the failed row is said twice")
    let manifest = try manifest("robot")
    #expect(manifest["synthesized"] as? Bool == true && manifest["locale"] as? String == "zh-CN")
    #expect(manifest["speaker"] as? String == speaker && manifest["licence"] as? String == "not stated")
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: ".rows-robot").path))
    #expect(try crier("voices", "list").output.hasPrefix("robot\tzh-CN\t\(speaker)\t"))
  }

  @Test("crier voices build --with writes its rows to the folder of --voices or --home, and not to the default home")
  func places() throws {
    defer { crier.remove() }
    try program(#"[ $(wc -l < "$DIRECTORY/said") -lt 2 ] && cp "$DIRECTORY/tone.wav" "$2""#)
    let (home, folder) = (crier.directory.appending(path: "service"), crier.directory.appending(path: "packs"))
    for (options, rows) in [
      (["--home", home.path], home.appending(path: "Voices/.rows-robot")),
      (["--home", home.path, "--voices", folder.path], folder.appending(path: ".rows-robot")),
    ] {
      try Data().write(to: crier.directory.appending(path: "said"))
      #expect(try build(options).status == 69)
      let names = try FileManager.default.contentsOfDirectory(atPath: rows.path)
      #expect(names.count { $0 != "unfinished.wav" } == 1)
    }
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }

  @Test("crier voices build --with runs no program and changes nothing if --id is a recorded pack or another folder")
  func recordings() throws {
    defer { crier.remove() }
    try program()
    let folder = crier.directory.appending(path: "recordings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "two.wav").path
    #expect(try crier("render", "--text", "two", "--locale", "en-US", "--output", file).status == 0)
    #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "shop").status == 0)
    try FileManager.default.createDirectory(at: voices.appending(path: "other"), withIntermediateDirectories: true)
    let before = try Data(contentsOf: voices.appending(path: "shop/manifest.json"))
    for id in ["shop", "other"] {
      let refused = try build(id: id)
      #expect(refused.status == 64 && refused.output.isEmpty)
      #expect(refused.message.contains("--id \(id) is a recorded pack or another folder"), "\(refused.message)")
    }
    #expect(try Data(contentsOf: voices.appending(path: "shop/manifest.json")) == before)
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "said").path))
  }

  @Test(
    "crier voices build --with refuses options that do not fit together, and a command that cannot be run",
    arguments: [
      (["--with", "say {text} {output}"], "--id is missing: name the pack, such as --id my-voice."),
      (
        ["--with", "say {text} {output}", "--id", "a", "--locale", "zh-CN"],
        "--with can only be used with one --locale"
      ),
      (["--with", "say {text} {output}", "--id", "a", "--voice", "en"], "--voice and --rate are for the engine"),
      (["--with", "say {text} {output}", "--id", "a", "--rate", "100"], "--voice and --rate are for the engine"),
      (["--with", "say {text} {output}", "--id", "a", "--timeout", "0"], "--timeout 0 is out of range"),
      (["--with", "say {text} {output}", "--id", "../a"], "--id ../a is not a valid pack name"),
      (["--with", "say {text} {output}", "--id", "a"], "say"),
      (["--with", "true {text}", "--id", "a"], "{output}"),
      (["--speaker", "Ada"], "--speaker needs a speech program: add --with, or drop it."),
      (["--currency", "USD"], "--currency needs a speech program: add --with, or drop it."),
      (["--licence", "x"], "--licence needs a speech program: add --with, or drop it."),
      (["--timeout", "5"], "--timeout needs a speech program: add --with, or drop it."),
    ])
  func refused(options: [String], message: String) throws {
    defer { crier.remove() }
    let result = try crier.run(["voices", "build", "--locale", "en-US"] + options)
    #expect(result.status == 64 && result.output.isEmpty, "\(result)")
    #expect(result.message.contains(message), "\(result.message)")
    #expect(!FileManager.default.fileExists(atPath: voices.path))
  }
}
