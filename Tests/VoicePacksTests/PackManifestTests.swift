// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks

@Suite("PackManifest: a pack's description is checked before use")
struct PackManifestTests {
  private let voices: VoicesFolder
  private let manifest = VoicesFolder.manifest(tokens: ["one", "two"])

  init() throws { voices = try VoicesFolder() }

  @Test("a consistent manifest has no fault")
  func sound() {
    #expect(manifest.fault == nil)
    var full = manifest
    full.tokens["one"]?.rising = "two.wav"
    full.tokens["one"]?.final = "one.wav"
    full.phrases = [.init(tokens: ["one", "two"], clips: .init(plain: "one.wav"))]
    #expect(full.fault == nil)
  }

  @Test("a manifest states that an engine made its clips, and has no such key if a person recorded them")
  func synthesized() throws {
    let built = PackManifest(
      id: "demo", locale: "en-US", speaker: "an engine", licence: "CC0-1.0", isSynthesized: true)
    #expect(String(decoding: try built.json, as: UTF8.self).contains("\"synthesized\" : true"))
    #expect(try JSONDecoder().decode(PackManifest.self, from: built.json).isSynthesized)
    #expect(!String(decoding: try manifest.json, as: UTF8.self).contains("synthesized"))
    #expect(!manifest.isSynthesized)
  }

  @Test("the id and the file names in a manifest are plain ASCII and cannot lead out of the folder")
  func names() {
    for name in ["a", "zh-CN-espeak", "A_1.wav", String(repeating: "x", count: 64)] {
      #expect(PackManifest.isID(name) && PackManifest.isFileName(name))
    }
    for name in ["", ".", "..", ".a", "a/b", "/a", "a\\b", "a b", "é", "一", "a\0", "a\n", "e\u{301}"] {
      #expect(!PackManifest.isID(name) && !PackManifest.isFileName(name))
    }
    #expect(!PackManifest.isID(String(repeating: "x", count: 65)))
    #expect(!PackManifest.isFileName(String(repeating: "x", count: 129)))
  }

  @Test(
    "a manifest that contradicts itself is an error that names the fault",
    arguments: [
      Change("format is 2") { $0.format = 2 },
      Change("id “a/b”") { $0.id = "a/b" },
      Change("locale “”") { $0.locale = "" },
      Change("sample_rate 0") { $0.sampleRate = 0 },
      Change("sample_rate -22050") { $0.sampleRate = -22_050 },
      Change("sample_rate \(Int.max)") { $0.sampleRate = .max },
      Change("the clip “../one.wav”") { $0.clips["../one.wav"] = .init(text: "one", sha256: "") },
      Change("the clip “/etc/passwd”") { $0.clips["/etc/passwd"] = .init(text: "one", sha256: "") },
      Change("the clip one.wav has no text") { $0.clips["one.wav"]?.text = " " },
      Change("a token has no name") { $0.tokens[""] = .init(plain: "one.wav") },
      Change("the token “three” uses the clip “3.wav”") { $0.tokens["three"] = .init(plain: "3.wav") },
      Change("the token “one” uses the clip “..”") { $0.tokens["one"]?.rising = ".." },
      Change("the token “one” uses the clip “”") { $0.tokens["one"]?.final = "" },
      Change("the phrase “one” has fewer") { $0.phrases = [.init(tokens: ["one"], clips: .init(plain: "one.wav"))] },
      Change("the phrase “” has fewer") { $0.phrases = [.init(tokens: [], clips: .init(plain: "one.wav"))] },
      Change("the phrase “one ”") { $0.phrases = [.init(tokens: ["one", ""], clips: .init(plain: "one.wav"))] },
      Change("the phrase “one two” uses") {
        $0.phrases = [.init(tokens: ["one", "two"], clips: .init(plain: "12.wav"))]
      },
      Change("the phrase “one two” occurs twice") {
        $0.phrases = Array(repeating: .init(tokens: ["one", "two"], clips: .init(plain: "one.wav")), count: 2)
      },
    ])
  fileprivate func faults(change: Change) throws {
    var broken = manifest
    change.make(&broken)
    let fault = try #require(broken.fault)
    #expect(fault.hasPrefix(change.fault))
  }

