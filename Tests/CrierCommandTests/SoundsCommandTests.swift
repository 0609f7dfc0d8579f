// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier sounds prune")
struct SoundsCommandTests {
  private func render(_ amount: String, _ crier: Command) throws -> URL {
    let result = try crier("render", "--amount", amount, "--currency", "USD", "--locale", "en-US", "--method", "speech")
    #expect(result.status == 0, "\(result.message)")
    return URL(filePath: result.output.trimmingCharacters(in: .newlines))
  }

  private func names(_ crier: Command) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: crier.sounds.path).sorted()
  }

  @Test("removes the named clips and prints their names, and a removed clip is rendered again when needed")
  func named() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (first, second) = (try render("1.00", crier), try render("2.00", crier))
    let bytes = try Data(contentsOf: first)
    let result = try crier("sounds", "prune", first.lastPathComponent)
    #expect(result.status == 0 && result.message.isEmpty)
    #expect(result.output == first.lastPathComponent + "\n")
    #expect(try names(crier) == [second.lastPathComponent])
    #expect(try render("1.00", crier) == first)
    #expect(try Data(contentsOf: first) == bytes)
    let json = try crier("sounds", "prune", "--json", first.lastPathComponent)
    #expect(json.output == "{\"name\":\"\(first.lastPathComponent)\"}\n")
  }

  @Test("each removed clip is in the log of administrative actions with its remover, and a missing clip is not")
  func written() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = try render("1.00", crier).lastPathComponent
    #expect(try crier("sounds", "prune", "none.wav").status == 65)
    #expect(try crier("keys", "log").output.isEmpty)
    #expect(try crier("sounds", "prune", clip, environment: ["SUDO_UID": "4321"]).status == 0)
    let acts = try crier("keys", "log").output.split(separator: "\n").map { $0.split(separator: "\t").dropFirst() }
    #expect(acts == [["user:\(getuid()) for user:4321", "clip_removed", clip[...]]])
    let help = try crier("keys", "log", "--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(help.contains("announcements, batches and clips; and clips removed by crier sounds prune"))
  }

  @Test("a log of administrative actions that cannot be written is reported, and the clip is removed")
  func unwritable() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = try render("1.00", crier).lastPathComponent
    try Data("no database".utf8).write(to: crier.home.appending(path: "ledger.sqlite"))
    let result = try crier("sounds", "prune", clip)
    #expect(result.status == 0 && result.output == clip + "\n")
    #expect(result.message.contains("could not be recorded in the log of administrative actions"))
    #expect(try names(crier).isEmpty)
  }

  @Test("removes all clips of an engine, by its name or digest, and keeps the clips of other engines")
  func engine() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clips = [try render("1.00", crier), try render("2.00", crier)].map(\.lastPathComponent).sorted()
    try Data("no clip".utf8).write(to: crier.sounds.appending(path: "tone.wav"))
    let none = try crier("sounds", "prune", "--engine", "espeak-ng-0.0-0000000000000000")
    #expect(none.status == 0 && none.output.isEmpty)
    let known = try #require(none.message.firstMatch(of: #/espeak-ng-[0-9.]+-([0-9a-f]{16}) \(2\)/#))
    #expect(none.message.contains("Kept 1 files"))
    let result = try crier("sounds", "prune", "--engine", String(known.output.1))
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").map(String.init) == clips)
    #expect(try names(crier) == ["tone.wav"])
  }

  @Test("a missing clip is an error that names it, and the other clips are removed")
  func missing() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = try render("1.00", crier).lastPathComponent
    let result = try crier("sounds", "prune", "none.wav", clip)
    #expect(result.status == 65)
    #expect(result.output == clip + "\n")
    #expect(result.message.contains("there is no clip none.wav in"))
    #expect(result.message.hasSuffix("; the others were removed.\n"))
    let alone = try crier("sounds", "prune", "none.wav")
    #expect(alone.status == 65 && alone.output.isEmpty)
    #expect(
      alone.message.hasSuffix("; nothing was removed. Check the names, --home and --group.\n"), "\(alone.message)")
  }

  @Test(
    "invalid arguments are refused, and nothing is removed",
    arguments: [[], ["a.wav", "--engine", "x"], ["--engine", ""], ["../a.wav"], ["--group", "../x", "a.wav"]])
  func refused(arguments: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = try render("1.00", crier).lastPathComponent
    let result = try crier.run(["sounds", "prune"] + arguments)
    #expect(result.status == 64)
    #expect(try names(crier) == [clip])
  }
}
