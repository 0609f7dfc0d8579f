// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Keys", .removesLedgers)
struct KeysTests {
  @Test("a key is stored with all its values and survives reopening the ledger", arguments: LedgerUnderTest.all)
  func everything(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = newKey("7d3k9q2m")
    (new.name, new.locale, new.pack, new.group) = ("till 收银", "zh-CN", "my-shop", "group.crier")
    new.rate = NewKey.Rate(perSecond: 0.5, burst: 3)
    let created = try await ledger.createKey(new)
    for ledger in [ledger, try await place.open()] {
      let key = try #require(try await ledger.key(digest: new.digest))
      #expect(key == created)
      #expect(
        key.id == new.id && key.account == "shop" && key.digest == new.digest && key.scopes == ["announce", "read"])
      #expect(key.name == "till 收银" && key.locale == "zh-CN" && key.pack == "my-shop" && key.group == "group.crier")
      #expect(key.rate == new.rate)
      #expect(key.createdAt == place.clock.now && key.revokedAt == nil && key.lastUsedAt == nil)
      #expect(try await ledger.key(id: new.id) == key)
    }
  }

  @Test("optional values of a key are absent by default", arguments: LedgerUnderTest.all)
  func least(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let key = try await ledger.createKey(newKey("a"))
    #expect(key.name == nil && key.locale == nil && key.pack == nil && key.group == nil && key.rate == nil)
  }

  @Test("keys are listed in the order of their creation, including revoked keys", arguments: LedgerUnderTest.all)
  func listing(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["c", "a", "b"] { try await ledger.createKey(newKey(id)) }
    try await ledger.revokeKey("a")
    #expect(try await ledger.keys().map(\.id) == ["c", "a", "b"])
    #expect(try await ledger.keys().map { $0.revokedAt != nil } == [false, true, false])
  }

  @Test("an unknown digest or id finds no key", arguments: LedgerUnderTest.all)
  func nobody(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.createKey(newKey("a"))
    for digest in [Data(), Data(count: 32), digestOf("a").prefix(31), digestOf("a") + [0]] {
      #expect(try await ledger.key(digest: digest) == nil)
    }
    for id in ["", "b", "A", "a\0", "a "] { #expect(try await ledger.key(id: id) == nil) }
  }

  @Test(
    "a revoked key is no longer found, in any process that uses the ledger, and stays revoked",
    arguments: LedgerUnderTest.all)
  func revoking(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    let new = newKey("a")
    try await ledger.createKey(new)
    #expect(try await other.key(digest: new.digest) != nil)
    let moment = place.clock.now
    let revoked = try #require(try await ledger.revokeKey("a"))
    #expect(revoked.revokedAt == moment)
    for ledger in [ledger, other] {
      #expect(try await ledger.key(digest: new.digest) == nil)
      #expect(try await ledger.key(id: "a") == nil)
    }
    place.clock.advance(by: 60)
    #expect(try await other.revokeKey("a")?.revokedAt == moment)
  }

  @Test("revoking an unknown key changes nothing and returns nil", arguments: LedgerUnderTest.all)
  func revokingNobody(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.createKey(newKey("a"))
    let version = try await ledger.keysVersion()
    for id in ["", "b", "A", "a\0", "' OR 1=1 --"] { #expect(try await ledger.revokeKey(id) == nil) }
    #expect(try await ledger.keysVersion() == version)
    #expect(try await ledger.keys().allSatisfy { $0.revokedAt == nil })
  }

  @Test(
    "a key with the id or digest of an existing or revoked key is refused, and other keys are stored",
    arguments: LedgerUnderTest.all)
  func taken(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.createKey(newKey("a", digest: 1))
    try await ledger.revokeKey("a")
    for new in [newKey("a", digest: 2), newKey("b", digest: 1)] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.createKey(new) }
      #expect(error.code == .keyExists)
      #expect(error.description.hasPrefix("Changing the keys in the ledger ") && !error.description.contains("shop"))
    }
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for id in 0..<40 {
        group.addTask { (try? await ledger.createKey(newKey("\(id / 2)", digest: UInt8(100 + id)))) != nil }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 } == 20)
    #expect(try await ledger.keys().count == 21)
  }

  @Test(
    "a key with an invalid value is refused by an error that names the field, and nothing is stored",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    func changed(_ change: (inout NewKey) -> Void) -> NewKey {
      var new = newKey("a")
      change(&new)
      return new
    }
    let long = String(repeating: "x", count: 256)
    let bad: [(NewKey, String)] = [
      (newKey(""), "id"), (newKey("a\0"), "id"), (newKey(String(repeating: "x", count: 65)), "id"),
      (changed { $0.account = "" }, "account"), (changed { $0.account = long }, "account"),
      (changed { $0.account = "a\0b" }, "account"), (changed { $0.digest = Data() }, "digest"),
      (changed { $0.digest = Data(count: 31) }, "digest"), (changed { $0.digest = Data(count: 33) }, "digest"),
      (changed { $0.scopes = [] }, "scopes"), (changed { $0.scopes = [""] }, "scopes"),
      (changed { $0.scopes = ["read admin"] }, "scopes"), (changed { $0.scopes = ["Read"] }, "scopes"),
      (changed { $0.scopes = ["réad"] }, "scopes"),
      (changed { $0.scopes = Array(repeating: "a", count: 17) }, "scopes"),
      (changed { $0.scopes = [String(repeating: "a", count: 33)] }, "scopes"), (changed { $0.name = long }, "name"),
      (changed { $0.name = "\0" }, "name"), (changed { $0.locale = "" }, "locale"),
      (changed { $0.pack = long }, "pack"),
      (changed { $0.group = "a\0" }, "group"), (changed { $0.rate = .init(perSecond: 0, burst: 1) }, "rate"),
      (changed { $0.rate = .init(perSecond: .nan, burst: 1) }, "rate"),
      (changed { $0.rate = .init(perSecond: .infinity, burst: 1) }, "rate"),
      (changed { $0.rate = .init(perSecond: -1, burst: 1) }, "rate"),
      (changed { $0.rate = .init(perSecond: 1, burst: 0) }, "rate"),
    ]
    for (new, field) in bad {
      let error = try await #require(throws: LedgerError.self, "\(field)") { try await ledger.createKey(new) }
      #expect(error.code == .invalidValue && error.field?.hasPrefix(field) == true)
    }
    #expect(try await ledger.keys().isEmpty)
  }

  @Test(
    "the version number of the keys changes when a key is created or revoked, and at no other time",
    arguments: LedgerUnderTest.all)
  func version(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    var seen: Set<Int64> = [try await ledger.keysVersion()]
    try await ledger.createKey(newKey("a"))
    #expect(seen.insert(try await ledger.keysVersion()).inserted)
    try await other.createKey(newKey("b"))
    #expect(seen.insert(try await ledger.keysVersion()).inserted)
    try await other.revokeKey("a")
    let version = try await ledger.keysVersion()
    #expect(seen.insert(version).inserted)
    #expect(try await other.keysVersion() == version)

    try await _ = ledger.accept(payment("1"))
    try await other.send(.pause, lane: "counter")
    try await other.revokeKey("a")
    try await ledger.recordUse(ofKeys: ["a": place.clock.now, "b": place.clock.now])
    _ = try? await ledger.createKey(newKey("b"))
    #expect(try await ledger.keysVersion() == version)
  }

  @Test("the time of the last use is recorded for existing keys", arguments: LedgerUnderTest.all)
  func use(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for id in ["a", "b"] { try await ledger.createKey(newKey(id)) }
    let use = place.clock.now
    place.clock.advance(by: 60)
    try await ledger.recordUse(ofKeys: ["a": use, "nobody": use, "b\0": use])
    try await ledger.recordUse(ofKeys: [:])
    #expect(try await ledger.keys().map(\.lastUsedAt) == [use, nil])
  }

  @Test("if an earlier use of a key is recorded later, the time of the last use stays", arguments: LedgerUnderTest.all)
  func earlierUse(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.createKey(newKey("a"))
    let use = place.clock.now
    for (recorded, last) in [(use, use), (use - 30, use), (use + 30, use + 30)] {
      try await ledger.recordUse(ofKeys: ["a": recorded])
      #expect(try await ledger.key(id: "a")?.lastUsedAt == last)
    }
  }
}
