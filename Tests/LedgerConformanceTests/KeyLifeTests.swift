// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("The life cycle of keys, and the administrative log")
struct KeyLifeTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private var now: Date { place.clock.now }

  private func change(_ file: URL, _ sql: String) throws {
    let database = try DatabaseQueue(waitingFor: file)
    try database.write { try $0.execute(sql: sql) }
    try database.close()
  }

  /// A ledger as the second version left it, with a key in it.
  private func makeSecondVersion(_ file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let database = try DatabaseQueue(waitingFor: file)
    try database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
    }
    try Schema.migrator.migrate(database, upTo: "2: keys, answers")
    try database.write {
      try $0.execute(
        sql:
          "INSERT INTO keys (id, account, digest, scopes, created_at) VALUES ('a', 'shop', ?, 'read', 1700000000000)",
        arguments: [digestOf("a")])
    }
    try database.close()
  }

  @Test("a key's expiry, addresses and strictness are stored, and by default a key has none of these limits")
  func kept() async throws {
    var new = newKey("a")
    (new.expiresAt, new.addresses, new.isStrict) = (
      now.addingTimeInterval(60), ["192.0.2.0/24", "2001:db8::/32"], true
    )
    try await ledger.createKey(new)
    try await ledger.createKey(newKey("b"))
    for ledger in [ledger, try place.open()] {
      let key = try #require(try await ledger.key(id: "a"))
      #expect(key.expiresAt == new.expiresAt && key.addresses == new.addresses && key.isStrict && key.rotatedTo == nil)
      #expect(key.isInForce(at: now) && !key.isInForce(at: now.addingTimeInterval(60)))
      let free = try #require(try await ledger.key(id: "b"))
      #expect(free.expiresAt == nil && free.addresses.isEmpty && !free.isStrict && free.isInForce(at: .distantFuture))
    }
  }

  @Test(
    "a key with invalid addresses is refused",
    arguments: [["a b"], [""], ["a\0"], [String(repeating: "a", count: 65)], Array(repeating: "::1", count: 65)])
  func addresses(addresses: [String]) async throws {
    var new = newKey("a")
    new.addresses = addresses
    await #expect(throws: LedgerError.self) { try await ledger.createKey(new) }
    #expect(try await ledger.keys().isEmpty)
  }

  @Test("a rotated key has a successor with all its settings, and expires after the overlap")
  func rotation() async throws {
    var new = newKey("a")
    (new.name, new.locale, new.pack, new.group) = ("till", "zh-CN", "my-shop", "group.crier")
    (new.rate, new.addresses, new.isStrict) = (NewKey.Rate(perSecond: 0.5, burst: 3), ["192.0.2.7"], true)
    new.expiresAt = now.addingTimeInterval(90 * 86_400)
    try await ledger.createKey(new)
    let version = try await ledger.keysVersion()
    place.clock.advance(by: 1000)
    let rotated = try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 3600)
    let (old, made) = try #require(rotated)
    #expect(old.id == "a" && old.rotatedTo == "b" && old.expiresAt == now.addingTimeInterval(3600))
    #expect(try await ledger.keysVersion() != version, "caches of keys are invalidated")
    #expect(made.account == old.account && made.scopes == old.scopes && made.name == old.name && made.rate == old.rate)
    #expect(made.locale == old.locale && made.pack == old.pack && made.group == old.group)
    #expect(made.addresses == old.addresses && made.isStrict && made.digest == digestOf("b"))
    #expect(
      made.expiresAt == now.addingTimeInterval(90 * 86_400),
      "the successor has the lifetime of the old key, from now on")
    #expect(try await ledger.key(digest: new.digest)?.isInForce(at: now) == true)
  }

  @Test("a rotated key keeps an expiry before the overlap's end, and the successor of a key without expiry has none")
  func earlyEnd() async throws {
    var new = newKey("a")
    new.expiresAt = now.addingTimeInterval(60)
    try await ledger.createKey(new)
    #expect(
      try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 3600)?.old.expiresAt == new.expiresAt)
    try await ledger.createKey(newKey("c"))
    let free = try #require(try await ledger.rotateKey("c", to: "d", digest: digestOf("d"), overlap: 0))
    #expect(free.old.expiresAt == now && !free.old.isInForce(at: now) && free.new.expiresAt == nil)
  }

  @Test("an unknown, revoked, expired or already rotated key is not rotated, and nothing is changed")
  func notRotated() async throws {
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

  @Test("an action on a key is recorded with its actor in the same transaction")
  func administered() async throws {
    try await ledger.createKey(newKey("a"), by: .user(1000, sudo: nil))
    try await ledger.rotateKey("a", to: "b", digest: digestOf("b"), overlap: 60, by: .user(997, sudo: 1000))
    try await ledger.revokeKey("a", by: .key("7d3k9q2m"))
    try await ledger.revokeKey("a")
    await #expect(throws: LedgerError.self) { try await ledger.createKey(newKey("a")) }
    try await ledger.record(.playbackPaused, by: .key("7d3k9q2m"))
    let acts = try await ledger.administrativeActs()
    #expect(
      acts.map { "\($0.actor) \($0.action.rawValue) \($0.subject ?? "-")" } == [
        "user:1000 key_created a", "user:997 for user:1000 key_rotated a", "user:997 for user:1000 key_created b",
        "key:7d3k9q2m key_revoked a", "key:7d3k9q2m playback_paused -",
      ])
    #expect(acts.allSatisfy { $0.at == now })
    #expect(try await ledger.administrativeActs(after: acts[2].number, limit: 1) == [acts[3]])
    #expect(Ledger.Administrator.currentUser.description.hasPrefix("user:\(getuid())"))
  }

  @Test("a recorded action on a key cannot be changed")
  func unchanged() async throws {
    try await ledger.record(.playbackPaused, by: .key("a"))
    #expect(throws: DatabaseError.self) { try change(place.file, "UPDATE administration SET actor = 'key:b'") }
    #expect(try await ledger.administrativeActs().map(\.actor) == ["key:a"])
  }

  @Test("recorded actions on keys are kept for a year, or as long as announcements if that is longer")
  func retention() async throws {
    try await ledger.record(.playbackPaused, by: .key("a"))
    let year: TimeInterval = 365 * 86_400
    place.clock.advance(by: year)
    #expect(try await ledger.prune(finishedBefore: now).administrativeActs == 0)
    place.clock.advance(by: 1)
    #expect(try await ledger.prune(finishedBefore: now.addingTimeInterval(-2 * year)).administrativeActs == 0)
    #expect(try await ledger.prune(finishedBefore: now).administrativeActs == 1)
    #expect(try await ledger.administrativeActs().isEmpty)
  }

  @Test("keys from a ledger of the second version do not expire, and may be used from any address")
  func migrated() async throws {
    let other = try TemporaryLedger()
    try makeSecondVersion(other.file)
    let key = try #require(try await other.open().key(id: "a"))
    #expect(key.isInForce(at: .distantFuture) && key.addresses.isEmpty && !key.isStrict && key.rotatedTo == nil)
  }
}
