// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("The values that were used last")
struct RecentlyUsedTests {
  private func keys(_ cache: RecentlyUsed<Int, String>, _ range: ClosedRange<Int>) -> [Int] {
    range.filter { cache.value(for: $0) != nil }
  }

  @Test("what was not used for longest goes first")
  func order() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 3)
    for key in 1...3 { cache.insert("\(key)", for: key, bytes: 1) }
    #expect(cache.value(for: 1) == "1")
    cache.insert("4", for: 4, bytes: 1)
    #expect(keys(cache, 1...4) == [1, 3, 4])
    cache.insert("5", for: 5, bytes: 2)
    #expect(keys(cache, 1...5) == [4, 5])
  }

  @Test("it never has more than fits, whatever is put in")
  func bounded() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 100)
    for number in 0..<1000 {
      cache.insert("\(number)", for: number * 7919 % 50, bytes: number * 31 % 40)
      #expect(cache.bytes <= 100)
      if number.isMultiple(of: 3) { _ = cache.value(for: number % 50) }
      if number.isMultiple(of: 11) { cache.remove(number % 50) }
    }
    for key in 0..<50 { cache.remove(key) }
    #expect(cache.count == 0 && cache.bytes == 0)
  }

  @Test("a value that takes another's place takes its bytes, and is the newest")
  func replacing() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 4)
    for key in 1...2 { cache.insert("\(key)", for: key, bytes: 2) }
    cache.insert("one", for: 1, bytes: 1)
    #expect(cache.value(for: 1) == "one" && cache.bytes == 3 && cache.count == 2)
    cache.insert("3", for: 3, bytes: 2)
    #expect(keys(cache, 1...3) == [1, 3])
  }

  @Test("what is larger than all of it is not kept, nor what it was to replace")
  func larger() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 4)
    cache.insert("1", for: 1, bytes: 2)
    cache.insert("2", for: 2, bytes: 5)
    #expect(cache.value(for: 2) == nil && cache.value(for: 1) == "1")
    cache.insert("one", for: 1, bytes: 5)
    #expect(cache.value(for: 1) == nil && cache.bytes == 0 && cache.count == 0)
    cache.insert("4", for: 4, bytes: 4)
    #expect(cache.value(for: 4) == "4")
  }

  @Test("one that takes nothing is kept, and an empty one keeps nothing else")
  func nothing() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 0)
    cache.insert("1", for: 1, bytes: 0)
    cache.insert("2", for: 2, bytes: 1)
    #expect(keys(cache, 1...2) == [1])
    cache.remove(1)
    cache.remove(1)
    #expect(cache.count == 0)
  }
}
