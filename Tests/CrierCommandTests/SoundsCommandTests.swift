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

  @Test("crier sounds prune removes the named clips and prints their names, and a removed clip can be rendered again")
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

  @Test("each removed clip is in the log of administrative actions with its remover, and a missing clip is not logged")
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
    #expect(help.contains("voice packs, phones and support bundles; and clips removed by crier sounds prune"))
  }

  @Test("if the log of administrative actions cannot be written, a message says so, and the clip is still removed")
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

  @Test("crier sounds prune removes all clips of an engine, by its name or digest, and keeps those of other engines")
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

  @Test("a missing clip is an error that names the clip, and the other named clips are removed")
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

  private func age(_ clip: URL, hours: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -hours * 3600)], ofItemAtPath: clip.path)
  }

  @Test(
    "crier sounds prune with limits removes the clips unused for the longest time; a dry run only prints their names")
  func limits() throws {
    let crier = try Command()
    defer { crier.remove() }
    let clips = [try render("1.00", crier), try render("2.00", crier), try render("3.00", crier)]
    try Data("tone".utf8).write(to: crier.sounds.appending(path: "tone.wav"))
    for (clip, hours) in zip(clips, [5.0, 9.0, 0.5]) { try age(clip, hours: hours) }
    let dry = try crier("sounds", "prune", "--max-files", "3", "--dry-run")
    #expect(dry.status == 0 && dry.output == clips[1].lastPathComponent + "\n")
    #expect(dry.message.contains("\nWould remove 1 clips: 1 over the limits, "), "\(dry.message)")
    #expect(try names(crier).count == 4)
    let removed = try crier("sounds", "prune", "--max-files", "3", "--json")
    #expect(removed.status == 0 && removed.output == "{\"name\":\"\(clips[1].lastPathComponent)\"}\n")
    #expect(try names(crier) == [clips[0], clips[2]].map(\.lastPathComponent).sorted() + ["tone.wav"])
    // A clip that was used within the hour stays, whatever the limit.
    let rest = try crier("sounds", "prune", "--max-mb", "0")
    #expect(rest.status == 0 && rest.output == clips[0].lastPathComponent + "\n")
    let none = try crier("sounds", "prune", "--unused-days", "0")
    #expect(none.status == 0 && none.output.isEmpty)
    #expect(none.message.hasSuffix("\nNo clip exceeds the limits, or every clip that exceeds them is still needed.\n"))
  }

  @Test("crier sounds prune keeps the clips that the home's service needs: for a valid URL or a waiting announcement")
  func needed() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier, ["--port", "0", "--output", "null"])
    #expect(try service.send("POST", "/v1/playback/pause").status == 200)
    func announce(_ id: String, _ more: String = "") throws -> URL {
      let body = #"{"payment":{"id":"\#(id)","amount":"\#(id).00","currency":"USD"}\#(more)}"#
      let answer = try service.send(
        "POST", "/v1/announcements", headers: ["Content-Type: application/json"], body: Data(body.utf8))
      #expect(answer.status == 201, "\(answer)")
      return URL(filePath: try #require(try answer.json()["clip"]?["path"]?.string))
    }
    let clips = [try announce("1"), try announce("2"), try announce("3", #","deliver":["play"]"#)]
    for (clip, days) in zip(clips, [6.0, 8, 8]) { try age(clip, hours: days * 24) }
    let removed = try crier("sounds", "prune", "--max-files", "0")
    #expect(removed.output == clips[1].lastPathComponent + "\n", "\(removed.message)")
  }

  @Test("crier render and crier batch remove clips only if limits are given")
  func publishing() throws {
    let crier = try Command()
    defer { crier.remove() }
    let old = try render("1.00", crier)
    try age(old, hours: 5)
    let second = try render("2.00", crier)
    #expect(try names(crier).count == 2)
    let third = try crier(
      "render", "--amount", "3.00", "--currency", "USD", "--locale", "en-US", "--method", "speech", "--max-files", "2")
    #expect(third.status == 0 && third.message.contains("Removed 1 clips: 1 over the limits, "))
    #expect(try !names(crier).contains(old.lastPathComponent) && names(crier).count == 2)
    try age(second, hours: 24 * 3)
    let list = crier.directory.appending(path: "list.csv")
    try Data("amount,currency\n4.00,USD\n".utf8).write(to: list)
    let batch = try crier("batch", list.path, "--method", "speech", "--unused-days", "2")
    #expect(batch.status == 0 && batch.message.contains("Removed 1 clips: 1 unused, "))
    #expect(try !names(crier).contains(second.lastPathComponent))
    let both = try crier("render", "--amount", "1", "--currency", "USD", "--output", "a.wav", "--max-mb", "1")
    #expect(both.status == 64 && both.message.contains("--output publishes nothing"))
  }

  @Test(
    "crier sounds prune refuses invalid arguments and removes nothing",
    arguments: [
      [], ["a.wav", "--engine", "x"], ["--engine", ""], ["../a.wav"], ["--group", "../x", "a.wav"], ["--dry-run"],
      ["--max-mb", "-1"], ["--max-mb", "a"], ["--max-files", "1.5"], ["a.wav", "--max-mb", "1"],
      ["--engine", "x", "--unused-days", "1"],
    ])
  func refused(arguments: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let clip = try render("1.00", crier).lastPathComponent
    let result = try crier.run(["sounds", "prune"] + arguments)
    #expect(result.status == 64)
    #expect(try names(crier) == [clip])
  }
}
