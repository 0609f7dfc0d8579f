// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import Testing

@Suite("A group container")
struct GroupContainerTests {
  @Test("the sounds of a group are in Library/Sounds of the group's folder")
  func soundsDirectory() throws {
    let container = try GroupContainer(containers: URL(fileURLWithPath: "/srv/containers"), group: "group.crier")
    #expect(container.soundsDirectory.path == "/srv/containers/group.crier/Library/Sounds")
  }

  @Test("the container of a group can be a folder that the system names")
  func ownDirectory() {
    let container = GroupContainer(directory: URL(fileURLWithPath: "/private/AppGroup/7F0C"))
    #expect(container.soundsDirectory.path == "/private/AppGroup/7F0C/Library/Sounds")
  }

  @Test(
    "group names that Apple's group identifiers allow are accepted",
    arguments: ["group.crier", "a", "7", "Group-1.com.example", "-", String(repeating: "a", count: 155)])
  func goodNames(_ name: String) throws {
    #expect(GroupContainer.isGroupName(name))
    _ = try GroupContainer(containers: URL(fileURLWithPath: "/srv"), group: name)
  }

  @Test(
    "group names that could lead elsewhere, or that Apple's identifiers do not allow, are refused",
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

  @Test("the error for an invalid group name states the name and the rule, with control characters escaped")
  func errorText() {
    let error = #expect(throws: SoundLibraryError.self) {
      try GroupContainer(containers: URL(fileURLWithPath: "/srv"), group: "组/\u{1B}[2J")
    }
    #expect(
      error?.description
        == #"The group name "\u{7EC4}/\u{1B}[2J" is invalid. Use 1 to 155 characters of A-Z, a-z, 0-9, "." and "-", "#
        + #"as in "group.crier"; it must not start with "." or contain ".."."#)
  }

  @Test("a name has the prefix of app groups only if it begins with 'group.' in small letters and is longer than that")
  func prefix() {
    for name in ["group.crier", "group.com.example.shop"] { #expect(GroupContainer.hasGroupPrefix(name)) }
    for name in ["till", "Group.crier", "group", "group.", "my.group.crier", ""] {
      #expect(!GroupContainer.hasGroupPrefix(name))
    }
  }
}
