// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Waveforms

@Suite("crier sounds check")
struct SoundsCheckCommandTests {
  /// Runs a line of the shell in the test's folder, with `crier` on the path.
  @discardableResult
  private func shell(_ line: String, _ crier: Command) throws -> Int32 {
    let bin = crier.directory.appending(path: "bin")
    if !FileManager.default.fileExists(atPath: bin.path) {
      try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: bin.appending(path: "crier"), withDestinationURL: Command.program)
    }
    var environment = crier.environment
    environment["PATH"] = "\(bin.path):/usr/bin:/bin"
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", line]
    process.environment = environment
    process.currentDirectoryURL = crier.directory
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private func tone(_ name: String, _ crier: Command, options: String = "-b 16", effects: String = "gain -13") throws {
    let line = "sox -R -r 22050 -n \(options) \(name) synth 1 sine 440 \(effects)"
    #expect(try shell(line, crier) == 0)
  }

  private struct Line: Decodable {
    struct Problem: Decodable {
      var code: String
      var severity: String
      var message: String
      var remedy: String
    }
    var file: String
    var playable: Bool
    var problems: [Problem]
    var container: String?
    var codec: String?
    var fixed: String?
  }

  private func lines(_ output: String) throws -> [Line] {
    try output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  @Test("crier sounds check ends with 0 if all files are playable and else with 65, and prints a line for each file")
  func statuses() throws {
    let crier = try Command()
    defer { crier.remove() }
    try tone("good.wav", crier)
    try tone("good.caf", crier)
    try Data().write(to: crier.directory.appending(path: "empty.wav"))
    let good = try crier("sounds", "check", "good.wav", "good.caf")
    #expect(good.status == 0 && good.message.isEmpty)
    let verdicts = good.output.split(separator: "\n").map { $0.prefix { $0 != "(" } }
    #expect(verdicts == ["good.wav: playable ", "good.caf: playable "])
    let mixed = try crier("sounds", "check", "good.wav", "empty.wav", "none.wav", "--json")
    #expect(mixed.status == 65)
    let found = try lines(mixed.output)
    #expect(found.map(\.file) == ["good.wav", "empty.wav", "none.wav"])
    #expect(found.map(\.playable) == [true, false, false])
    #expect(found.map { $0.problems.map(\.code) } == [[], ["empty_file"], ["missing"]])
    #expect(found.map(\.container) == ["wav", nil, nil])
  }

  @Test("the JSON of crier sounds check has exactly the documented keys, and unknown values are null")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let line = try crier("sounds", "check", "--json", "none.wav").output
    let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(
      value?.keys.sorted() == [
        "bytes", "channels", "codec", "container", "duration_ms", "file", "fixed", "loudness_lufs", "playable",
        "problems", "sample_rate",
      ])
    let problem = (value?["problems"] as? [[String: String]])?.first
    #expect(problem?.keys.sorted() == ["code", "message", "remedy", "severity"])
    #expect(value?["bytes"] is NSNull)
  }

  @Test("a warning does not affect the exit status of crier sounds check")
  func warning() throws {
    let crier = try Command()
    defer { crier.remove() }
    try tone("loud.wav", crier, effects: "gain -3")
    let result = try crier("sounds", "check", "loud.wav")
    #expect(result.status == 0)
    #expect(result.output.contains("\n  warning too_loud: The loudness is "))
    #expect(result.output.hasSuffix("\n    crier sounds check --fix loud.wav\n"))
  }

  @Test(
    "--fix writes a playable copy of each faulty file, prints its path, and keeps the original file's exit status")
  func fixed() throws {
    let crier = try Command()
    defer { crier.remove() }
    try tone("good.wav", crier)
    try tone("tone.flac", crier)
    let original = try Data(contentsOf: crier.directory.appending(path: "tone.flac"))
    let result = try crier("sounds", "check", "--fix", "good.wav", "tone.flac")
    #expect(result.status == 65)
    let copy = crier.directory.appending(path: "tone-fixed.wav")
    #expect(result.output == copy.path + "\n")
    #expect(result.message.contains("tone.flac: not playable"))
    #expect(try Data(contentsOf: crier.directory.appending(path: "tone.flac")) == original)
    #expect(try crier("sounds", "check", copy.path).status == 0)
    let again = try crier("sounds", "check", "--fix", "--json", "tone.flac")
    #expect(again.status == 73)
    #expect(again.message.contains("tone-fixed.wav exists already and is not replaced"))
    #expect(try lines(again.output).map(\.fixed) == [nil])
    try FileManager.default.removeItem(at: copy)
    #expect(try lines(try crier("sounds", "check", "--fix", "--json", "tone.flac").output).map(\.fixed) == [copy.path])
  }

