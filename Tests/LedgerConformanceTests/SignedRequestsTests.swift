// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Signed requests", .removesLedgers)
struct SignedRequestsTests {
  let now: Int64 = 1_800_000_000

  private func admit(
    _ name: String, at signedAt: Int64? = nil, key: String = "7d3k9q2m", atMost most: Int64 = 100,
    in ledger: any Ledger.Store
  ) async throws -> Ledger.SignedRequestOutcome {
    try await ledger.admitSignedRequest(
      digestOf(name), keyID: key, signedAt: signedAt ?? now, atMost: most)
  }

  @Test("all processes that use a ledger together admit a signed request only once", arguments: LedgerUnderTest.all)
  func once(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    #expect(try await admit("a", in: ledger) == .admitted)
    #expect(try await admit("a", in: ledger) == .replayed)
    #expect(try await admit("a", in: other) == .replayed)
    #expect(try await admit("b", in: other) == .admitted)
    #expect(try await admit("b", in: ledger) == .replayed)
  }

  @Test("of simultaneous copies of a signed request, only one is admitted", arguments: LedgerUnderTest.all)
  func together(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    let outcomes = try await withThrowingTaskGroup(of: Ledger.SignedRequestOutcome.self) { group in
      for index in 0..<40 {
        group.addTask { try await admit("a", in: index.isMultiple(of: 2) ? ledger : other) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == .admitted } == 1 && outcomes.count { $0 == .replayed } == 39)
  }

  @Test("an admitted signed request is remembered after the ledger is opened again", arguments: LedgerUnderTest.all)
  func restart(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    #expect(try await admit("a", in: ledger) == .admitted)
    #expect(try await admit("a", in: try await place.open()) == .replayed)
  }

  @Test(
    "old signed requests are forgotten, and requests as old as those are refused then, regardless of the clock",
    arguments: LedgerUnderTest.all)
  func forgotten(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for (name, seconds) in [("a", -400), ("b", -301), ("c", -300), ("d", 0)] as [(String, Int64)] {
      #expect(try await admit(name, at: now + seconds, in: ledger) == .admitted)
    }
    #expect(try await ledger.forgetSignedRequests(before: now - 300) == 2)
    #expect(try await admit("a", at: now - 400, in: ledger) == .forgotten)
    #expect(try await admit("new", at: now - 301, in: ledger) == .forgotten)
    #expect(try await admit("c", at: now - 300, in: ledger) == .replayed)
    #expect(try await admit("new", at: now - 300, in: ledger) == .admitted)
    #expect(try await ledger.forgetSignedRequests(before: now - 500) == 0)
    #expect(
      try await admit("b", at: now - 301, in: ledger) == .forgotten, "an earlier date in a later call restores nothing")
    #expect(try await admit("b", at: now - 301, in: try await place.open()) == .forgotten)
  }

  @Test("a clock that was ahead for a while does not make later signed requests fail", arguments: LedgerUnderTest.all)
  func clockAhead(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await admit("a", in: ledger) == .admitted)
    try await ledger.forgetSignedRequests(before: now + 86_400)
    #expect(try await admit("b", at: now + 1, in: ledger) == .admitted)
  }

  @Test(
    "each key has its own limit of remembered requests, and forgotten requests make room again",
    arguments: LedgerUnderTest.all)
  func full(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for index in 0..<3 {
      #expect(try await admit("a\(index)", at: now + Int64(index), atMost: 3, in: ledger) == .admitted)
    }
    #expect(try await admit("a3", at: now + 3, atMost: 3, in: ledger) == .tooMany)
    #expect(try await admit("a0", atMost: 3, in: ledger) == .replayed)
    #expect(try await admit("b", key: "00000000", atMost: 3, in: ledger) == .admitted)
    try await ledger.forgetSignedRequests(before: now + 1)
    #expect(try await admit("a3", at: now + 3, atMost: 3, in: ledger) == .admitted)
    #expect(try await admit("a4", at: now + 4, atMost: 3, in: ledger) == .tooMany)
  }

  @Test("one call can forget thousands of signed requests", arguments: LedgerUnderTest.all)
  func many(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<2_500 { group.addTask { _ = try await admit("a\(index)", atMost: 5_000, in: ledger) } }
      try await group.waitForAll()
    }
    #expect(try await ledger.forgetSignedRequests(before: now + 1) == 2_500)
    #expect(try await ledger.forgetSignedRequests(before: now + 1) == 0)
  }
}
