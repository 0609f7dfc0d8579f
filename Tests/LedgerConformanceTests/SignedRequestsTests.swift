// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SQLiteLedger
import Testing

@Suite("Signed requests")
struct SignedRequestsTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger
  let now: Int64 = 1_800_000_000

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func admit(
    _ name: String, at signedAt: Int64? = nil, key: String = "7d3k9q2m", to other: (SQLiteLedger)? = nil,
    atMost most: Int64 = 100
  ) async throws -> Ledger.SignedRequestOutcome {
    try await (other ?? ledger).admitSignedRequest(
      digestOf(name), keyID: key, signedAt: signedAt ?? now, atMost: most)
  }

  @Test("all ledgers on one file together admit a signed request only once")
  func once() async throws {
    let other = try place.open()
    #expect(try await admit("a") == .admitted)
    #expect(try await admit("a") == .replayed)
    #expect(try await admit("a", to: other) == .replayed)
    #expect(try await admit("b", to: other) == .admitted)
    #expect(try await admit("b") == .replayed)
  }

  @Test("of simultaneous copies of a signed request, only one is admitted")
  func together() async throws {
    let other = try place.open()
    let outcomes = try await withThrowingTaskGroup(of: Ledger.SignedRequestOutcome.self) { group in
      for index in 0..<40 { group.addTask { try await admit("a", to: index.isMultiple(of: 2) ? ledger : other) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == .admitted } == 1 && outcomes.count { $0 == .replayed } == 39)
  }

  @Test("an admitted signed request is remembered after the ledger is opened again")
  func restart() async throws {
    #expect(try await admit("a") == .admitted)
    #expect(try await admit("a", to: try place.open()) == .replayed)
  }

  @Test("old signed requests are forgotten, and requests as old as those are refused then, regardless of the clock")
  func forgotten() async throws {
    for (name, seconds) in [("a", -400), ("b", -301), ("c", -300), ("d", 0)] as [(String, Int64)] {
      #expect(try await admit(name, at: now + seconds) == .admitted)
    }
    #expect(try await ledger.forgetSignedRequests(before: now - 300) == 2)
    #expect(try await admit("a", at: now - 400) == .forgotten)
    #expect(try await admit("new", at: now - 301) == .forgotten)
    #expect(try await admit("c", at: now - 300) == .replayed)
    #expect(try await admit("new", at: now - 300) == .admitted)
    #expect(try await ledger.forgetSignedRequests(before: now - 500) == 0)
    #expect(try await admit("b", at: now - 301) == .forgotten, "an earlier date in a later call restores nothing")
    #expect(try await admit("b", at: now - 301, to: try place.open()) == .forgotten)
  }

  @Test("a clock that was ahead for a while does not make later signed requests fail")
  func clockAhead() async throws {
    #expect(try await admit("a") == .admitted)
    try await ledger.forgetSignedRequests(before: now + 86_400)
    #expect(try await admit("b", at: now + 1) == .admitted)
  }

  @Test("each key has its own limit of remembered requests, and forgotten requests make room again")
  func full() async throws {
    for index in 0..<3 { #expect(try await admit("a\(index)", at: now + Int64(index), atMost: 3) == .admitted) }
    #expect(try await admit("a3", at: now + 3, atMost: 3) == .tooMany)
    #expect(try await admit("a0", atMost: 3) == .replayed)
    #expect(try await admit("b", key: "00000000", atMost: 3) == .admitted)
    try await ledger.forgetSignedRequests(before: now + 1)
    #expect(try await admit("a3", at: now + 3, atMost: 3) == .admitted)
    #expect(try await admit("a4", at: now + 4, atMost: 3) == .tooMany)
  }

  @Test("one call can forget thousands of signed requests")
  func many() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<2_500 { group.addTask { _ = try await admit("a\(index)", atMost: 5_000) } }
      try await group.waitForAll()
    }
    #expect(try await ledger.forgetSignedRequests(before: now + 1) == 2_500)
    #expect(try await ledger.forgetSignedRequests(before: now + 1) == 0)
  }
}
