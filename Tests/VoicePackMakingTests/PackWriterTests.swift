// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing
import VoicePackIntegrity
import VoicePacks
import Waveforms

@testable import VoicePackMaking

@Suite("PackWriter: a pack appears completely or not at all")
struct PackWriterTests {
  private let folder: TemporaryFolder
  private let facts = PackFacts(id: "my-shop", locale: "en-US", speaker: "Ada", licence: "CC-BY-4.0")

  init() throws { folder = try TemporaryFolder() }

  private var writer: PackWriter { PackWriter(directory: folder.url.appending(path: "Voices")) }

  private func clip(
    _ tokens: String..., position: ClipPosition = .plain, text: String? = nil, hertz: Double = 440
  ) -> PackClip {
    PackClip(
      tokens: tokens, position: position, text: text ?? tokens.joined(separator: " "),
      waveform: Signals.waveform(Signals.tone(hertz, 0.3, seconds: 0.1, rate: 22_050)))
  }

  private func contents(_ id: String = "my-shop") throws -> [String: Data] {
    let pack = writer.directory.appending(path: id)
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: pack.path) {
      contents[name] = try Data(contentsOf: pack.appending(path: name))
    }
    return contents
  }

  /// The names in the folder of packs, except that of the lock.
  private func entries() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: writer.directory.path)) ?? [])
      .filter { $0 != PackWriter.lockName }.sorted()
  }

  private func code(_ facts: PackFacts, _ clips: [PackClip]) -> PackMakingError.Code? {
    #expect(throws: PackMakingError.self) { try writer.write(facts, clips: clips) }?.code
  }

  @Test("the manifest of a pack lists every clip with its words and digests, and reads back as it was returned")
  func manifest() throws {
    let manifest = try writer.write(
      facts,
      clips: [
        clip("twenty"), clip("twenty", position: .final, hertz: 330), clip("到账", hertz: 500),
        clip("Hong_Kong_dollars", text: "Hong Kong dollars", hertz: 600), clip("twenty", "one", hertz: 700),
      ])
    #expect(manifest.tokens["twenty"] == .init(plain: "twenty.wav", final: "twenty-final.wav"))
    #expect(manifest.tokens["到账"] == .init(plain: "0003.wav"))
    #expect(manifest.phrases == [.init(tokens: ["twenty", "one"], clips: .init(plain: "twenty-one.wav"))])
    #expect(manifest.clips["hong_kong_dollars.wav"]?.text == "Hong Kong dollars")
    #expect(manifest.sampleRate == 22_050)
    let contents = try contents()
    #expect(Set(contents.keys) == Set(manifest.clips.keys).union([PackManifest.fileName]))
    for (name, clip) in manifest.clips {
      let bytes = [UInt8](try #require(contents[name]))
      #expect(PackIntegrity.sha256(bytes) == clip.sha256)
      #expect(try WAVFile.decode(bytes).waveform.sampleRate == 22_050)
    }
    let read = try JSONDecoder().decode(PackManifest.self, from: try #require(contents[PackManifest.fileName]))
    #expect(read == manifest)
    #expect(try PackIntegrity.digest(of: read) == read.digest)
    #expect(entries() == ["my-shop"])
  }

  @Test("the same facts and clips give the same bytes of a pack, and a different sound gives a different digest")
  func deterministic() throws {
    let clips = [clip("one"), clip("two", hertz: 500)]
    let first = try writer.write(facts, clips: clips)
    let before = try contents()
    #expect(try writer.write(facts, clips: clips, replacing: true) == first)
    #expect(try contents() == before)
    let other = try writer.write(facts, clips: [clip("one"), clip("two", hertz: 501)], replacing: true)
    #expect(other.digest != first.digest)
  }

  @Test("equal clips of a pack are stored once, unless they have different words")
  func duplicates() throws {
    let manifest = try writer.write(
      facts, clips: [clip("one", text: "one"), clip("won", text: "one"), clip("wan", text: "wan")])
    #expect(manifest.clips.count == 2)
    #expect(manifest.tokens["one"] == manifest.tokens["won"])
    #expect(manifest.tokens["wan"]?.plain == "wan.wav")
  }

  @Test("tokens that differ only in case have separate files on every file system")
  func cases() throws {
    let manifest = try writer.write(facts, clips: [clip("Note"), clip("note", hertz: 500)])
    #expect(manifest.tokens["Note"]?.plain == "note.wav")
    #expect(manifest.tokens["note"]?.plain == "0002.wav")
  }

  @Test(
    "a token that contains a path cannot write outside the pack", arguments: ["../../x", "a/b", ".hidden", "-rf"])
  func hostileTokens(token: String) throws {
    let manifest = try writer.write(facts, clips: [clip(token)])
    #expect(manifest.tokens[token]?.plain == "0001.wav")
    #expect(entries() == ["my-shop"])
  }

  @Test("a token without a plain clip uses its final clip in the plain position too")
  func noPlainClip() throws {
    let manifest = try writer.write(
      facts, clips: [clip("cents", position: .rising), clip("cents", position: .final, hertz: 330)])
    let final = "cents-final.wav"
    #expect(manifest.tokens["cents"] == .init(plain: final, rising: "cents-rising.wav", final: final))
  }

  @Test("an existing pack is kept unless it may be replaced")
  func replacing() throws {
    try writer.write(facts, clips: [clip("one")])
    let before = try contents()
    let error = #expect(throws: PackMakingError.self) { try writer.write(facts, clips: [clip("two")]) }
    #expect(error?.code == .packExists)
    #expect(try contents() == before)
    #expect(entries() == ["my-shop"])
    try writer.write(facts, clips: [clip("two")], replacing: true)
    #expect(Set(try contents().keys) == ["two.wav", PackManifest.fileName])
    #expect(entries() == ["my-shop"])
  }

  @Test("an open file of a replaced pack keeps its bytes")
  func openFiles() throws {
    try writer.write(facts, clips: [clip("one")])
    let file = writer.directory.appending(path: "my-shop/one.wav")
    let before = try Data(contentsOf: file)
    let handle = try FileHandle(forReadingFrom: file)
    try writer.write(facts, clips: [clip("one", hertz: 880)], replacing: true)
    #expect(try handle.readToEnd() == before)
    #expect(try Data(contentsOf: file) != before)
  }

  @Test(
    "a pack id that is not a valid folder name is refused", arguments: ["", ".", "..", ".a", "a/b", "a b", "é", "a\0"])
  func refusesIds(id: String) {
    var facts = facts
    facts.id = id
    #expect(code(facts, [clip("one")]) == .packInvalid)
    #expect(entries().isEmpty)
  }

  @Test("a pack id of 65 characters is refused, and a pack id of 64 characters is accepted")
  func longIds() throws {
    var facts = facts
    facts.id = String(repeating: "a", count: 65)
    #expect(code(facts, [clip("one")]) == .packInvalid)
    facts.id.removeLast()
    try writer.write(facts, clips: [clip("one")])
  }

  @Test("a pack without a speaker, a licence, a locale or clips is refused")
  func refusesFacts() {
    for path in [\PackFacts.locale, \.speaker, \.licence] {
      var facts = facts
      facts[keyPath: path] = " "
      #expect(code(facts, [clip("one")]) == .packInvalid)
    }
    #expect(code(facts, []) == .packInvalid)
  }

  @Test("a clip is refused without a token, with white space in the token, twice in one position, or at another rate")
  func refusesClips() {
    #expect(code(facts, [PackClip(tokens: [], text: "", waveform: clip("one").waveform)]) == .packInvalid)
    #expect(code(facts, [clip("twenty one")]) == .packInvalid)
    #expect(code(facts, [clip("one"), clip("one", hertz: 500)]) == .packInvalid)
    var other = clip("one")
    other.waveform.sampleRate = 8000
    #expect(code(facts, [other]) == .packInvalid)
    other.waveform = Waveform(samples: [], sampleRate: 22_050)
    #expect(code(facts, [other]) == .packInvalid)
    #expect(entries().isEmpty)
  }

  @Test("a removed pack leaves no file, and removing a missing pack is an error")
  func removed() throws {
    try writer.write(facts, clips: [clip("one")])
    try writer.remove("my-shop")
    #expect(entries().isEmpty)
    let error = #expect(throws: PackMakingError.self) { try writer.remove("my-shop") }
    #expect(error?.code == .writingFailed && error?.subject == "my-shop")
  }

  @Test("on a full disk, the earlier pack stays, no unfinished pack is left, and the error has the system's reason")
  func fullDisk() throws {
    try writer.write(facts, clips: [clip("one")])
    let before = try contents()
    var calls = FileSystemCalls.system
    calls.write = { _, _ throws(SystemError) in throw SystemError(number: ENOSPC) }
    let full = PackWriter(directory: writer.directory, calls: calls)
    let error = #expect(throws: PackMakingError.self) { try full.write(facts, clips: [clip("two")], replacing: true) }
    #expect(error?.code == .writingFailed)
    #expect(error?.problem == "could not be written (\(SystemError(number: ENOSPC)))")
    #expect(try contents() == before && entries() == ["my-shop"])
  }

  @Test("a pack is put into its place, or removed, only while no other writer holds the lock of the folder")
  func turns() throws {
    try writer.write(facts, clips: [clip("one")])
    let before = try contents()
    let lock = try LockedFile(writer.directory.appending(path: PackWriter.lockName), patience: 0)
    let impatient = PackWriter(directory: writer.directory, patience: 0)
    let errors = [
      #expect(throws: PackMakingError.self) { try impatient.write(facts, clips: [clip("two")], replacing: true) },
      #expect(throws: PackMakingError.self) { try impatient.remove("my-shop") },
    ]
    #expect(errors.allSatisfy { $0?.code == .writingFailed && $0?.remedy == "try again" })
    #expect(try contents() == before && entries() == ["my-shop"])
    withExtendedLifetime(lock) {}
  }

  @Test("if a pack cannot be written, no file of it is left behind")
  func unwritable() throws {
    try folder.file("Voices", [])  // This file is where the folder should be.
    let error = #expect(throws: PackMakingError.self) { try writer.write(facts, clips: [clip("one")]) }
    #expect(error?.code == .writingFailed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Voices"])
  }
}