  @Test("a manifest with more clips than a process can map is refused")
  func tooMany() {
    var many = manifest
    for index in 0..<10_000 { many.clips["\(index).wav"] = .init(text: "x", sha256: "") }
    #expect(many.fault == "there are 10002 clips, but at most 10000 fit")
  }

  @Test("the error for a manifest contains none of its control characters")
  func shown() {
    var broken = manifest
    broken.tokens["\u{1B}[2J\u{202E}"] = .init(plain: "\n")
    #expect(
      broken.fault == "the token “\\u{1B}[2J\\u{202E}” uses the clip “\\n”, which is not in clips")
  }

  @Test("the id of a pack must be the name of its folder")
  func otherFolder() throws {
    let error = loadingError(try voices.write(manifest, folder: "other"))
    #expect(error?.code == .manifestInvalid)
    #expect(
      error?.description
        == "voice pack other: in manifest.json, id is “demo”, but the folder is other; correct it, or make the pack again."
    )
  }

  @Test("a manifest of another format has another error than a broken manifest, whatever else it contains")
  func format() throws {
    #expect(try code(#"{"format": 2, "voices": []}"#) == .formatUnsupported)
    #expect(try code(#"{"format": "1"}"#) == .manifestUnreadable)
  }

  @Test(
    "an invalid manifest is refused",
    arguments: [
      "", "null", "[]", "{}", "{", #"{"format": 1}"#, #"{"format": 1e400}"#, #"{"format": 99999999999999999999}"#,
      "\u{FEFF}{}", String(repeating: "[", count: 100_000),
      #"{"format": 1, "id": "demo", "clips": {"a": {"text": 1}}}"#,
    ])
  func unreadable(text: String) throws {
    #expect(try code(text) == .manifestUnreadable)
  }

  @Test("a manifest that is missing, a link or larger than 4 MiB is refused")
  func noManifest() throws {
    let directory = try voices.write(manifest)
    let file = directory.appending(path: PackManifest.fileName)
    try FileManager.default.moveItem(at: file, to: directory.appending(path: "real.json"))
    #expect(loadingError(directory)?.code == .manifestUnreadable)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "real.json")
    #expect(loadingError(directory)?.code == .manifestUnreadable)
    try FileManager.default.removeItem(at: file)
    try (manifest.json + Data(repeating: 32, count: 4 << 20)).write(to: file)
    #expect(loadingError(directory)?.code == .manifestUnreadable)
  }

  @Test("clip names that are equal in Unicode but not in bytes do not cause a trap")
  func equivalentNames() throws {
    var text = String(decoding: try manifest.json, as: UTF8.self)
    let tokens = ["\u{E9}", "e\u{301}"].map { #""\#($0)":{"plain":"one.wav"},"# }
    text.replace(#""tokens" : {"#, with: #""tokens" : {"# + tokens.joined())
    try #require(text.contains("\u{E9}"))
    #expect([nil, .manifestUnreadable].contains(try code(text)))
  }

  @Test("a manifest with any one byte changed gives a pack or an error, but never a trap")
  func mutations() throws {
    let directory = try voices.write(manifest)
    let file = directory.appending(path: PackManifest.fileName)
    let original = try manifest.digestInput
    var refused = 0
    for position in original.indices {
      for byte: UInt8 in [0, 0x22, 0x39, 0xFF] {
        var broken = original
        broken[position] = byte
        try broken.write(to: file)
        refused += loadingError(directory) == nil ? 0 : 1
      }
    }
    #expect(refused > original.count)
  }

  private func code(_ text: String) throws -> VoicePackError.Code? {
    let directory = try voices.write(manifest)
    try Data(text.utf8).write(to: directory.appending(path: PackManifest.fileName))
    return loadingError(directory)?.code
  }
}

/// A forbidden change to a manifest, and the beginning of its error.
private struct Change: Sendable {
  var fault: String
  var make: @Sendable (inout PackManifest) -> Void

  init(_ fault: String, _ make: @escaping @Sendable (inout PackManifest) -> Void) {
    self.fault = fault
    self.make = make
  }
}
