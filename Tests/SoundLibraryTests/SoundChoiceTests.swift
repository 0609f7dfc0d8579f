// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

@Suite("The choice of a sound")
struct SoundChoiceTests {
  static let states: [SoundChoice.Tone] = [.notChosen, .chosen("tone.wav"), .missing("tone.wav"), .unreadable]

  @Test(
    "an announcement's clip takes precedence over a tone and over the push's sound",
    arguments: states, [nil, "", "default", "push.caf"])
  func announcement(_ tone: SoundChoice.Tone, _ payload: String?) {
    let choice = SoundChoice(announcement: "clip.wav", tone: tone, payload: payload)
    #expect(choice.name == "clip.wav" && choice.rule == .announcementClip && choice.remark == nil)
    #expect(!choice.isDefault)
  }

  struct Row: Sendable {
    var tone: SoundChoice.Tone
    var payload: String?
    var name: String
    var rule: SoundChoice.Rule
    var remark: SoundChoice.Remark?

    init(
      _ tone: SoundChoice.Tone, _ payload: String?, _ name: String, _ rule: SoundChoice.Rule,
      _ remark: SoundChoice.Remark? = nil
    ) {
      (self.tone, self.payload, self.name, self.rule, self.remark) = (tone, payload, name, rule, remark)
    }
  }

  static let rows: [Row] = [
    Row(.notChosen, nil, "default", .defaultSound),
    Row(.notChosen, "", "default", .defaultSound),
    Row(.notChosen, "default", "default", .payloadSound),
    Row(.notChosen, "push.caf", "push.caf", .payloadSound),
    Row(.chosen("tone.wav"), nil, "tone.wav", .chosenTone),
    Row(.chosen("tone.wav"), "", "tone.wav", .chosenTone),
    Row(.chosen("tone.wav"), "default", "tone.wav", .chosenTone),
    Row(.chosen("tone.wav"), "push.caf", "tone.wav", .chosenTone),
    Row(.missing("tone.wav"), nil, "default", .defaultSound, .toneMissing),
    Row(.missing("tone.wav"), "", "default", .defaultSound, .toneMissing),
    Row(.missing("tone.wav"), "default", "default", .payloadSound, .toneMissing),
    Row(.missing("tone.wav"), "push.caf", "push.caf", .payloadSound, .toneMissing),
    Row(.unreadable, nil, "default", .defaultSound, .preferenceUnreadable),
    Row(.unreadable, "", "default", .defaultSound, .preferenceUnreadable),
    Row(.unreadable, "default", "default", .payloadSound, .preferenceUnreadable),
    Row(.unreadable, "push.caf", "push.caf", .payloadSound, .preferenceUnreadable),
  ]

  @Test(
    "without a clip, the tone is used, then the push's sound, then the default sound; a skipped tone is reported",
    arguments: rows, [nil, ""])
  func rest(_ row: Row, _ announcement: String?) {
    let choice = SoundChoice(announcement: announcement, tone: row.tone, payload: row.payload)
    #expect(choice.name == row.name && choice.rule == row.rule && choice.remark == row.remark)
    #expect(choice.isDefault == (row.name == "default"))
  }

  @Test("a chosen tone is used while its file exists in Library/Sounds and is not empty")
  func existing() throws {
    let home = try TemporaryContainer()
    let preference = FileTonePreference(container: home.container)
    func choice() -> SoundChoice {
      home.library.soundChoice(announcement: nil, preference: preference, payload: "push.caf")
    }
    #expect(choice().rule == .payloadSound && choice().remark == nil)
    try preference.setTone("tone.wav")
    #expect(choice().rule == .payloadSound && choice().remark == .toneMissing)
    try home.leaveBehind("tone.wav", [])
    #expect(choice().remark == .toneMissing)
    try home.leaveBehind("tone.wav")
    #expect(choice().name == "tone.wav" && choice().rule == .chosenTone && choice().remark == nil)
    try FileManager.default.removeItem(at: home.container.soundsDirectory.appending(path: "tone.wav"))
    try FileManager.default.createDirectory(
      at: home.container.soundsDirectory.appending(path: "tone.wav"), withIntermediateDirectories: true)
    #expect(choice().name == "push.caf" && choice().remark == .toneMissing)
  }

  @Test("if the preference for a tone cannot be read, the default sound is chosen, and a remark says why")
  func unreadable() throws {
    let home = try TemporaryContainer()
    var calls = FileSystemCalls.system
    calls.openFile = { (_, _) throws(SystemError) in throw SystemError(number: EACCES) }
    try FileTonePreference(container: home.container).setTone("tone.wav")
    let choice = home.library.soundChoice(
      announcement: nil, preference: FileTonePreference(container: home.container, calls: calls), payload: nil)
    #expect(choice.isDefault && choice.rule == .defaultSound && choice.remark == .preferenceUnreadable)
  }

  @Test("the tones in a folder are the files that are not rendered clips, without folders, links and hidden files")
  func listing() throws {
    let home = try TemporaryContainer()
    #expect(try home.library.tones() == [])
    let clip = String(repeating: "0a", count: 32)
    for name in ["b.wav", "a.caf", "\(clip).wav", "\(clip)0.wav", ".c.wav", "notes.txt"] { try home.leaveBehind(name) }
    let sounds = home.container.soundsDirectory
    try FileManager.default.createDirectory(at: sounds.appending(path: "d.wav"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: sounds.appending(path: "e.wav"), withDestinationURL: sounds.appending(path: "b.wav"))
    #expect(try home.library.tones() == ["\(clip)0.wav", "a.caf", "b.wav"])
  }
}
