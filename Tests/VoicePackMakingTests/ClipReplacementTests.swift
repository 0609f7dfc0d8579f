// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Testing
import VoicePackIntegrity
import VoicePacks
import Waveforms

@testable import VoicePackMaking

@Suite("Recording one clip of a pack again")
struct ClipReplacementTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func sound(_ hertz: Double) -> Waveform {
    Signals.waveform(Signals.tone(hertz, 0.3, seconds: 0.1, rate: 22_050))
  }

  /// Writes a pack in which two tokens share the clip of one word.
  private func pack() throws -> VoicePack {
    let clips = [("one", "one", 440.0), ("one_more", "one more", 500), ("two", "two", 330)].map { token, text, hertz in
      PackClip(tokens: [token], text: text, waveform: Self.sound(hertz))
    }
    try PackWriter(directory: folder.url).write(
      PackFacts(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0"), clips: clips, replacing: true)
    return try VoicePack(directory: folder.url.appending(path: "shop"), storage: .copied)
  }

  private func loaded() throws -> VoicePack { try VoicePack(directory: folder.url.appending(path: "shop")) }

  @Test("a replaced clip has the new sound, the rest of the pack stays as it was, and the digests match")
  func replaced() throws {
    let before = try pack()
    let written = try PackWriter(directory: folder.url).replace("one.wav", with: Self.sound(600), in: before)
    let after = try loaded()
    #expect(after.manifest == written && written.digest != before.manifest.digest)
    try PackIntegrity.verify(after)
    #expect(after.bytes(ofClip: "one.wav").map { [UInt8]($0) } == WAVFile.encode(Self.sound(600)))
    #expect(after.bytes(ofClip: "two.wav") == before.bytes(ofClip: "two.wav"))
    #expect(after.manifest.tokens == before.manifest.tokens && after.manifest.speaker == "Ada")
    #expect(after.manifest.clips["one.wav"]?.text == "one")
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["shop", PackWriter.lockName])
    // With the first sound, the pack is as it was.
    #expect(
      try PackWriter(directory: folder.url).replace("one.wav", with: Self.sound(440), in: after) == before.manifest)
  }

  @Test("a new recording does not overwrite a pack that was replaced in the meantime")
  func changed() throws {
    let old = try pack()
    try PackWriter(directory: folder.url).replace("one.wav", with: Self.sound(600), in: old)
    let error = #expect(throws: PackMakingError.self) {
      try PackWriter(directory: folder.url).replace("two.wav", with: Self.sound(700), in: old)
    }
    #expect(error?.code == .packChanged)
    #expect(try loaded().bytes(ofClip: "two.wav") == old.bytes(ofClip: "two.wav"))
  }

  @Test("a new recording does not overwrite an import that ends while the recording is written to the disk")
  func importedMeanwhile() throws {
    let old = try pack()
    let isImported = Locked(false)
    var calls = FileSystemCalls.system
    calls.synchronize = { [place = folder.url] file throws(SystemError) in
      if !isImported.withLock({ isImported in
        defer { isImported = true }
        return isImported
      }) {
        let clip = PackClip(tokens: ["one"], text: "one", waveform: Self.sound(900))
        let facts = PackFacts(id: "shop", locale: "en-US", speaker: "Bela", licence: "CC0-1.0")
        #expect(throws: Never.self) {
          try PackWriter(directory: place).write(facts, clips: [clip], replacing: true)
        }
      }
      try FileSystemCalls.system.synchronize(file)
    }
    let writer = PackWriter(directory: folder.url, calls: calls)
    let error = #expect(throws: PackMakingError.self) {
      try writer.replace("one.wav", with: Self.sound(600), in: old)
    }
    #expect(error?.code == .packChanged && isImported.withLock { $0 })
    let now = try loaded()
    #expect(now.manifest.speaker == "Bela")
    #expect(now.bytes(ofClip: "one.wav").map { [UInt8]($0) } == WAVFile.encode(Self.sound(900)))
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == ["shop", PackWriter.lockName])
  }

  @Test("a new recording does not bring back a pack that was removed in the meantime")
  func removed() throws {
    let old = try pack()
    try PackWriter(directory: folder.url).remove("shop")
    let error = #expect(throws: PackMakingError.self) {
      try PackWriter(directory: folder.url).replace("one.wav", with: Self.sound(600), in: old)
    }
    #expect(error?.code == .packChanged)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [PackWriter.lockName])
  }

  @Test("a replacement is refused for a file that is not a clip, another sample rate, or a pack with changed files")
  func refused() throws {
    let pack = try pack()
    let writer = PackWriter(directory: folder.url)
    let slow = Waveform(samples: [1, 2, 3], sampleRate: 8_000)
    for (file, sound) in [("three.wav", Self.sound(600)), ("manifest.json", Self.sound(600)), ("one.wav", slow)] {
      let error = #expect(throws: PackMakingError.self) { try writer.replace(file, with: sound, in: pack) }
      #expect(error?.code == .packInvalid)
    }
    try Data(WAVFile.encode(Self.sound(900))).write(to: folder.url.appending(path: "shop/two.wav"))
    let torn = try VoicePack(directory: folder.url.appending(path: "shop"), storage: .copied)
    let error = #expect(throws: PackMakingError.self) { try writer.replace("one.wav", with: Self.sound(600), in: torn) }
    #expect(error?.code == .packInvalid)
  }
}
