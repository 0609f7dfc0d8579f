// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import TestSupport
import Testing
import WebhookMessages

@Suite("The exclusive right to make deliveries", .removesLedgers, .timeLimit(.minutes(10)))
struct DeliverySeatTests {
  @Test("each kind of deliveries has an exclusive right of its own", arguments: LedgerUnderTest.all)
  func kinds(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (ledger, other) = (try await place.open(), try await place.open())
    var seats: [DeliverySeat] = []
    for kind in DeliverySeat.Kind.allCases {
      let seat = try #require(try await other.takeSeat(of: kind))
      #expect(seat.kind == kind && seat.isUsable)
      #expect(try await ledger.takeSeat(of: kind) == nil)
      #expect(try await other.takeSeat(of: kind) == nil)
      seats.append(seat)
    }
    await seats[0].giveBack()
    #expect(!seats[0].isUsable)
    #expect(try await ledger.takeSeat(of: seats[0].kind) != nil)
    #expect(try await ledger.takeSeat(of: seats[1].kind) == nil)
  }

  @Test(
    "a wait for the loss of the right to make deliveries ends when the right is given back",
    arguments: LedgerUnderTest.all)
  func loss(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let seat = try #require(try await ledger.takeSeat(of: .pushes))
    let hasEnded = Locked(false)
    let waiting = Task {
      await seat.loss()
      hasEnded.withLock { $0 = true }
    }
    #expect(!hasEnded.withLock { $0 })
    await seat.giveBack()
    await waiting.value
    #expect(hasEnded.withLock { $0 })
    // A cancelled task does not keep waiting.
    let second = try #require(try await ledger.takeSeat(of: .pushes))
    let cancelled = Task { await second.loss() }
    cancelled.cancel()
    await cancelled.value
    #expect(second.isUsable)
  }

  @Test(
    "a write under the right to make deliveries is stored, and a write after the right was given back fails",
    arguments: LedgerUnderTest.all)
  func writes(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let work = try await DeliveryWork(in: ledger)
    for kind in DeliverySeat.Kind.allCases {
      let seat = try #require(try await ledger.takeSeat(of: kind))
      for write in work.writes(of: kind) {
        let before = try await work.state(of: ledger)
        try await write.run(seat)
        #expect(try await work.state(of: ledger) != before, "\(write.name)")
      }
      await seat.giveBack()
      for write in work.writes(of: kind) {
        let before = try await work.state(of: ledger)
        let error = await #expect(throws: LedgerError.self, "\(write.name)") { try await write.run(seat) }
        #expect(error?.code == .leaseLost)
        #expect(try await work.state(of: ledger) == before)
      }
    }
  }
}
