// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Codes for signing in, in the ledger")
struct SignInTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger
  private static let lifetime: TimeInterval = 900

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func new(_ id: String, days: Int = 30, addresses: [String] = [], maker: String? = nil) -> NewSignInCode {
    NewSignInCode(
      id: id, digest: digestOf("code \(id)"), scope: "till", account: "shop", name: "Till 收银", days: days,
      addresses: addresses, maker: maker)
  }

  @discardableResult
  private func make(_ code: NewSignInCode) async throws -> Ledger.SignInCode {
    try await ledger.createSignInCode(code, lifetime: Self.lifetime, by: .key("admin"))
  }

  private func signIn(_ id: String, _ key: String = "k", in ledger: (SQLiteLedger)? = nil) async throws -> Ledger.SignIn
  {
    try await (ledger ?? self.ledger).signIn(
      withCode: digestOf("code \(id)"), keyID: key, keyDigest: digestOf("key \(key)"))
  }

  @Test("a sign-in code is exchanged once, for a key with the code's properties, also after the ledger is opened again")
  func exchanged() async throws {
    let code = try await make(new("a", addresses: ["192.0.2.0/24", "::1"]))
    #expect(code.expiresAt == place.clock.now.addingTimeInterval(900) && code.createdAt == place.clock.now)
    #expect(try await ledger.signInCodes() == [code])
    place.clock.advance(by: 899)
    guard case .signedIn(let key) = try await signIn("a", in: try place.open()) else {
      Issue.record("The code was not exchanged.")
      return
    }
    #expect(key.id == "k" && key.account == "shop" && key.scopes == ["till"] && key.name == "Till 收银")
    #expect(key.addresses == ["192.0.2.0/24", "::1"] && key.signInCode == "a" && key.device == nil)
    #expect(key.expiresAt == place.clock.now.addingTimeInterval(30 * 86_400))
    #expect(try await ledger.key(digest: digestOf("key k")) == key)
    #expect(try await signIn("a", "other") == .used)
    #expect(try await ledger.keys() == [key])
    #expect(try await ledger.signInCodes() == [])
    let acts = try await ledger.administrativeActs()
    #expect(acts.map(\.action) == [.signInCodeCreated, .keyCreated] && acts.map(\.subject) == ["a", "k"])
    #expect(acts.map(\.actor) == ["key:admin", "code:a"])
  }

  @Test("of many simultaneous exchanges of one sign-in code, only one gets a key")
  func race() async throws {
    try await make(new("a"))
    let outcomes = try await withThrowingTaskGroup(of: Ledger.SignIn.self) { group in
      for number in 0..<20 { group.addTask { try await signIn("a", "k\(number)") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { if case .signedIn = $0 { true } else { false } } == 1)
    #expect(outcomes.count { $0 == .used } == 19)
    #expect(try await ledger.keys().count == 1)
  }

  @Test("a sign-in code that is unknown, removed or expired makes no key")
  func refused() async throws {
    #expect(try await signIn("nobody") == .unknown)
    try await make(new("a"))
    #expect(try await ledger.removeSignInCode("a", by: .key("admin"))?.id == "a")
    #expect(try await signIn("a") == .unknown)
    for unknown in ["a", "nobody", "", "a\0"] { #expect(try await ledger.removeSignInCode(unknown) == nil) }
    try await make(new("b"))
    place.clock.advance(by: 900)
    #expect(try await signIn("b") == .expired)
    #expect(try await ledger.signInCodes() == [])
    #expect(try await ledger.keys() == [])
    #expect(
      try await ledger.administrativeActs().map(\.action) == [
        .signInCodeCreated, .signInCodeRemoved, .signInCodeCreated,
      ])
  }

  @Test("an exchanged sign-in code cannot be removed, and its key can be revoked like any other key")
  func revoked() async throws {
    try await make(new("a"))
    _ = try await signIn("a")
    #expect(try await ledger.removeSignInCode("a") == nil)
    #expect(try await ledger.revokeKey("k")?.revokedAt != nil)
    #expect(try await ledger.key(id: "k") == nil)
    #expect(try await signIn("a", "other") == .used)
  }

  @Test("a sign-in code becomes invalid when the key that made it is revoked or expires")
  func maker() async throws {
    try await ledger.createKey(newKey("admin"))
    var short = newKey("short")
    short.expiresAt = place.clock.now.addingTimeInterval(60)
    try await ledger.createKey(short)
    try await make(new("a", maker: "admin"))
    try await make(new("b", maker: "short"))
    #expect(try await ledger.signInCodes().map(\.id) == ["a", "b"])
    try await ledger.revokeKey("admin")
    place.clock.advance(by: 60)
    #expect(try await signIn("a") == .unknown)
    #expect(try await signIn("b") == .unknown)
    #expect(try await ledger.signInCodes() == [])
  }

  @Test("when a sign-in code is made, codes that ended more than a day ago are forgotten")
  func forgotten() async throws {
    try await make(new("a"))
    _ = try await signIn("a")
    place.clock.advance(by: 900 + 86_400)
    try await make(new("b"))
    #expect(try await signIn("a", "other") == .used)
    place.clock.advance(by: 1)
    try await make(new("c"))
    #expect(try await signIn("a", "other") == .unknown)
    #expect(try await ledger.key(id: "k")?.signInCode == "a")
  }

  @Test("two sign-in codes cannot have one id or digest, and an exchange for an existing key does not use up its code")
  func unique() async throws {
    try await make(new("a"))
    var same = new("b")
    same.digest = new("a").digest
    for code in [new("a"), same] {
      let error = await #expect(throws: LedgerError.self) { try await make(code) }
      #expect(error?.code == .keyExists)
    }
    try await ledger.createKey(newKey("k"))
    await #expect(throws: LedgerError.self) { try await signIn("a", "k") }
    guard case .signedIn = try await signIn("a", "k2") else {
      Issue.record("The code was used up.")
      return
    }
  }

  @Test("a sign-in code with an invalid value is refused")
  func invalid() async throws {
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
      let error = await #expect(throws: LedgerError.self) { try await make(code) }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await ledger.signInCodes() == [])
    #expect(try await ledger.administrativeActs() == [])
  }
}
