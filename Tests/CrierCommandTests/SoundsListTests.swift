// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputTestSupport
import Testing
import Waveforms

@Suite("crier sounds list")
struct SoundsListTests {
  /// Writes a tone of one second into the group's folder, with a time of last use.
  @discardableResult
  private func put(_ name: String, used: Double, milliseconds: Int = 1_000, _ crier: Command) throws -> Int {
    try FileManager.default.createDirectory(at: crier.sounds, withIntermediateDirectories: true)
    let bytes = WAVFile.encode(Tone.sine(440, milliseconds: milliseconds, rate: 22_050))
    let url = crier.sounds.appending(path: name)
    try Data(bytes).write(to: url)
    try setUse(of: url, to: used)
    return bytes.count
  }

  private func setUse(of url: URL, to seconds: Double) throws {
    let date = Date(timeIntervalSince1970: seconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
  }

  private func render(_ amount: String, _ crier: Command) throws -> (url: URL, report: [String: JSONValue]) {
    let result = try crier(
      "render", "--amount", amount, "--currency", "USD", "--locale", "en-US", "--method", "speech", "--json")
    #expect(result.status == 0, "\(result.message)")
    let report = try #require(try JSONValue(result.output).object)
    let path = try #require(report["clip"]?.object?["path"]?.string)
    return (URL(filePath: path), report)
  }

  @Test("crier sounds list prints name, words, length, size and last use of clips and tones, the latest use first")
  func table() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (clip, report) = try render("12.50", crier)
    try setUse(of: clip, to: 1_700_000_000)
    try put("tone.wav", used: 1_700_000_060, crier)
    try Data("no sound".utf8).write(to: crier.sounds.appending(path: "broken.wav"))
    try setUse(of: crier.sounds.appending(path: "broken.wav"), to: 1_600_000_000)
    let result = try crier("sounds", "list")
    #expect(result.status == 0)
    #expect(result.message.isEmpty)
    let rows = result.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    try #require(rows.count == 3)
    #expect(rows[0] == ["tone.wav", "-", "1.0 s", "44.1 kB", "used 2023-11-14T22:14:20Z", "kept: not_a_clip"])
    let milliseconds = try #require(report["clip"]?.object?["duration_ms"]?.number)
    #expect(rows[1].count == 5)
    #expect(rows[1][0] == clip.lastPathComponent)
    #expect(rows[1][1] == "Received twelve dollars and fifty cents")
    #expect(rows[1][2] == String(format: "%.1f s", milliseconds / 1_000))
    #expect(rows[1][4] == "used 2023-11-14T22:13:20Z")
    #expect(rows[2] == ["broken.wav", "-", "no sound", "8 B", "used 2020-09-13T12:26:40Z", "kept: not_a_clip"])
  }

