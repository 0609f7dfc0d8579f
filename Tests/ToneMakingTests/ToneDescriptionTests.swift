// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@testable import ToneMaking

@Suite("Descriptions of tones")
struct ToneDescriptionTests {
  static let valid = """
    {"title": "A test", "attack_ms": 2, "release_ms": 20,
     "partials": [{"ratio": 1, "level": 1, "decay_ms": 500}],
     "notes": [{"start_ms": 0, "length_ms": 600, "hertz": 800, "level": 0.5}]}
    """

  /// Reads a text as the description of a tone.
  private func read(_ text: String) throws -> ToneDescription {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tones-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(text.utf8).write(to: folder.appending(path: "test.json"))
    return try ToneDescriptions(directory: folder).description(of: "test")
  }

  @Test("a valid description of a tone is read")
  func reads() throws {
    let description = try read(Self.valid)
    #expect(description.title == "A test" && description.attackMilliseconds == 2)
    #expect(description.releaseMilliseconds == 20)
    #expect(description.partials == [.init(ratio: 1, level: 1, decayMilliseconds: 500)])
    #expect(description.notes == [.init(startMilliseconds: 0, lengthMilliseconds: 600, hertz: 800, level: 0.5)])
  }

  @Test(
    "a fault in a tone's description is an error that names the field and the permitted values",
    arguments: [
      ("\"A test\"", "\"\"", "title must have 1 to 80 characters without control characters"),
      ("\"A test\"", "\"a\\u001b[2J\"", "title must have 1 to 80 characters without control characters"),
      ("\"attack_ms\": 2", "\"attack_ms\": 0", "attack_ms must be 1 to 100"),
      ("\"release_ms\": 20", "\"release_ms\": 501", "release_ms must be 5 to 500"),
      ("\"ratio\": 1", "\"ratio\": 21", "partials[0].ratio must be 0.1 to 20"),
      ("\"level\": 1", "\"level\": 0", "partials[0].level must be above 0 and at most 1"),
      ("\"decay_ms\": 500", "\"decay_ms\": 9", "partials[0].decay_ms must be 10 to 10000"),
      ("\"hertz\": 800", "\"hertz\": 49.9", "notes[0].hertz must be 50 to 10000"),
      ("\"level\": 0.5", "\"level\": 1.5", "notes[0].level must be above 0 and at most 1"),
      ("\"start_ms\": 0", "\"start_ms\": -1", "notes[0].start_ms must be 0 to 1940"),
      ("\"length_ms\": 600", "\"length_ms\": 21", "notes[0].length_ms must be 22 to 1940"),
      ("\"start_ms\": 0", "\"start_ms\": 1341", "notes[0] must end at 1940 ms or earlier"),
      (
        "\"ratio\": 1", "\"ratio\": 12.6",
        "notes[0].hertz times the ratio of each partial must be at most 10000"
      ),
      ("[{\"ratio\": 1, \"level\": 1, \"decay_ms\": 500}]", "[]", "partials must have 1 to 16 items"),
      ("\"hertz\": 800, ", "", "notes[0].hertz is missing"),
      ("\"hertz\": 800", "\"hertz\": \"high\"", "notes[0].hertz has the wrong type"),
      ("\"title\": \"A test\", ", "", "title is missing"),
      ("}]}", "}]", "is not valid JSON, or has a number that its key does not allow"),
      ("\"start_ms\": 0", "\"start_ms\": 0.5", "is not valid JSON, or has a number that its key does not allow"),
      ("\"hertz\": 800", "\"hertz\": 1e999", "is not valid JSON, or has a number that its key does not allow"),
      (
        "\"start_ms\": 0", "\"start_ms\": 99999999999999999999",
        "is not valid JSON, or has a number that its key does not allow"
      ),
      ("\"length_ms\": 600", "\"length_ms\": \(Int.max)", "notes[0].length_ms must be 22 to 1940"),
      ("\"attack_ms\": 2", "\"attack_ms\": \(Int.max)", "attack_ms must be 1 to 100"),
      ("\"level\": 0.5", "\"level\": null", "notes[0].level has the wrong type"),
      (
        "\"A test\"", "\"\(String(repeating: "a", count: 81))\"",
        "title must have 1 to 80 characters without control characters"
      ),
    ])
  func faults(_ part: String, _ replacement: String, _ reason: String) throws {
    let text = Self.valid.replacing(part, with: replacement, maxReplacements: 1)
    #expect(text != Self.valid)
    let error = #expect(throws: ToneError.self) { try read(text) }
    #expect(error?.code == .descriptionInvalid)
    #expect(error?.reason == reason)
    #expect(error?.description.hasSuffix("test.json: \(reason); correct the description of the tone.") == true)
  }

  @Test(
    "a description of a tone that is empty, too large, a folder or a pipe is an error, and reading it does not block"
  )
  func unreadable() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tones-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let padding = String(repeating: " ", count: 64 * 1024 - Self.valid.utf8.count)
    try Data().write(to: folder.appending(path: "empty.json"))
    try Data((Self.valid + padding).utf8).write(to: folder.appending(path: "largest.json"))
    try Data((Self.valid + padding + " ").utf8).write(to: folder.appending(path: "large.json"))
    try FileManager.default.createDirectory(
      at: folder.appending(path: "folder.json"), withIntermediateDirectories: false)
    #expect(mkfifo(folder.path + "/pipe.json", 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.json", withDestinationPath: "largest.json")
    let descriptions = ToneDescriptions(directory: folder)
    for (name, reason) in [
      ("empty", "is not valid JSON, or has a number that its key does not allow"),
      ("large", "cannot be read, or is larger than 65536 bytes"),
      ("folder", "cannot be read, or is larger than 65536 bytes"),
      ("pipe", "cannot be read, or is larger than 65536 bytes"),
    ] {
      let error = #expect(throws: ToneError.self) { try descriptions.description(of: name) }
      #expect(error?.code == .descriptionInvalid && error?.reason == reason, "\(name): \(error?.reason ?? "")")
    }
    for name in ["largest", "link"] { #expect(try descriptions.description(of: name).title == "A test") }
  }

  @Test("the description of a tone may have at most 16 notes")
  func many() throws {
    let note = "{\"start_ms\": 0, \"length_ms\": 600, \"hertz\": 800, \"level\": 0.5}"
    for (count, isValid) in [(16, true), (17, false)] {
      let text = Self.valid.replacing(note, with: Array(repeating: note, count: count).joined(separator: ","))
      #expect(((try? read(text)) != nil) == isValid)
    }
  }

  @Test("an unknown tone is an error that names the known tones")
  func unknown() throws {
    let error = #expect(throws: ToneError.self) { try ToneTests.shipped.description(of: "gong") }
    #expect(error?.code == .toneUnknown)
    #expect(error?.description.contains("choose one of bell, chime, coins, falling, knock, marimba, rising.") == true)
  }

  @Test(
    "a tone name that leads out of the folder is unknown",
    arguments: ["../Tones/bell", "", "Bell", "bell.json", "default"])
  func outside(_ name: String) throws {
    let error = #expect(throws: ToneError.self) { try ToneTests.shipped.description(of: name) }
    #expect(error?.code == .toneUnknown)
  }

  @Test("a missing folder of tone descriptions is an error that says what to do")
  func missing() {
    let error = #expect(throws: ToneError.self) {
      try ToneDescriptions(directory: URL(filePath: "/nonexistent/Tones")).names()
    }
    #expect(error?.code == .descriptionsMissing)
    #expect(error?.description.contains("give the folder that contains Tones/ with --data") == true)
  }
}
