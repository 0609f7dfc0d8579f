// SPDX-License-Identifier: Apache-2.0

import Foundation
import LedgerTestSupport
import Testing

@testable import Ledger

@Suite("The life cycle of keys, and the administrative log", .removesLedgers)
struct KeyLifeTests {
  @Test(
    "a key's expiry, addresses and strictness are stored, and by default a key has none of these limits",
    arguments: LedgerUnderTest.all)
  func kept(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = newKey("a")
    (new.expiresAt, new.addresses, new.isStrict) = (
      place.clock.now.addingTimeInterval(60), ["192.0.2.0/24", "2001:db8::/32"], true
    )
    try await ledger.createKey(new)
    try await ledger.createKey(newKey("b"))
    for ledger in [ledger, try await place.open()] {
      let key = try #require(try await ledger.key(id: "a"))
      #expect(key.expiresAt == new.expiresAt && key.addresses == new.addresses && key.isStrict && key.rotatedTo == nil)
      #expect(key.isInForce(at: place.clock.now) && !key.isInForce(at: place.clock.now.addingTimeInterval(60)))
      let free = try #require(try await ledger.key(id: "b"))
      #expect(free.expiresAt == nil && free.addresses.isEmpty && !free.isStrict && free.isInForce(at: .distantFuture))
    }
  }

  @Test(
    "a key with invalid addresses is refused",
    arguments: LedgerUnderTest.all,
    [["a b"], [""], ["a\0"], [String(repeating: "a", count: 65)], Array(repeating: "::1", count: 65)])
  func addresses(kind: LedgerUnderTest, addresses: [String]) async throws {
    let ledger = try await kind.makePlace().open()
    var new = newKey("a")
    new.addresses = addresses
    await #expect(throws: LedgerError.self) { try await ledger.createKey(new) }
    #expect(try await ledger.keys().isEmpty)
  }

  @Test(
    "a rotated key has a successor with all its settings, and expires after the overlap", arguments: LedgerUnderTest.all
  )
  func rotation(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = newKey("a")
    (new.name, new.locale, new.pack, new.group) = ("till", "zh-CN", "my-shop", "group.crier")
    (new.rate, new.addresses, new.isStrict) = (NewKey.Rate(perSecond: 0.5, burst: 3), ["192.0.2.7"], true)
    new.expiresAt = place.clock.now.addingTimeInterval(90 * 86_400)
    try await ledger.createKey(new)
    let version = try await ledger.keysVersion()
    place.clock.advance(by: 1000)
    let rotated = try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 3600)
    let (old, made) = try #require(rotated)
    #expect(old.id == "a" && old.rotatedTo == "b" && old.expiresAt == place.clock.now.addingTimeInterval(3600))
    #expect(try await ledger.keysVersion() != version, "caches of keys are invalidated")
    #expect(made.account == old.account && made.scopes == old.scopes && made.name == old.name && made.rate == old.rate)
    #expect(made.locale == old.locale && made.pack == old.pack && made.group == old.group)
    #expect(made.addresses == old.addresses && made.isStrict && made.digest == digestOf("b"))
    #expect(
      made.expiresAt == place.clock.now.addingTimeInterval(90 * 86_400),
      "the successor has the lifetime of the old key, from now on")
    #expect(try await ledger.key(digest: new.digest)?.isInForce(at: place.clock.now) == true)
  }

  @Test(
    "a rotated key that expires during the overlap keeps its expiry, and a successor of a key without expiry has none",
    arguments: LedgerUnderTest.all)
  func earlyEnd(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = newKey("a")
    new.expiresAt = place.clock.now.addingTimeInterval(60)
    try await ledger.createKey(new)
    #expect(
      try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 3600)?.old.expiresAt == new.expiresAt)
    try await ledger.createKey(newKey("c"))
    let free = try #require(try await ledger.rotateKey("c", to: "d", digest: digestOf("d"), overlap: 0))
    #expect(
      free.old.expiresAt == place.clock.now && !free.old.isInForce(at: place.clock.now) && free.new.expiresAt == nil)
  }

  @Test(
    "an unknown, revoked, expired or already rotated key is not rotated, and nothing is changed",
    arguments: LedgerUnderTest.all)
  func notRotated(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["a", "b", "c"] { try await ledger.createKey(newKey(id)) }
    try await ledger.revokeKey("a")
    try await ledger.rotateKey("b", to: "d", digest: digestOf("d"), overlap: 3600)
    try await ledger.rotateKey("c", to: "e", digest: digestOf("e"), overlap: 0)
    let (keys, acts) = (try await ledger.keys(), try await ledger.administrativeActs())
    for id in ["a", "b", "c"] {
      await #expect { try await ledger.rotateKey(id, to: "x", digest: digestOf("x"), overlap: 0) } throws: {
        ($0 as? LedgerError)?.code == .keyNotInForce
      }
    }
    for id in ["nobody", "a\0"] {
      #expect(try await ledger.rotateKey(id, to: "x", digest: digestOf("x"), overlap: 0) == nil)
    }
    await #expect { try await ledger.rotateKey("d", to: "e", digest: digestOf("x"), overlap: 0) } throws: {
      ($0 as? LedgerError)?.code == .keyExists
    }
    await #expect { try await ledger.rotateKey("d", to: "x", digest: digestOf("x"), overlap: -1) } throws: {
      ($0 as? LedgerError)?.code == .invalidValue
    }
    #expect(try await ledger.keys() == keys)
    #expect(try await ledger.administrativeActs() == acts)
  }

  @Test("an action on a key is recorded with its actor in the same transaction", arguments: LedgerUnderTest.all)
  func administered(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.createKey(newKey("a"), by: .user(1000, sudo: nil))
    try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 60, by: .user(997, sudo: 1000))
    try await ledger.revokeKey("a", by: .key("7d3k9q2m"))
    try await ledger.revokeKey("a")
    await #expect(throws: LedgerError.self) { try await ledger.createKey(newKey("a")) }
    try await ledger.record(.playbackPaused, by: .key("7d3k9q2m"), subject: nil)
    let acts = try await ledger.administrativeActs()
    #expect(
      acts.map { "\($0.actor) \($0.action.rawValue) \($0.subject ?? "-")" } == [
        "user:1000 key_created a", "user:997 for user:1000 key_rotated a", "user:997 for user:1000 key_created b",
        "key:7d3k9q2m key_revoked a", "key:7d3k9q2m playback_paused -",
      ])
    #expect(acts.allSatisfy { $0.at == place.clock.now })
    #expect(try await ledger.administrativeActs(after: acts[2].number, limit: 1) == [acts[3]])
    #expect(Ledger.Administrator.currentUser.description.hasPrefix("user:\(getuid())"))
  }

  @Test(
    "recorded actions on keys are kept for a year, or as long as announcements if that is longer",
    arguments: LedgerUnderTest.all)
  func retention(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.record(.playbackPaused, by: .key("a"), subject: nil)
    let year: TimeInterval = 365 * 86_400
    place.clock.advance(by: year)
    #expect(try await ledger.prune(finishedBefore: place.clock.now).administrativeActs == 0)
    place.clock.advance(by: 1)
    #expect(
      try await ledger.prune(finishedBefore: place.clock.now.addingTimeInterval(-2 * year)).administrativeActs == 0)
    #expect(try await ledger.prune(finishedBefore: place.clock.now).administrativeActs == 1)
    #expect(try await ledger.administrativeActs().isEmpty)
  }
}
