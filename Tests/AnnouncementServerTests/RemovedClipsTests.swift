// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("Recently removed clips")
struct RemovedClipsTests {
  @Test("only a read that began before the removal of a clip finds the clip removed")
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

  @Test("after too many removals, a read that began before them finds every clip removed")
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
