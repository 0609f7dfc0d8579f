// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import InstallationExamination
import Testing
import VoicePacks

@Suite("The examination of the voices")
struct VoiceLookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a speaker program that only greets with a status; see `Sources/Voices/speaker/protocol.h`.
  private func speaker(status: Int) throws -> URL {
    let zeros = #"\000\000\000\000"#
    return try program(
      "speaker",
      "#!/bin/sh\n" + #"printf 'CRH1\003\000\000\000\00\#(status)\000\000\000\#(zeros)\#(zeros)\#(zeros)'"# + "\n")
  }

  /// Makes a program. Another process writes it, because a file that this process has open for writing, even by a child
  /// that another test has just forked, cannot be executed (ETXTBSY).
  private func program(_ name: String, _ text: String) throws -> URL {
    let source = try folder.file("\(name).txt", text)
    let file = folder.url.appending(path: name)
    let copying = try Process.run(
      URL(filePath: "/bin/sh"),
      arguments: ["-c", #"cat "$0" > "$1" && chmod 755 "$1""#, source.path, file.path])
    copying.waitUntilExit()
    try #require(copying.terminationStatus == 0)
    return file
  }

  @Test("a missing speaker program, missing voice data and a missing sandbox have different results")
  func engine() async throws {
    let missing = folder.url.appending(path: "none")
    #expect(await EngineLook.look(speaker: missing) == .speakerMissing(program: missing.path))
    #expect(await EngineLook.look(speaker: try speaker(status: 1)) == .dataMissing)
    #expect(await EngineLook.look(speaker: try speaker(status: 2)) == .sandboxUnavailable)
    let ended = try program("ended", "#!/bin/sh\nexit 1\n")
    guard case .failed = await EngineLook.look(speaker: ended) else { Issue.record("no fault"); return }
  }

  @Test("the examination reports a folder without phrase books, and each broken phrase book")
  func phraseBooks() throws {
    let readers = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Readers")
      .standardizedFileURL
    #expect(
      PhraseBookLook.look(folder: folder.url, readers: readers, locale: "en-US", lexiconFault: nil).missing != nil)
    let templates = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Templates")
      .standardizedFileURL
    let copy = folder.url.appending(path: "Templates")
    try FileManager.default.copyItem(at: templates, to: copy)
    let healthy = PhraseBookLook.look(folder: copy, readers: readers, locale: "en-US", lexiconFault: nil)
    #expect(healthy.broken.isEmpty && healthy.missing == nil && healthy.locales.contains("zh-CN"))
    #expect(healthy.defaultLocaleFault == nil)
    #expect(
      PhraseBookLook.look(folder: copy, readers: readers, locale: "xx-XX", lexiconFault: nil).defaultLocaleFault != nil)
    try Data("{}".utf8).write(to: copy.appending(path: "ja-JP.json"))
    let broken = PhraseBookLook.look(folder: copy, readers: readers, locale: "ja-JP", lexiconFault: nil)
    #expect(broken.broken.map(\.locale) == ["ja-JP"] && broken.defaultLocaleFault == nil, "it is reported once")
    let own = folder.url.appending(path: "Readers")
    try FileManager.default.copyItem(at: readers, to: own)
    try FileManager.default.removeItem(at: own.appending(path: "ko.json"))
    let silent = PhraseBookLook.look(folder: copy, readers: own, locale: nil, lexiconFault: nil)
    #expect(silent.broken.map(\.locale) == ["ja-JP", "ko-KR"])
    #expect(silent.broken.last?.error.contains("Add a file for its language to Readers/") == true)
    try Data("[".utf8).write(to: copy.appending(path: "scripts.json"))
    #expect(
      PhraseBookLook.look(folder: copy, readers: readers, locale: nil, lexiconFault: nil).broken.map(\.locale) == [
        "scripts.json"
      ])
  }

  @Test("the examination reports a pack without a readable manifest, and the choice of a missing pack")
  func packs() throws {
    _ = try folder.file("own/broken/manifest.json", "{")
    let choices = try folder.file("packs.json", #"{"packs": {"en-US": "gone"}}"#)
    func look() -> VoicePackFacts {
      PackLook.look(
        own: folder.url.appending(path: "own"), installed: folder.url.appending(path: "installed"), choices: choices,
        settled: ChosenPacks(), books: nil)
    }
    let facts = look()
    #expect(facts.packs.map(\.id) == ["broken"] && facts.packs.allSatisfy(\.isUsers))
    guard case .unusable? = facts.packs.first?.condition else { Issue.record("no fault"); return }
    #expect(facts.missingChoices == [.init(locale: "en-US", id: "gone", isSetting: false)])
    try Data("[]".utf8).write(to: choices)
    #expect(look().choicesFault != nil)
  }
}
