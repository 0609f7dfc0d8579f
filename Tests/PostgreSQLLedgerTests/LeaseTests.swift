// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "Leases of two nodes", .serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct LeaseTests {
  /// Terms of a lease that does not end while a test runs, and is not renewed.
  private static let standing: Ledger.Lease.Terms = {
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.renewal) = (.seconds(3_600), .seconds(3_600))
    return terms
  }()

  /// Terms of a lease that is renewed every 20 ms, and lasts long enough for a busy machine.
  private static let brisk: Ledger.Lease.Terms = {
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.renewal, terms.retry) = (.seconds(120), .milliseconds(20), .milliseconds(20))
    return terms
  }()

  /// Lets the time of all leases be over.
  private func end(_ nodes: TwoNodes) async throws {
    try await nodes.run("UPDATE leases SET until = clock_timestamp() - interval '1 millisecond'")
  }

  private func epochs(_ nodes: TwoNodes) async throws -> [String] {
    try await nodes.texts("SELECT name || ' ' || epoch AS value FROM leases ORDER BY name")
  }

  @Test("if two nodes try to take a lease at the same time, only one of them gets it")
  func once() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    for round in 1...20 {
      async let first = nodes.first.takeSeat(of: .pushes)
      async let second = nodes.second.takeSeat(of: .pushes)
      let seats = try await [first, second].compactMap(\.self)
      #expect(seats.count == 1)
      #expect(try await epochs(nodes) == ["pushes \(round)"])
      for seat in seats { await seat.giveBack() }
    }
  }

  @Test("two processes with one home folder are two holders, and so are two copies of a home folder")
  func oneHome() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let other = try await nodes.open()
    #expect(other.node.home == nodes.first.node.home && other.node.id != nodes.first.node.id)
    #expect(nodes.second.node.home != nodes.first.node.home)
    let seat = try #require(try await nodes.first.takeSeat(of: .pushes))
    #expect(try await other.takeSeat(of: .pushes) == nil)
    try await end(nodes)
    let taken = try #require(try await other.takeSeat(of: .pushes))
    let error = await #expect(throws: LedgerError.self) {
      try await nodes.first.postponePush(1, reason: nil, under: seat)
    }
    #expect(error?.code == .leaseLost && !seat.isUsable && taken.isUsable)
    await other.close()
  }

  @Test("a node that stopped loses its lease after its time, and then none of its writes changes anything")
  func stopped() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let work = try await DeliveryWork(in: nodes.first)
    for kind in DeliverySeat.Kind.allCases {
      let former = try #require(try await nodes.first.takeSeat(of: kind))
      #expect(try await nodes.second.takeSeat(of: kind) == nil)
      try await end(nodes)
      // Nobody has taken the lease, so nobody else writes.
      for write in work.writes(of: kind) { try await write.run(former) }
      let next = try #require(try await nodes.second.takeSeat(of: kind))
      for write in work.writes(of: kind) {
        let before = try await work.state(of: nodes.second)
        let error = await #expect(throws: LedgerError.self, "\(write.name)") { try await write.run(former) }
        #expect(error?.code == .leaseLost)
        #expect(try await work.state(of: nodes.second) == before, "\(write.name)")
        #expect(!former.isUsable)
      }
      await former.loss()
      for write in work.writes(of: kind) { try await write.run(next) }
      // The former holder gives back a lease that it does not have.
      await former.giveBack()
      #expect(try await nodes.first.takeSeat(of: kind) == nil)
      #expect(next.isUsable)
    }
    #expect(try await epochs(nodes) == ["provider-payments 2", "pushes 2", "webhooks 2"])
  }

  @Test("a lease is renewed as long as the DeliverySeat of its holder exists")
  func renewed() async throws {
    let nodes = try await TwoNodes(lease: Self.brisk)
    var seat = try await nodes.first.takeSeat(of: .webhooks)
    #expect(seat != nil)
    for _ in 0..<3 {
      try await nodes.run("UPDATE leases SET until = clock_timestamp() + interval '1 second'")
      try await eventually {
        try await nodes.texts(
          "SELECT 'renewed' AS value FROM leases WHERE until > clock_timestamp() + interval '100 seconds'"
        ).count == 1
      }
    }
    #expect(try await nodes.second.takeSeat(of: .webhooks) == nil)
    #expect(try await epochs(nodes) == ["webhooks 1"])
    withExtendedLifetime(seat) {}
    seat = nil
    try await eventually { try await nodes.second.takeSeat(of: .webhooks) != nil }
  }

  @Test("if another node has taken a lease, the earlier holder's next renewal fails, and the earlier holder stops")
  func lateRenewal() async throws {
    let nodes = try await TwoNodes(lease: Self.brisk)
    let seat = try #require(try await nodes.first.takeSeat(of: .webhooks))
    // The row that another node writes.
    try await nodes.run("UPDATE leases SET epoch = epoch + 1, until = clock_timestamp() + interval '100 seconds'")
    await seat.loss()
    #expect(!seat.isUsable)
    #expect(try await nodes.first.takeSeat(of: .webhooks) == nil)
  }

  @Test("a node that cannot reach the database gives up its lease by its own clock")
  func unreachable() async throws {
    let server = try await PostgreSQLServer()
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.margin) = (.seconds(4), .seconds(1))
    (terms.renewal, terms.retry) = (.milliseconds(100), .milliseconds(100))
    let nodes = try await TwoNodes(on: server, lease: terms)
    let seat = try #require(try await nodes.first.takeSeat(of: .pushes))
    try await server.stopAtOnce()
    await seat.loss()
    #expect(!seat.isUsable)
    try await server.start()
    // The connections of the second node are broken too.
    try await eventually { (try? await nodes.second.takeSeat(of: .pushes)) != nil }
  }

  @Test("the clocks of nodes do not decide who holds a lease, however wrong they are")
  func nodeClocks() async throws {
    let nodes = try await TwoNodes(lease: Self.brisk)
    let clock = SetClock()
    let wrong = try await nodes.open(now: { clock.now })
    let seat = try #require(try await wrong.takeSeat(of: .pushes))
    for step: TimeInterval in [-86_400, 3 * 86_400, -30 * 86_400] {
      clock.advance(by: step)
      #expect(seat.isUsable)
      #expect(try await nodes.second.takeSeat(of: .pushes) == nil)
      try await wrong.postponePush(1, reason: nil, under: seat)
    }
    await seat.giveBack()
    let next = try #require(try await nodes.second.takeSeat(of: .pushes))
    #expect(try await wrong.takeSeat(of: .pushes) == nil)
    withExtendedLifetime(next) {}
    await wrong.close()
  }

  @Test("a lease whose end is too far ahead counts as free, because the server's clock must have been set back")
  func serverClock() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let former = try #require(try await nodes.first.takeSeat(of: .pushes))
    try await nodes.run("UPDATE leases SET until = clock_timestamp() + interval '110 minutes'")
    #expect(try await nodes.second.takeSeat(of: .pushes) == nil)
    try await nodes.run("UPDATE leases SET until = clock_timestamp() + interval '1 day'")
    let next = try #require(try await nodes.second.takeSeat(of: .pushes))
    await #expect(throws: LedgerError.self) { try await nodes.first.postponePush(1, reason: nil, under: former) }
    try await nodes.second.postponePush(1, reason: nil, under: next)
  }

  @Test("a write that the holder of a lease has begun is stored before another node gets the lease")
  func writeUnderWay() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let work = try await DeliveryWork(in: nodes.first)
    let seat = try #require(try await nodes.first.takeSeat(of: .pushes))
    let number = try #require(try await nodes.first.unfinishedPushes().first?.number)
    let open = try await OpenTransaction(nodes, locking: number)
    async let writing: Void = nodes.first.postponePush(number, reason: "late", under: seat)
    let database = try await nodes.texts("SELECT current_database()::text AS value")[0]
    try await nodes.server.sessions(of: database, waitFor: "transactionid")
    try await end(nodes)
    let taking = Task { try await nodes.second.takeSeat(of: .pushes) }
    try await nodes.server.sessions(of: database, waitFor: "advisory")
    try await open.commit()
    try await writing
    #expect(try await taking.value != nil)
    #expect(try await nodes.second.unfinishedPushes().first?.reason == "late")
    withExtendedLifetime(work) {}
  }

  @Test("in 200 random orders of taking, giving back, ending and writing, only the latest holder writes")
  func randomOrders() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let work = try await DeliveryWork(in: nodes.first, count: 1)
    let number = try #require(try await nodes.first.unfinishedPushes().first?.number)
    var random = SplitMix64(seed: 20_261_201)
    var epoch: Int64 = 0
    for round in 0..<200 {
      var seats: [DeliverySeat?] = [nil, nil]
      /// The epoch of each node's seat, and whether the latest holder's time is over or the lease was given back.
      var (owned, isFree): ([Int64], Bool) = ([0, 0], true)
      for step in 0..<Int.random(in: 4...16, using: &random) {
        let node = Int.random(in: 0..<2, using: &random)
        let ledger = nodes.both[node]
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          let seat = try await ledger.takeSeat(of: .pushes)
          #expect((seat != nil) == isFree)
          guard let seat else { continue }
          (epoch, isFree) = (epoch + 1, false)
          (seats[node], owned[node]) = (seat, epoch)
        case 2:
          guard let seat = seats[node] else { continue }
          await seat.giveBack()
          if owned[node] == epoch { isFree = true }
          seats[node] = nil
        case 3:
          try await end(nodes)
          isFree = true
        default:
          guard let seat = seats[node] else { continue }
          let reason = "\(round) \(step)"
          if owned[node] == epoch {
            try await ledger.postponePush(number, reason: reason, under: seat)
            #expect(try await nodes.first.unfinishedPushes().first?.reason == reason)
          } else {
            let error = await #expect(throws: LedgerError.self) {
              try await ledger.postponePush(number, reason: reason, under: seat)
            }
            #expect(error?.code == .leaseLost)
            #expect(try await nodes.first.unfinishedPushes().first?.reason != reason)
          }
        }
      }
      for seat in seats { await seat?.giveBack() }
      try await end(nodes)
      #expect(try await epochs(nodes) == ["pushes \(epoch)"])
    }
    withExtendedLifetime(work) {}
  }

  @Test("while two nodes take a lease from each other, no write of an earlier holder is stored after a later holder's")
  func race() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    try await nodes.run("CREATE TABLE written (place bigserial, epoch bigint)")
    let isOver = Locked(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for ledger in nodes.both {
        group.addTask {
          while !isOver.withLock({ $0 }) {
            guard let seat = try await ledger.takeSeat(of: .pushes), let lease = seat.lease else { continue }
            try await withThrowingTaskGroup(of: Void.self) { writers in
              for _ in 0..<2 {
                writers.addTask {
                  while !isOver.withLock({ $0 }) {
                    do throws(LedgerError) {
                      try await ledger.write(while: .pushing, under: seat) { session in
                        try session.execute("INSERT INTO written (epoch) VALUES ($1)", [.int64(lease.epoch)])
                      }
                    } catch {
                      #expect(error.code == .leaseLost)
                      return
                    }
                  }
                }
              }
              try await writers.waitForAll()
            }
          }
        }
      }
      for _ in 0..<40 {
        let before = try await epochs(nodes)
        try await end(nodes)
        try await eventually { try await epochs(nodes) != before }
      }
      isOver.withLock { $0 = true }
      try await group.waitForAll()
    }
    let written = try await nodes.texts("SELECT epoch::text AS value FROM written ORDER BY place").compactMap(Int.init)
    #expect(written == written.sorted())
    #expect(Set(written).count > 1)
  }
}

extension OpenTransaction {
  /// Begins a transaction that has locked a push.
  fileprivate convenience init(_ nodes: TwoNodes, locking push: Int64) async throws {
    try await self.init(on: nodes, "SELECT 1 FROM pushes WHERE number = \(push) FOR UPDATE")
  }
}