  @Test("crier sounds list --json prints one object for each sound, with exact figures and null for unknown values")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (clip, report) = try render("12.50", crier)
    try setUse(of: clip, to: 1_700_000_000)
    let bytes = try put("tone.wav", used: 1_600_000_000, milliseconds: 1_500, crier)
    let result = try crier("sounds", "list", "--json")
    let lines = try result.output.split(separator: "\n").map { try JSONValue(String($0)) }
    let made = try #require(report["clip"]?.object)
    let first: [String: JSONValue] = [
      "name": .string(clip.lastPathComponent), "words": report["text"] ?? .null,
      "duration_ms": made["duration_ms"] ?? .null, "bytes": made["bytes"] ?? .null,
      "last_used": .string("2023-11-14T22:13:20Z"), "kept_because": .array([]),
    ]
    let second: [String: JSONValue] = [
      "name": .string("tone.wav"), "words": .null, "duration_ms": .number(1_500), "bytes": .number(Double(bytes)),
      "last_used": .string("2020-09-13T12:26:40Z"), "kept_because": .array([.string("not_a_clip")]),
    ]
    #expect(lines == [.object(first), .object(second)])
  }

  @Test("a clip that was just used or that a waiting announcement needs is listed with the reasons why it is kept")
  func kept() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier, ["--port", "0", "--output", "null"])
    #expect(try service.send("POST", "/v1/playback/pause").status == 200)
    for id in ["1", "2", "3"] {
      let body = #"{"id":"\#(id)","amount":"\#(id).00","currency":"USD"\#(id == "3" ? "" : #","deliver":["play"]"#)}"#
      let answer = try service.send(
        "POST", "/v1/announcements", headers: ["Content-Type: application/json"], body: Data(body.utf8))
      let clip = URL(filePath: try #require(try answer.json()["clip"]?["path"]?.string))
      // The player uses the clip of a waiting announcement at a moment that the test does not control.
      if id == "3" { try setUse(of: clip, to: 1_000) }
    }
    let lines = try crier("sounds", "list", "--sort", "used").output.split(separator: "\n")
    let reasons = lines.map { $0.split(separator: "\t").dropFirst(5) }
    #expect(reasons == [["kept: needed, recently_used"], ["kept: needed, recently_used"], []])
  }

  @Test("--sort orders by name, by size or by last use, and sounds with the same value by name")
  func sort() throws {
    let crier = try Command()
    defer { crier.remove() }
    try put("b.wav", used: 3_000, milliseconds: 100, crier)
    try put("a.wav", used: 1_000, milliseconds: 200, crier)
    try put("d.wav", used: 2_000, milliseconds: 300, crier)
    try put("c.wav", used: 2_000, milliseconds: 300, crier)
    let orders: [([String], String)] = [([], "bcda"), (["used"], "bcda"), (["name"], "abcd"), (["size"], "cdab")]
    for (order, expected) in orders {
      let result = try crier.run(["sounds", "list"] + order.flatMap { ["--sort", $0] })
      #expect(result.output.split(separator: "\n").compactMap(\.first) == Array(expected), "\(order)")
    }
  }

  @Test("--group, --containers and --home select the folder of sounds, and a folder without sounds is not an error")
  func folders() throws {
    let crier = try Command()
    defer { crier.remove() }
    try put("tone.wav", used: 1_000, crier)
    let empty = try crier("sounds", "list", "--group", "group.shop")
    #expect(empty.status == 0 && empty.output.isEmpty)
    #expect(empty.message.hasPrefix("There are no sounds in ") && empty.message.contains("group.shop/Library/Sounds"))
    #expect(try crier("sounds", "list", "--containers", "home/containers").output.hasPrefix("tone.wav\t"))
    #expect(try crier("sounds", "list", "--home", "elsewhere").output.isEmpty)
  }

  @Test("control characters in the words of a clip do not reach the terminal")
  func printable() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (clip, _) = try render("12.50", crier)
    let bytes = try Data(contentsOf: clip)
    let range = try #require(bytes.range(of: Data("Received twelve".utf8)))
    // The record stays as long as it was: six characters of JSON are one escape character.
    try bytes.replacing(range, with: Data("Rec\\u001b twelve".utf8.prefix(range.count))).write(to: clip)
    let result = try crier("sounds", "list")
    #expect(result.status == 0 && !result.output.contains("\u{1B}") && result.output.contains("Rec\u{FFFD} twe"))
  }

  @Test(
    "crier sounds list refuses invalid arguments",
    arguments: [["--sort", "length"], ["--sort", ""], ["--group", "../x"], ["--containers", ""], ["tone.wav"]])
  func refused(arguments: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["sounds", "list"] + arguments)
    #expect(result.status == 64 && result.output.isEmpty)
  }
}

extension Data {
  /// Returns the data with a range replaced by as many other bytes.
  fileprivate func replacing(_ range: Range<Data.Index>, with bytes: Data) -> Data {
    var changed = self
    changed.replaceSubrange(range, with: bytes)
    return changed
  }
}
