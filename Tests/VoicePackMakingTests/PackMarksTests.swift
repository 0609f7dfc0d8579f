// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks
import Waveforms

@testable import VoicePackMaking

@Suite("PackMarks: the clips that a listener marked as wrong")
struct PackMarksTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a pack of two words. A different pitch stands for another recording.
  private func write(one hertz: Double = 440) throws -> PackManifest {
    let clips = [("one", hertz), ("two", 330)].map { word, hertz in
      PackClip(
        tokens: [word], text: word,
        waveform: Signals.waveform(Signals.tone(hertz, 0.3, seconds: 0.1, rate: 22_050)))
    }
    return try PackWriter(directory: folder.url).write(
      PackFacts(id: "shop", locale: "en-US", speaker: "Ada", licence: "CC0-1.0"), clips: clips, replacing: true)
  }

  @Test("a mark on a clip is kept, can be removed, and changes nothing in the pack")
  func kept() throws {
    let manifest = try write()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "shop").path).sorted()
    try PackMarks.set(true, file: "one.wav", of: manifest, in: folder.url)
    #expect(try PackMarks.set(true, file: "two.wav", of: manifest, in: folder.url).files == ["one.wav", "two.wav"])
    #expect(try PackMarks.set(false, file: "two.wav", of: manifest, in: folder.url).files == ["one.wav"])
    let marks = try PackMarks(of: manifest, in: folder.url)
    #expect(marks.contains("one.wav") && !marks.contains("two.wav"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "shop").path).sorted() == names)
    #expect(VoicePackShelf(folders: [folder.url]).ids == ["shop"])
  }

  @Test("a clip that was recorded again is no longer marked, and other marks stay")
  func recordedAgain() throws {
    let manifest = try write()
    for file in ["one.wav", "two.wav"] { try PackMarks.set(true, file: file, of: manifest, in: folder.url) }
    let again = try write(one: 550)
    #expect(try PackMarks(of: again, in: folder.url).files == ["two.wav"])
  }

  @Test("only clips of the pack can be marked")
  func unknown() throws {
    let manifest = try write()
    let error = #expect(throws: PackMakingError.self) {
      try PackMarks.set(true, file: "../manifest.json", of: manifest, in: folder.url)
    }
    #expect(error?.code == .marksUnreadable)
  }

  @Test("a damaged file of marks is an error that names the file, and removing the pack's marks removes the file")
  func damaged() throws {
    let manifest = try write()
    try Data("[".utf8).write(to: folder.url.appending(path: "shop.marks.json"))
    let error = #expect(throws: PackMakingError.self) { try PackMarks(of: manifest, in: folder.url) }
    #expect(error?.code == .marksUnreadable && error?.subject == "shop.marks.json")
    PackMarks.remove("shop", in: folder.url)
    #expect(try PackMarks(of: manifest, in: folder.url).files == [])
  }

  @Test("marks that several processes set at the same time are all kept")
  func concurrently() async throws {
    let manifest = try write()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for file in ["one.wav", "two.wav"] {
        group.addTask { [url = folder.url] in try PackMarks.set(true, file: file, of: manifest, in: url) }
      }
      try await group.waitForAll()
    }
    #expect(try PackMarks(of: manifest, in: folder.url).files == ["one.wav", "two.wav"])
  }
}
