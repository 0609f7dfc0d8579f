// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine
import Testing
import VoicePackMaking

@Suite("Languages for which the engine has no voice")
struct LocaleWithoutVoiceTests {
  @Test(
    "a payment in a language without a voice or pack is refused at once, and the error names the possible voices")
  func refused() async throws {
    let workshop = try Workshop()
    let announcer = workshop.packAnnouncer(books: try workshop.booksWithoutVoice(), engine: NoEngine())
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(try Workshop.payment("12.50", "USD", locale: "en-US"), into: nil)
    }
    #expect(error?.code == .methodUnavailable)
    #expect(
      error?.description
        == "speaking en-US: espeak-ng has no voice that people would understand, and no voice pack has "
        + "all words of this announcement; record a voice pack (docs/voice-packs.md), or choose the voice en-gb-x-rp.")
  }

  @Test(
    "if the engine has no voice for a language, a payment cannot be spoken with a pack that lacks a word",
    arguments: ["fifty", "received"])
  func incomplete(missing: String) async throws {
    let workshop = try Workshop()
    try await workshop.writePack("voice", in: "en-US", isSynthesized: false) { clips in
      clips.filter { $0.text.lowercased() != missing }
    }
    let announcer = workshop.packAnnouncer(books: try workshop.booksWithoutVoice(), engine: NoEngine())
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(try Workshop.payment("12.50", "USD", locale: "en-US"), into: nil)
    }
    #expect(error?.code == .methodUnavailable)
  }

  @Test("a pack that has all words speaks a language for which the engine has no voice")
  func recorded() async throws {
    let workshop = try Workshop()
    try await workshop.writePack("voice", in: "en-US", isSynthesized: false)
    let announcer = workshop.packAnnouncer(books: try workshop.booksWithoutVoice(), engine: NoEngine())
    let clip = try await announcer.render(try Workshop.payment("12.50", "USD", locale: "en-US"), into: nil)
    #expect(clip.report.method == "clips")
    #expect(clip.report.text == "Received twelve dollars and fifty cents")
  }

  @Test("a voice that the caller names speaks a language for which the engine has none, and no other voice does")
  func named() async throws {
    let workshop = try Workshop()
    let announcer = workshop.packAnnouncer(books: try workshop.booksWithoutVoice())
    let payment = try Workshop.payment("12.50", "USD", locale: "en-US")
    var options = RenderOptions()
    options.voice = "en-gb-x-rp+f2"
    let clip = try await announcer.render(payment, options: options, into: nil)
    #expect((clip.report.method, clip.report.voice) == ("speech", "en-gb-x-rp+f2"))
    options.voice = "en-us+f2"
    let refused = options
    let error = await #expect(throws: AnnouncerError.self) {
      try await announcer.render(payment, options: refused, into: nil)
    }
    #expect(error?.code == .optionInvalid)
  }

  @Test("an amount in a language without a voice can be written in words, and has no phonemes")
  func words() async throws {
    let workshop = try Workshop()
    let announcer = workshop.packAnnouncer(books: try workshop.booksWithoutVoice())
    let script = try announcer.script(for: try Workshop.payment("12.50", "USD", locale: "en-US"))
    #expect(script.amountText == "twelve dollars and fifty cents")
    let error = await #expect(throws: SpeechEngineError.self) { try await announcer.phonemes(of: script) }
    #expect(error?.code == .voiceUnknown)
  }
}

extension Workshop {
  /// Returns the project's books, in which American English has no voice of its own and may be read by `en-gb-x-rp`.
  func booksWithoutVoice() throws -> PhraseBooks {
    let templates = Installation(
      data: nil, environment: [:], executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    ).templates
    let folder = directory.appending(path: "Templates", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["scripts.json", "parents.json"] {
      try FileManager.default.copyItem(at: templates.appending(path: name), to: folder.appending(path: name))
    }
    let data = try Data(contentsOf: templates.appending(path: "en-US.json"))
    var book = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    book["voice"] = nil
    book["otherVoices"] = ["en-gb-x-rp"]
    try JSONSerialization.data(withJSONObject: book).write(to: folder.appending(path: "en-US.json"))
    return try PhraseBooks(directory: folder)
  }
}
