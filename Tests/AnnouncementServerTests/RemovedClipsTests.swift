// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("Recently removed clips")
struct RemovedClipsTests {
  @Test("a clip counts as removed for a read that began before the removal, and not for a later read")
  func moments() {
    var removed = RemovedClips()
    let before = removed.now
    removed.add("a")
    let after = removed.now
    #expect(removed.contains("a", since: before) && !removed.contains("a", since: after))
    #expect(!removed.contains("b", since: before))
    removed.add("a")
    #expect(removed.contains("a", since: after))
  }

  @Test("after too many removals, every clip counts as removed for a read that began before them")
  func many() {
    var removed = RemovedClips()
    removed.add("a")
    let early = removed.now
    for number in 0..<RemovedClips.mostNames { removed.add("\(number)") }
    let late = removed.now
    #expect(removed.contains("other", since: early) && removed.contains("a", since: early))
    #expect(!removed.contains("other", since: late) && !removed.contains("0", since: late))
    removed.add("0")
    #expect(removed.contains("0", since: late) && !removed.contains("1", since: late))
  }
}