  @Test("--fix reports if it cut a sound because the sound was too long")
  func cut() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try shell("sox -R -r 8000 -n -b 16 long.wav synth 31 sine 440 gain -13", crier) == 0)
    let result = try crier("sounds", "check", "--fix", "long.wav")
    #expect(result.message.contains("error too_long: The sound lasts 31.00 s."))
    #expect(result.message.contains("long-fixed.wav: the sound was too long; it is cut to 29.5 s and faded out."))
    let bytes = [UInt8](try Data(contentsOf: crier.directory.appending(path: "long-fixed.wav")))
    let duration = try WAVFile.decode(bytes).waveform.durationMilliseconds
    #expect(duration <= 29_500 && duration > 29_000)
  }

  @Test(
    "the remedy of a problem, when it is pasted into a shell, makes a playable file",
    arguments: [
      ("mp3_not_documented", "sox -r 22050 -n t.wav synth 1 sine 440 gain -13 && ffmpeg -i t.wav 'a b.mp3'", "a b.mp3"),
      ("m4a_not_supported", "ffmpeg -f lavfi -i sine=d=31 -c:a aac \"it's.m4a\"", "it's.m4a"),
      ("aac_not_supported", "ffmpeg -f lavfi -i sine=d=1 -c:a aac a.aac", "a.aac"),
      ("codec_not_supported", "ffmpeg -f lavfi -i sine=d=1 -c:a alac a.caf", "a.caf"),
      ("gsm_not_supported", "sox -r 8000 -n -e gsm a.wav synth 1 sine 440", "a.wav"),
      ("too_long", "sox -r 8000 -n -b 16 -- -a.wav synth 30 sine 440 gain -13", "./-a.wav"),
      ("truncated", "sox -r 8000 -n t.wav synth 2 sine 440 && head -c 20000 t.wav > a.wav", "a.wav"),
      ("header_mismatch", "sox -r 8000 -n t.wav synth 2 sine 440 && cat t.wav t.wav > a.wav", "a.wav"),
      ("wrong_extension", "sox -r 8000 -n -t caf 'a b.wav' synth 2 sine 440", "a b.wav"),
      ("invalid_name", "sox -r 8000 -n .hidden.wav synth 1 sine 440", ".hidden.wav"),
      ("clipping", "sox -r 22050 -n -b 16 a.wav synth 1 sine 440 gain 8", "a.wav"),
      (
        "wrong_folder", "mkdir -p 'c 1/Sounds' && sox -r 8000 -n 'c 1/Sounds/a.wav' synth 1 sine 440",
        "c 1/Sounds/a.wav"
      ),
      ("reserved_name", "sox -r 8000 -n -t wav default synth 1 sine 440", "default"),
      ("unpublishable_name", "sox -r 8000 -n a.aif synth 1 sine 440", "a.aif"),
    ])
  func pasted(code: String, making: String, file: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try shell(making, crier) == 0)
    let before = try lines(try crier("sounds", "check", "--json", file).output)
    let remedy = try #require(before.first?.problems.first { $0.code == code }?.remedy)
    let known = Set(try files(in: crier.directory))
    // A copy leaves the original as it is, so crier still exits with 65.
    #expect([0, 65].contains(try shell(remedy, crier)), "\(remedy)")
    let new = try files(in: crier.directory).filter { !known.contains($0) }
    #expect(new.count == 1)
    let after = try lines(try crier.run(["sounds", "check", "--json"] + new).output)
    let isPlayable = after.allSatisfy(\.playable)
    #expect(isPlayable)
    #expect(!after.contains { $0.problems.contains { $0.code == code } })
  }

  private func files(in folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      !$0.hasPrefix("input-") && !$0.hasPrefix("output-") && !$0.hasPrefix("message-") && !$0.hasPrefix("bin")
        && !$0.hasPrefix("data") && ["wav", "aiff", "caf"].contains(URL(filePath: $0).pathExtension)
    }
  }

  @Test("control characters in a file's name do not reach the terminal")
  func controls() throws {
    let crier = try Command()
    defer { crier.remove() }
    try Data("text".utf8).write(to: crier.directory.appending(path: "a\u{1B}[2J.wav"))
    let result = try crier("sounds", "check", "a\u{1B}[2J.wav")
    #expect(result.status == 65 && !result.output.contains("\u{1B}"))
    #expect(result.output.hasPrefix("a\u{FFFD}[2J.wav: not playable\n"))
  }

  @Test(
    "crier sounds check refuses a command line without a file or with an empty name",
    arguments: [[], [""], ["a.wav", ""], ["--x"]])
  func refused(arguments: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier.run(["sounds", "check"] + arguments).status == 64)
  }
}
