// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "Lanes of two machines", .serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"),
  .timeLimit(.minutes(10)))
struct LaneLeaseTests {
  /// Terms of a lease that does not end while a test runs, and is not renewed.
  private static let standing: Ledger.Lease.Terms = {
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.renewal) = (.seconds(3_600), .seconds(3_600))
    return terms
  }()

  /// Lets the time of all leases be over, as if their machines had stopped. A lane is renewed every second, so a test
  /// that needs this acts at once or stops the renewals.
  private func end(_ nodes: TwoNodes) async throws {
    try await nodes.run("UPDATE leases SET until = clock_timestamp() - interval '1 millisecond'")
  }

  /// Takes the seat of a lane as a machine that stops at once: nobody renews its lease or gives it back.
  private func stoppedPlayer(_ lane: String, on ledger: PostgreSQLLedger) async throws -> PostgreSQLLedger {
    let lease = try #require(
      try await ledger.takeLease(
        PostgreSQLLedger.lease(ofLane: lane), terms: Self.standing, ofHome: ledger.node.home, isLostByTime: false))
    return PostgreSQLLedger(
      ledger, under: PostgreSQLLedger.Fence(name: PostgreSQLLedger.lease(ofLane: lane), lease: lease))
  }

  @Test("the lane of an output has the name of its machine")
  func names() async throws {
    let nodes = try await TwoNodes()
    #expect(nodes.first.lane(ofOutput: "default") == "default@shop-1")
    #expect(nodes.second.lane(ofOutput: "alsa:hw:0") == "alsa:hw:0@shop-2")
  }

  @Test("a lane belongs to the machine that played it first, also while that machine is off")
  func owner() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let seat = try await nodes.first.takeSeat(lane: "counter")
    for isPlayed in [true, false] {
      if !isPlayed { await seat.giveBack() }
      let error = await #expect(throws: LedgerError.self) { try await nodes.second.takeSeat(lane: "counter") }
      #expect(error?.code == .laneTaken && error?.machine == "shop-1")
      #expect(error?.description.contains("the machine shop-1") == true)
      #expect(error?.description.contains("crier queue move") == true)
    }
    let again = try await nodes.first.takeSeat(lane: "counter")
    // Another lane is free.
    let other = try await nodes.second.takeSeat(lane: "door")
    for seat in [again, other] { await seat.giveBack() }
  }

  @Test("requests on lanes of other machines, and on lanes that were never played, are not taken over")
  func takingOver() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    for lane in ["counter", "door", "never"] {
      _ = try await nodes.second.accept(payment("for \(lane)", lane: lane))
    }
    await (try await nodes.first.takeSeat(lane: "counter")).giveBack()
    await (try await nodes.second.takeSeat(lane: "door")).giveBack()
    #expect(try await nodes.first.lanesToTakeOver() == ["counter"])
    #expect(try await nodes.second.lanesToTakeOver() == ["door"])
    #expect(try await nodes.first.waitingLanes().map(\.lane) == ["counter", "door", "never"])
  }

  @Test("a machine sees whether another machine plays a lane, and its player's latest report")
  func reports() async throws {
    let nodes = try await TwoNodes()
    let number = try await nodes.second.accept(payment("a")).number
    let seat = try await nodes.first.takeSeat(lane: "counter")
    #expect(try await nodes.second.player(lane: "counter").isRunning)
    #expect(try await nodes.second.waitingLanes().map(\.isPlayed) == [true])
    var report = PlayerReport(startedAt: Date(), reportedAt: Date())
    (report.number, report.volume) = (number, 40)
    try seat.report(report)
    try await eventually { try await nodes.second.player(lane: "counter").report?.number == number }
    #expect(try await nodes.second.players().map(\.lane) == ["counter"])
    await seat.giveBack()
    let status = try await nodes.second.player(lane: "counter")
    #expect(!status.isRunning && status.report?.volume == 40)
    #expect(try await nodes.second.waitingLanes().map(\.isPlayed) == [false])
  }

  @Test("the announcements of a machine that is off can be cancelled and restored on another one")
  func cancelling() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let number = try await nodes.first.accept(payment("a")).number
    let seat = try await nodes.first.takeSeat(lane: "counter")
    let error = await #expect(throws: LedgerError.self) { try await nodes.second.cancelUnplayed(number) }
    #expect(error?.code == .laneTaken)
    await seat.giveBack()
    #expect(try await nodes.second.cancelUnplayed(number))
    #expect(try await !nodes.second.cancelUnplayed(number))
    #expect(try await nodes.second.restoreUnplayed(number)?.number == number)
    // The lane still belongs to its machine.
    await #expect(throws: LedgerError.self) { try await nodes.second.takeSeat(lane: "counter") }
    await (try await nodes.first.takeSeat(lane: "counter")).giveBack()
  }

  @Test("after a lane was moved to another machine, no write of its former player changes anything")
  func moved() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let numbers = [
      try await nodes.first.accept(payment("a")).number, try await nodes.first.accept(payment("b")).number,
    ]
    let former = try await stoppedPlayer("counter", on: nodes.first)
    try await former.set(numbers[0], .waiting, Ledger.Change(clip: "a.wav"))
    try await former.set(numbers[0], .playing)
    try await nodes.first.send(.pause, lane: "counter")
    let early = await #expect(throws: LedgerError.self) { try await nodes.second.moveHere(lane: "counter") }
    #expect(early?.code == .laneTaken)
    try await end(nodes)
    #expect(try await nodes.second.moveHere(lane: "counter") == 2)
    let seat = try await nodes.second.takeSeat(lane: "counter")
    let writes: [(String, @Sendable () async throws -> Void)] = [
      ("set", { try await former.set(numbers[0], .played) }),
      ("recover", { try await former.recover(lane: "counter") }),
      ("record", { try await former.record(.deviceLost, lane: "counter") }),
      ("keep", { try await former.keep(Ledger.Pause(since: Date()), lane: "counter") }),
      ("takeCommands", { _ = try await former.takeCommands(lane: "counter") }),
      ("restore", { _ = try await former.restore(numbers[1]) }),
      ("forget", { try await former.forgetQuietPayments(lane: "counter") }),
      ("accept", { _ = try await former.accept(payment("c")) }),
      ("moveRequests", { _ = try await former.moveRequests(from: "counter", to: "door") }),
    ]
    let events = try await nodes.second.lastEventPosition()
    for (name, write) in writes {
      let error = await #expect(throws: LedgerError.self, "\(name)") { try await write() }
      #expect(error?.code == .leaseLost, "\(name)")
    }
    #expect(try await nodes.second.lastEventPosition() == events)
    #expect(try await nodes.second.entry(account: "shop", id: "c") == nil)
    let player = nodes.second.ledger(under: seat)
    #expect(try await player.takeCommands(lane: "counter").map(\.command) == [.pause])
    #expect(try await player.recover(lane: "counter") == 1)
    #expect(try await player.unfinished(lane: "counter").map(\.number) == numbers)
    // The former machine does not get the lane back by itself.
    await seat.giveBack()
    let late = await #expect(throws: LedgerError.self) { try await nodes.first.takeSeat(lane: "counter") }
    #expect(late?.machine == "shop-2")
  }

  @Test("two copies of a home folder on two machines do not play a lane at the same time")
  func copiedHome() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let copy = FileManager.default.temporaryDirectory.appending(path: "postgresql-ledger-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: copy) }
    try FileManager.default.copyItem(at: nodes.homes[0], to: copy)
    let other = try await nodes.open(home: copy)
    #expect(other.node.home == nodes.first.node.home)
    let number = try await nodes.first.accept(payment("a")).number
    let former = try await stoppedPlayer("counter", on: nodes.first)
    let error = await #expect(throws: LedgerError.self) { try await other.takeSeat(lane: "counter") }
    #expect(error?.code == .laneTaken)
    try await end(nodes)
    let seat = try await other.takeSeat(lane: "counter")
    await #expect(throws: LedgerError.self) { try await former.set(number, .rendering) }
    try await other.ledger(under: seat).set(number, .rendering)
    await seat.giveBack()
    await other.close()
  }

  @Test("a process that starts again after a crash plays its lane at once, and the ended process cannot write")
  func crashed() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let number = try await nodes.first.accept(payment("a")).number
    let former = try await stoppedPlayer("counter", on: nodes.first)
    let next = try await nodes.open()
    #expect(next.node.place == nodes.first.node.place && next.node.place != nodes.second.node.place)
    #expect(try await !next.player(lane: "counter").isRunning)
    #expect(try await nodes.second.player(lane: "counter").isRunning)
    let seat = try await next.takeSeat(lane: "counter")
    let error = await #expect(throws: LedgerError.self) { try await former.set(number, .rendering) }
    #expect(error?.code == .leaseLost)
    try await next.ledger(under: seat).set(number, .rendering)
    await seat.giveBack()
    await next.close()
  }

  @Test(
    "two processes of a machine do not play a lane at the same time, and the error contains the id of the playing one")
  func oneMachine() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let other = try await nodes.open()
    let seat = try await nodes.first.takeSeat(lane: "counter")
    let error = await #expect(throws: LedgerError.self) { try await other.takeSeat(lane: "counter") }
    #expect(error?.code == .laneTaken && error?.process == ProcessInfo.processInfo.processIdentifier)
    await seat.giveBack()
    await (try await other.takeSeat(lane: "counter")).giveBack()
    await other.close()
  }
}
