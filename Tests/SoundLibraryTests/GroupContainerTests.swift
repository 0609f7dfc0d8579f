// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import Testing

@Suite("A group container")
struct GroupContainerTests {
  @Test("has its sounds in Library/Sounds of the group's folder")
  func soundsDirectory() throws {
    let container = try GroupContainer(containers: URL(fileURLWithPath: "/srv/containers"), group: "group.crier")
    #expect(container.soundsDirectory.path == "/srv/containers/group.crier/Library/Sounds")
  }

  @Test("can be a folder that the system named")
  func ownDirectory() {
    let container = GroupContainer(directory: URL(fileURLWithPath: "/private/AppGroup/7F0C"))
    #expect(container.soundsDirectory.path == "/private/AppGroup/7F0C/Library/Sounds")
  }

  @Test(
    "takes the names that Apple's group identifiers have",
    arguments: ["group.crier", "a", "7", "Group-1.com.example", "-", String(repeating: "a", count: 155)])
  func goodNames(_ name: String) throws {
    #expect(GroupContainer.isGroupName(name))
    _ = try GroupContainer(containers: URL(fileURLWithPath: "/srv"), group: name)
  }

  @Test(
    "refuses every name that could lead elsewhere or that Apple's identifiers cannot have",
    arguments: [
      "", ".", "..", ".hidden", "a..b", "a/b", "/", "../etc", "a\\b", "a b", "a_b", "组", "é", "a\0b", "a\nb", "ａ",
      String(repeating: "a", count: 156),
    ])
  func badNames(_ name: String) {
    #expect(!GroupContainer.isGroupName(name))
    let error = #expect(throws: SoundLibraryError.self) {
      try GroupContainer(containers: URL(fileURLWithPath: "/srv"), group: name)
    }
    #expect(error?.code == .invalidGroupName)
  }

  @Test("says what was given, what is allowed, and nothing that moves a terminal's cursor")
  func errorText() {
    let error = #expect(throws: SoundLibraryError.self) {
      try GroupContainer(containers: URL(fileURLWithPath: "/srv"), group: "组/\u{1B}[2J")
    }
    #expect(
      error?.description
        == #"The group name "\u{7EC4}/\u{1B}[2J" cannot be used: it has 1 to 155 characters of A-Z, a-z, 0-9, "." "#
        + #"and "-", does not start with "." and has no ".." in it, as in "group.crier"."#)
  }
}
