// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import Testing

@testable import SoundLibrary

@Suite("The preference for a tone in a file")
struct TonePreferenceTests {
  let home: TemporaryContainer
  let preference: FileTonePreference

  init() throws {
    home = try TemporaryContainer()
    preference = FileTonePreference(container: home.container)
  }

  private var folder: URL { preference.file.deletingLastPathComponent() }

  private func store(_ text: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: preference.file)
  }

  @Test("the chosen tone is stored in Library/Preferences/<group>.json, under the key 'sound'")
  func place() throws {
    try preference.setTone("chime.wav")
    let path = home.root.path + "/containers/group.crier/Library/Preferences/group.crier.json"
    #expect(preference.file.path == path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\"sound\":\"chime.wav\"}\n")
    #expect(FileTonePreference.key == "sound")
    #expect(TemporaryContainer.names(in: folder) == ["group.crier.json"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode.map { $0 & 0o600 } == 0o600 && mode.map { $0 & 0o133 } == 0)
  }

  @Test("a stored tone is returned until it is replaced or removed")
  func stores() throws {
    #expect(try preference.tone() == nil)
    try preference.removeTone()
    for name in ["a.wav", "店铺 \"1\".caf", "b.aiff"] {
      try preference.setTone(name)
      #expect(try preference.tone() == name)
      #expect(try FileTonePreference(container: home.container).tone() == name)
    }
    try preference.removeTone()
    #expect(try preference.tone() == nil)
    #expect(TemporaryContainer.names(in: folder).isEmpty)
  }

  @Test("reading the chosen tone creates no file and no folder")
  func readsOnly() throws {
    #expect(try preference.tone() == nil)
    #expect(TemporaryContainer.names(in: home.root).isEmpty)
  }

  @Test(
    "a damaged file with the chosen tone counts as no choice, and the next choice replaces the file",
    arguments: [
      "", "{", "[]", "null", "{}", "{\"sound\":null}", "{\"sound\":7}", "{\"sound\":\"\"}", "{\"sound\":\"default\"}",
      "{\"sound\":\"../../a.wav\"}", "{\"sound\":\".a.wav\"}", "\u{FFFD}", "{\"Sound\":\"a.wav\"}",
      "{\"sound\":\"a.wav\"" + String(repeating: " ", count: 5000) + "}",
    ])
  func damaged(_ text: String) throws {
    try store(text)
    #expect(try preference.tone() == nil)
    try preference.setTone("b.wav")
    #expect(try preference.tone() == "b.wav")
  }

  @Test("other keys in the file do not affect the chosen tone")
  func otherKeys() throws {
    try store("{\"volume\": 3, \"sound\": \"a.wav\"}")
    #expect(try preference.tone() == "a.wav")
  }

  @Test("a folder in place of the file counts as no chosen tone, and storing a tone is an error that says so")
  func folderInPlace() throws {
    try FileManager.default.createDirectory(at: preference.file, withIntermediateDirectories: true)
    #expect(try preference.tone() == nil)
    let error = #expect(throws: SoundLibraryError.self) { try preference.setTone("a.wav") }
    #expect(error?.code == .notAFile && error?.action == .storingPreference)
    #expect(error?.description.contains("a folder, a symbolic link or a device has the file's name") == true)
    #expect(TemporaryContainer.names(in: folder) == ["group.crier.json"])
  }

  @Test(
    "a tone whose name no sound file can have is refused, and the earlier choice stays",
    arguments: ["", "default", "a", "../a.wav", ".a.wav", "a\u{0}.wav", "a.mp3", "/a.wav"])
  func refused(_ name: String) throws {
    try preference.setTone("old.wav")
    let error = #expect(throws: SoundLibraryError.self) { try preference.setTone(name) }
    #expect(error?.code == .invalidClipName)
    #expect(try preference.tone() == "old.wav")
  }

  @Test("a symbolic link in place of the folder 'Preferences' is refused, and nothing is written behind the link")
  func link() throws {
    let elsewhere = home.root.appending(path: "elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: elsewhere)
    let error = #expect(throws: SoundLibraryError.self) { try preference.setTone("a.wav") }
    #expect(error?.code == .notAFolder)
    #expect(error?.description.contains("Library or Preferences is a file, or a symbolic link") == true)
    #expect(throws: SoundLibraryError.self) { try preference.tone() }
    #expect(TemporaryContainer.names(in: elsewhere).isEmpty)
  }

  @Test(
    "a folder that cannot be written, or a full disk, is an error, and the earlier choice of a tone stays",
    arguments: Step.allCases.filter { $0 != .writeLater },
    [(EACCES, SoundLibraryError.Code.notPermitted), (EROFS, .readOnly), (ENOSPC, .noSpace)])
  func unwritable(_ step: Step, _ reason: (number: Int32, code: SoundLibraryError.Code)) throws {
    try preference.setTone("old.wav")
    let failing = FileTonePreference(container: home.container, calls: step.failing(with: reason.number))
    let error = #expect(throws: SoundLibraryError.self) { try failing.setTone("new.wav") }
    #expect(error?.code == reason.code && error?.action == .storingPreference)
    #expect(error?.description.hasPrefix("Storing the chosen tone in ") == true)
    #expect(try preference.tone() == "old.wav")
    #expect(TemporaryContainer.names(in: folder) == ["group.crier.json"])
  }

  @Test("a file with the chosen tone that may not be read is an error, unlike a missing file")
  func unreadable() throws {
    try preference.setTone("a.wav")
    var calls = FileSystemCalls.system
    calls.openFile = { (_, _) throws(SystemError) in throw SystemError(number: EACCES) }
    let error = #expect(throws: SoundLibraryError.self) {
      try FileTonePreference(container: home.container, calls: calls).tone()
    }
    #expect(error?.code == .notPermitted && error?.action == .readingPreference)
    #expect(error?.description.hasPrefix("Reading the chosen tone from ") == true)
  }

  @Test("if several writers choose a tone at once, a reader always sees one complete choice")
  func concurrent() throws {
    try preference.setTone("0.wav")
    let container = home.container
    let names = Set((0..<6).map { "\($0).wav" })
    let failures = Counter()
    DispatchQueue.concurrentPerform(iterations: 6) { writer in
      let preference = FileTonePreference(container: container)
      for _ in 0..<25 {
        do {
          try preference.setTone("\(writer).wav")
          guard let tone = try preference.tone(), names.contains(tone) else { throw SystemError.missing }
        } catch {
          failures.add()
        }
      }
    }
    #expect(failures.value == 0)
    #expect(TemporaryContainer.names(in: folder) == ["group.crier.json"])
  }

  @Test("each group has its own chosen tone")
  func groups() throws {
    let other = FileTonePreference(
      container: try GroupContainer(containers: home.root.appending(path: "containers"), group: "group.other"))
    try preference.setTone("a.wav")
    #expect(try other.tone() == nil)
    try other.setTone("b.wav")
    #expect(try preference.tone() == "a.wav")
  }
}
