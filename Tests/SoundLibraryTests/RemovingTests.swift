// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundLibrary

@Suite("Removing a clip")
struct RemovingTests {
  let home: TemporaryContainer

  init() throws { home = try TemporaryContainer() }

  @Test("a removal removes only the named clip, which can be published again")
  func removes() throws {
    for name in ["a.wav", "b.caf", "c.aiff"] { _ = try home.library.publish([1], as: name) }
    #expect(try home.library.remove("b.caf"))
    #expect(home.names == ["a.wav", "c.aiff"])
    #expect(try home.library.contents(of: "b.caf") == nil)
    _ = try home.library.publish([2], as: "b.caf")
    #expect(try home.library.contents(of: "b.caf") == [2])
  }

  @Test("the result of a removal says whether the clip existed, with or without a folder")
  func missing() throws {
    #expect(try !home.library.remove("a.wav"))
    try home.makeSoundsDirectory()
    #expect(try !home.library.remove("a.wav"))
  }

  @Test(
    "a removal refuses a name that leads out of the folder", arguments: ["../a.wav", "/etc/passwd", ".a.wav", "a", ""])
  func names(_ name: String) {
    let error = #expect(throws: SoundLibraryError.self) { try home.library.remove(name) }
    #expect(error?.code == .invalidClipName)
  }

  @Test("a folder or a symbolic link with a clip's name is not a clip, and is not removed")
  func notFiles() throws {
    try home.leaveBehind("a.wav")
    let sounds = home.container.soundsDirectory
    try FileManager.default.createDirectory(at: sounds.appending(path: "b.wav"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: sounds.path + "/c.wav", withDestinationPath: "a.wav")
    for name in ["b.wav", "c.wav"] { #expect(try !home.library.remove(name)) }
    #expect(home.names == ["a.wav", "b.wav", "c.wav"])
  }

  @Test("the list of clips has only the names of clips, in order")
  func list() throws {
    #expect(try home.library.names() == [])
    for name in ["b.wav", "a.caf"] { _ = try home.library.publish([1], as: name) }
    try home.leaveBehind(".publishing-3")
    try home.leaveBehind("notes.txt")
    #expect(try home.library.names() == ["a.caf", "b.wav"])
  }
}
