// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Codes for signing in, in the ledger", .removesLedgers)
struct SignInTests {
  private static let lifetime: TimeInterval = 900

  private func new(_ id: String, days: Int = 30, addresses: [String] = [], maker: String? = nil) -> NewSignInCode {
    NewSignInCode(
      id: id, digest: digestOf("code \(id)"), scope: "till", account: "shop", name: "Till 收银", days: days,
      addresses: addresses, maker: maker)
  }

  @discardableResult
  private func make(_ code: NewSignInCode, in ledger: any Ledger.Store) async throws -> Ledger.SignInCode {
    try await ledger.createSignInCode(code, lifetime: Self.lifetime, by: .key("admin"))
  }

  private func signIn(_ id: String, _ key: String = "k", in ledger: any Ledger.Store) async throws -> Ledger.SignIn {
    try await ledger.signIn(withCode: digestOf("code \(id)"), keyID: key, keyDigest: digestOf("key \(key)"))
  }

  @Test(
    "a sign-in code can be exchanged only once, for a key that has the code's properties",
    arguments: LedgerUnderTest.all)
  func exchanged(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let code = try await make(new("a", addresses: ["192.0.2.0/24", "::1"]), in: ledger)
    #expect(code.expiresAt == place.clock.now.addingTimeInterval(900) && code.createdAt == place.clock.now)
    #expect(try await ledger.signInCodes() == [code])
    place.clock.advance(by: 899)
    guard case .signedIn(let key) = try await signIn("a", in: try await place.open()) else {
      Issue.record("The code was not exchanged.")
      return
    }
    #expect(key.id == "k" && key.account == "shop" && key.scopes == ["till"] && key.name == "Till 收银")
    #expect(key.addresses == ["192.0.2.0/24", "::1"] && key.signInCode == "a" && key.device == nil)
    #expect(key.expiresAt == place.clock.now.addingTimeInterval(30 * 86_400))
    #expect(try await ledger.key(digest: digestOf("key k")) == key)
    #expect(try await signIn("a", "other", in: ledger) == .used)
    #expect(try await ledger.keys() == [key])
    #expect(try await ledger.signInCodes() == [])
    let acts = try await ledger.administrativeActs()
    #expect(acts.map(\.action) == [.signInCodeCreated, .keyCreated] && acts.map(\.subject) == ["a", "k"])
    #expect(acts.map(\.actor) == ["key:admin", "code:a"])
  }

  @Test("of many simultaneous exchanges of one sign-in code, only one gets a key", arguments: LedgerUnderTest.all)
  func race(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await make(new("a"), in: ledger)
    let outcomes = try await withThrowingTaskGroup(of: Ledger.SignIn.self) { group in
      for number in 0..<20 { group.addTask { try await signIn("a", "k\(number)", in: ledger) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { if case .signedIn = $0 { true } else { false } } == 1)
    #expect(outcomes.count { $0 == .used } == 19)
    #expect(try await ledger.keys().count == 1)
  }

  @Test("a sign-in code that is unknown, removed or expired makes no key", arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    #expect(try await signIn("nobody", in: ledger) == .unknown)
    try await make(new("a"), in: ledger)
    #expect(try await ledger.removeSignInCode("a", by: .key("admin"))?.id == "a")
    #expect(try await signIn("a", in: ledger) == .unknown)
    for unknown in ["a", "nobody", "", "a\0"] { #expect(try await ledger.removeSignInCode(unknown) == nil) }
    try await make(new("b"), in: ledger)
    place.clock.advance(by: 900)
    #expect(try await signIn("b", in: ledger) == .expired)
    #expect(try await ledger.signInCodes() == [])
    #expect(try await ledger.keys() == [])
    #expect(
      try await ledger.administrativeActs().map(\.action) == [
        .signInCodeCreated, .signInCodeRemoved, .signInCodeCreated,
      ])
  }

  @Test(
    "an exchanged sign-in code cannot be removed, and its key can be revoked like any other key",
    arguments: LedgerUnderTest.all)
  func revoked(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await make(new("a"), in: ledger)
    _ = try await signIn("a", in: ledger)
    #expect(try await ledger.removeSignInCode("a") == nil)
    #expect(try await ledger.revokeKey("k")?.revokedAt != nil)
    #expect(try await ledger.key(id: "k") == nil)
    #expect(try await signIn("a", "other", in: ledger) == .used)
  }

  @Test(
    "a sign-in code becomes invalid when the key that made it is revoked or expires", arguments: LedgerUnderTest.all)
  func maker(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.createKey(newKey("admin"))
    var short = newKey("short")
    short.expiresAt = place.clock.now.addingTimeInterval(60)
    try await ledger.createKey(short)
    try await make(new("a", maker: "admin"), in: ledger)
    try await make(new("b", maker: "short"), in: ledger)
    #expect(try await ledger.signInCodes().map(\.id) == ["a", "b"])
    try await ledger.revokeKey("admin")
    place.clock.advance(by: 60)
    #expect(try await signIn("a", in: ledger) == .unknown)
    #expect(try await signIn("b", in: ledger) == .unknown)
    #expect(try await ledger.signInCodes() == [])
  }

  @Test(
    "when a sign-in code is made, codes that ended more than a day ago are forgotten", arguments: LedgerUnderTest.all)
  func forgotten(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await make(new("a"), in: ledger)
    _ = try await signIn("a", in: ledger)
    place.clock.advance(by: 900 + 86_400)
    try await make(new("b"), in: ledger)
    #expect(try await signIn("a", "other", in: ledger) == .used)
    place.clock.advance(by: 1)
    try await make(new("c"), in: ledger)
    #expect(try await signIn("a", "other", in: ledger) == .unknown)
    #expect(try await ledger.key(id: "k")?.signInCode == "a")
  }

  @Test(
    "two sign-in codes cannot have one id or digest, and an exchange for an existing key does not use up its code",
    arguments: LedgerUnderTest.all)
  func unique(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await make(new("a"), in: ledger)
    var same = new("b")
    same.digest = new("a").digest
    for code in [new("a"), same] {
      let error = await #expect(throws: LedgerError.self) { try await make(code, in: ledger) }
      #expect(error?.code == .keyExists)
    }
    try await ledger.createKey(newKey("k"))
    await #expect(throws: LedgerError.self) { try await signIn("a", "k", in: ledger) }
    guard case .signedIn = try await signIn("a", "k2", in: ledger) else {
      Issue.record("The code was used up.")
      return
    }
  }

  @Test("a sign-in code with an invalid value is refused", arguments: LedgerUnderTest.all)
  func invalid(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var codes = Array(repeating: new("a"), count: 8)
    codes[0].days = 0
    codes[1].days = 3_651
    codes[2].name = ""
    codes[3].account = ""
    codes[4].scope = "Till"
    codes[5].digest = Data(count: 31)
    codes[6].id = ""
    codes[7].addresses = ["a b"]
    for code in codes {
      let error = await #expect(throws: LedgerError.self) { try await make(code, in: ledger) }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await ledger.signInCodes() == [])
    #expect(try await ledger.administrativeActs() == [])
  }
}
