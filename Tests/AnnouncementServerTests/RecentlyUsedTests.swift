// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("A cache of recently used values")
struct RecentlyUsedTests {
  private func keys(_ cache: RecentlyUsed<Int, String>, _ range: ClosedRange<Int>) -> [Int] {
    range.filter { cache.value(for: $0) != nil }
  }

  @Test("a full cache removes the least recently used value first")
  func order() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 3)
    for key in 1...3 { cache.insert("\(key)", for: key, bytes: 1) }
    #expect(cache.value(for: 1) == "1")
    cache.insert("4", for: 4, bytes: 1)
    #expect(keys(cache, 1...4) == [1, 3, 4])
    cache.insert("5", for: 5, bytes: 2)
    #expect(keys(cache, 1...5) == [4, 5])
  }

  @Test("the cache never exceeds its capacity")
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

  @Test("a value that is replaced in the cache frees its bytes, and the new value is the most recent")
  func replacing() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 4)
    for key in 1...2 { cache.insert("\(key)", for: key, bytes: 2) }
    cache.insert("one", for: 1, bytes: 1)
    #expect(cache.value(for: 1) == "one" && cache.bytes == 3 && cache.count == 2)
    cache.insert("3", for: 3, bytes: 2)
    #expect(keys(cache, 1...3) == [1, 3])
  }

  @Test("values that fit a condition are removed from the cache, and the order of the other values stays")
  func condition() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 6)
    for key in 1...6 { cache.insert(key.isMultiple(of: 2) ? "even" : "odd", for: key, bytes: 1) }
    cache.remove { $0 == "even" }
    #expect(keys(cache, 1...6) == [1, 3, 5] && cache.bytes == 3)
    cache.insert("large", for: 7, bytes: 5)
    #expect(keys(cache, 1...7) == [5, 7])
    cache.remove { _ in true }
    #expect(cache.count == 0 && cache.bytes == 0)
  }

  @Test("an insertion into the cache returns the replaced value and the values that were removed for lack of room")
  func left() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 3)
    for key in 1...3 { #expect(cache.insert("\(key)", for: key, bytes: 1).isEmpty) }
    #expect(cache.insert("two", for: 2, bytes: 1).map(\.value) == ["2"])
    #expect(cache.insert("4", for: 4, bytes: 2).map(\.key) == [1, 3])
    #expect(cache.insert("large", for: 4, bytes: 9).map(\.value) == ["4"])
    #expect(keys(cache, 1...4) == [2])
  }

  @Test("a removal from the cache by a condition keeps a value that a reader has just used")
  func unless() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 3)
    for key in 1...2 { cache.insert("\(key)", for: key, bytes: 1) }
    var used: Set<String> = []
    for key in [1, 3] { _ = cache.value(for: key) { used.insert($0) } }
    #expect(used == ["1"])
    let areRemoved = [1, 2, 3].map { key in cache.remove(key, unless: used.contains) }
    #expect(areRemoved == [false, true, true])
    #expect(keys(cache, 1...3) == [1] && cache.bytes == 1)
  }

  @Test("a value larger than the cache is not stored, and the value that it should replace is removed")
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

  @Test("a value of 0 bytes is stored even in a cache without capacity")
  func nothing() {
    let cache = RecentlyUsed<Int, String>(capacityBytes: 0)
    cache.insert("1", for: 1, bytes: 0)
    cache.insert("2", for: 2, bytes: 1)
    #expect(keys(cache, 1...2) == [1])
    cache.remove(1)
    cache.remove(1)
    #expect(cache.count == 0)
  }

  @Test("the cache releases removed, replaced and evicted values, and all values when it is released itself")
  func released() {
    final class Token: Sendable {}
    var cache: RecentlyUsed<Int, Token>? = RecentlyUsed(capacityBytes: 3)
    let held = (0..<6).map { number in
      let token = Token()
      cache?.insert(token, for: number % 5, bytes: 1)
      return Weak(token)
    }
    #expect(held.map { $0.token != nil } == [false, false, false, true, true, true])
    cache?.remove(4)
    #expect(held[4].token == nil && cache?.count == 2)
    cache = nil
    #expect(held.allSatisfy { $0.token == nil })
  }

  private struct Weak {
    weak var token: AnyObject?
    init(_ token: AnyObject) { self.token = token }
  }
}

@Suite("The memory accounting of the clip cache")
struct CacheAccountingTests {
  @Test("a clip counts in the cache with the capacity of its buffer, and not only with its bytes")
  func buffers() async throws {
    let service = try TestService()
    let client = try await service.client()
    func cached() async throws -> Int {
      let lines = MetricLines(try await service.stranger.get("/metrics").text)
      return Int(lines.values["crier_cache_bytes"] ?? 0)
    }
    var (before, all) = (0, 0)
    for (index, text) in ["one", "one two", "one two three"].enumerated() {
      let bytes = try await client.post(#"{"id":"\#(index)","text":"\#(text)"}"#).number("clip.bytes").orThrow("a size")
      let after = try await cached()
      let capacity = ByteBuffer(bytes: [UInt8](repeating: 0, count: bytes)).storageCapacity
      #expect(after - before >= capacity + 2_048, "\(bytes) bytes in \(capacity)")
      (before, all) = (after, all + capacity)
    }
    #expect(before < all + 3 * 16_384, "the overhead is small")
  }

  @Test("a report counts in the cache with its texts and marks")
  func reports() async throws {
    let service = try TestService()
    let announcer = Announcer(
      phraseBooks: try TestService.books.get(), readers: TestService.readers, engine: service.voice)
    func bytes(_ text: String) async throws -> Int {
      try await announcer.render(.text(text, locale: nil), into: nil).report.heapBytes
    }
    let (short, long) = (try await bytes("one"), try await bytes("one two three four five six seven eight nine ten"))
    #expect(short > 64 && long >= short + 48)
  }
}
