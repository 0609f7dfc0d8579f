// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import PostgreSQLLedger

@Suite(
  "Batches of a ledger that several nodes use", .serialized,
  .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"), .timeLimit(.minutes(10)))
struct SharedBatchTests {
  /// Terms of a lease that does not end while a test runs, and is not renewed.
  private static let standing: Ledger.Lease.Terms = {
    var terms = Ledger.Lease.Terms()
    (terms.length, terms.renewal) = (.seconds(3_600), .seconds(3_600))
    return terms
  }()

  private static let limits = Ledger.BatchLimits(ofAccount: 4, ofAll: 16)
  private static let status = Data(#"{"done":0}"#.utf8)

  private func new(_ id: String, account: String = "shop") -> Ledger.NewBatch {
    Ledger.NewBatch(id: id, account: account, request: Data(#"{"format":"csv"}"#.utf8), status: Self.status)
  }

  private func piece(_ number: Int, _ rows: [Int64]) -> Ledger.BatchPiece {
    Ledger.BatchPiece(number: number, lines: Data(rows.map { "row \($0)\n" }.joined().utf8), rows: rows)
  }

  /// Lets the time of all leases be over.
  private func end(_ nodes: TwoNodes) async throws {
    try await nodes.run("UPDATE leases SET until = clock_timestamp() - interval '1 millisecond'")
  }

  @Test("a list is stored in pieces, and each node reads all of it")
  func list() async throws {
    let nodes = try await TwoNodes()
    let list = Data((0..<(5 << 19)).map { UInt8(truncatingIfNeeded: $0 / 3) })
    #expect(try await nodes.first.accept(new("a"), list: list, Self.limits) == .accepted)
    var read = Data()
    var sizes: [Int] = []
    while let piece = try await nodes.second.listPiece(sizes.count, ofBatch: "a") {
      read += piece
      sizes.append(piece.count)
    }
    #expect(read == list && sizes == [1 << 20, 1 << 20, 1 << 19])
    let batch = try #require(try await nodes.second.batch("a", account: "shop"))
    #expect(batch.request == new("a").request && batch.status == Self.status && batch.account == "shop")
    #expect(batch.state == .running && batch.starts == 0 && batch.finishedAt == nil)
    #expect(!batch.isCancelled && !batch.isHeld)
    #expect(try await nodes.second.batch("a", account: "other") == nil)
    // A batch with the same id changes nothing.
    #expect(try await nodes.second.accept(new("a", account: "other"), list: Data("x".utf8), nil) == .accepted)
    #expect(try await nodes.first.batch("a", account: "shop") == batch)
    #expect(try await nodes.first.listPiece(0, ofBatch: "a")?.count == 1 << 20)
  }

  @Test("nodes that accept batches at once do not exceed the limits of an account and of all accounts")
  func limits() async throws {
    let nodes = try await TwoNodes()
    func accept(_ count: Int, _ account: @escaping @Sendable (Int) -> String) async throws -> [Ledger.BatchAdmission] {
      try await withThrowingTaskGroup(of: Ledger.BatchAdmission.self) { group in
        for number in 0..<count {
          group.addTask {
            let batch = self.new("\(account(number)) \(number)", account: account(number))
            return try await nodes.both[number % 2].accept(batch, list: Data("x".utf8), Self.limits)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    let own = try await accept(12) { _ in "shop" }
    #expect(own.count { $0 == .accepted } == 4 && own.count { $0 == .accountBusy } == 8)
    #expect(try await nodes.second.admission(ofAccount: "shop", Self.limits) == .accountBusy)
    #expect(try await nodes.second.admission(ofAccount: "kiosk", Self.limits) == .accepted)
    let all = try await accept(20) { "account \($0)" }
    #expect(all.count { $0 == .accepted } == 12 && all.count { $0 == .busy } == 8)
    #expect(try await nodes.first.admission(ofAccount: "kiosk", Self.limits) == .busy)
    // A batch that has ended frees its place.
    let id = try #require(try await nodes.first.unfinishedBatches().first { $0.account == "shop" }).id
    guard case .ended = try await nodes.second.cancel(batch: id, account: "shop") else {
      Issue.record("the batch was waiting")
      return
    }
    #expect(try await nodes.first.admission(ofAccount: "shop", Self.limits) == .accepted)
  }

  @Test("one node at a time has the seat of a batch, and each start is counted until a service stops in order")
  func seats() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    _ = try await nodes.first.accept(new("a"), list: Data("x".utf8), nil)
    _ = try await nodes.first.accept(new("b"), list: Data("x".utf8), nil)
    for round in 1...10 {
      async let one = nodes.first.takeSeat(ofBatch: "a")
      async let two = nodes.second.takeSeat(ofBatch: "a")
      let seats = try await [one, two].compactMap(\.self)
      #expect(seats.count == 1 && seats.first?.batch.starts == round && seats.first?.nextPiece == 0)
      #expect(try await nodes.second.unfinishedBatches().map(\.isHeld) == [true, false])
      for seat in seats { await seat.giveBack() }
    }
    let seat = try #require(try await nodes.first.takeSeat(ofBatch: "a"))
    let other = try #require(try await nodes.second.takeSeat(ofBatch: "b"))
    #expect(try await nodes.first.nodes().map(\.batches) == [1, 1])
    try await nodes.first.stop(under: seat)
    await seat.giveBack()
    #expect(try await nodes.second.batch("a", account: "shop")?.starts == 0)
    #expect(try await nodes.second.batch("b", account: "shop")?.starts == 1)
    #expect(try await nodes.first.nodes().map(\.batches) == [0, 1])
    withExtendedLifetime(other) {}
  }

  @Test("the next holder of a batch knows which rows have results, and adds pieces behind those of the former one")
  func pieces() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    _ = try await nodes.first.accept(new("a"), list: Data("x".utf8), nil)
    let former = try #require(try await nodes.first.takeSeat(ofBatch: "a"))
    let progress = Data(#"{"done":3}"#.utf8)
    #expect(try await !nodes.first.store(piece(0, [0, 2]), status: Self.status, under: former))
    // The outcome of a store may be unknown, so it is repeated.
    for _ in 0..<2 { #expect(try await !nodes.first.store(piece(1, [1]), status: progress, under: former)) }
    #expect(try await !nodes.first.store(nil, status: progress, under: former))
    try await end(nodes)
    let next = try #require(try await nodes.second.takeSeat(ofBatch: "a"))
    #expect(next.nextPiece == 2 && next.batch.status == progress && next.batch.starts == 2)
    #expect(try await nodes.second.storedRows(fromPiece: 0, ofBatch: "a") == [[0, 2], [1]])
    #expect(try await nodes.second.storedRows(fromPiece: 1, ofBatch: "a") == [[1]])
    #expect(try await nodes.second.storedRows(fromPiece: 2, ofBatch: "a").isEmpty)
    _ = try await nodes.second.store(piece(2, [4, 3]), status: progress, under: next)
    try await nodes.second.end(.done, status: progress, under: next)
    #expect(try await nodes.first.pieceCount(ofBatch: "a") == 3)
    #expect(try await nodes.first.resultPiece(2, ofBatch: "a") == Data("row 4\nrow 3\n".utf8))
    #expect(try await nodes.first.resultPiece(3, ofBatch: "a") == nil)
    #expect(try await nodes.first.batch("a", account: "shop")?.state == .done)
    #expect(try await nodes.first.takeSeat(ofBatch: "a") == nil)
    #expect(try await nodes.first.unfinishedBatches().isEmpty)
  }

  @Test("a former holder of a batch stores nothing, whether another node works on the batch or has ended it")
  func formerHolder() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    _ = try await nodes.first.accept(new("a"), list: Data("x".utf8), nil)
    let former = try #require(try await nodes.first.takeSeat(ofBatch: "a"))
    try await end(nodes)
    // Nobody has taken the lease, so nobody else writes.
    _ = try await nodes.first.store(piece(0, [0]), status: Self.status, under: former)
    let next = try #require(try await nodes.second.takeSeat(ofBatch: "a"))
    func expectRefused() async throws {
      let before = try await nodes.second.batch("a", account: "shop")
      let late = Data("late".utf8)
      let writes: [@Sendable () async throws -> Void] = [
        { _ = try await nodes.first.store(self.piece(1, [1]), status: late, under: former) },
        { try await nodes.first.end(.failed, status: late, under: former) },
        { try await nodes.first.stop(under: former) },
      ]
      for write in writes {
        let error = await #expect(throws: LedgerError.self) { try await write() }
        #expect(error?.code == .leaseLost)
      }
      #expect(try await nodes.second.batch("a", account: "shop") == before)
      #expect(try await nodes.second.pieceCount(ofBatch: "a") == 1)
    }
    try await expectRefused()
    #expect(!former.isUsable && next.isUsable)
    await former.giveBack()
    #expect(try await nodes.first.takeSeat(ofBatch: "a") == nil)
    try await nodes.second.end(.done, status: Self.status, under: next)
    try await expectRefused()
    #expect(try await nodes.second.batch("a", account: "shop")?.state == .done)
  }

  @Test("a batch whose holder has ended is cancelled at once, and its former holder stores nothing more")
  func cancelledWithoutHolder() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    _ = try await nodes.first.accept(new("a"), list: Data("x".utf8), nil)
    let former = try #require(try await nodes.first.takeSeat(ofBatch: "a"))
    try await end(nodes)
    guard case .ended(let batch) = try await nodes.second.cancel(batch: "a", account: "shop") else {
      Issue.record("nobody works on the batch")
      return
    }
    #expect(batch.state == .cancelled && batch.isCancelled && batch.finishedAt != nil)
    let error = await #expect(throws: LedgerError.self) {
      try await nodes.first.store(self.piece(0, [0]), status: Self.status, under: former)
    }
    #expect(error?.code == .leaseLost)
    #expect(try await nodes.first.pieceCount(ofBatch: "a") == 0)
    #expect(try await nodes.first.takeSeat(ofBatch: "a") == nil)
  }

  @Test("the holder of a cancelled batch learns it when it stores something, and the batch ends as cancelled")
  func cancelledWithHolder() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    _ = try await nodes.first.accept(new("a"), list: Data("x".utf8), nil)
    let seat = try #require(try await nodes.first.takeSeat(ofBatch: "a"))
    for (account, expected) in [("other", Ledger.BatchCancellation.unknown), ("shop\0", .unknown)] {
      #expect(try await nodes.second.cancel(batch: "a", account: account) == expected)
    }
    guard case .stopping(let batch) = try await nodes.second.cancel(batch: "a", account: "shop") else {
      Issue.record("a node works on the batch")
      return
    }
    #expect(batch.state == .running && batch.isCancelled)
    #expect(try await nodes.first.cancel(batch: "a", account: "shop") == .alreadyEnded)
    #expect(try await nodes.first.store(piece(0, [0]), status: Self.status, under: seat))
    try await nodes.first.end(.done, status: Self.status, under: seat)
    #expect(try await nodes.second.batch("a", account: "shop")?.state == .cancelled)
    #expect(try await nodes.second.cancel(batch: "a", account: "shop") == .alreadyEnded)
  }

  @Test("of a cancellation and a node that begins the batch at once, the second one finds what the first one did")
  func cancelledAtOnce() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    for round in 0..<40 {
      let id = "batch \(round)"
      _ = try await nodes.first.accept(new(id), list: Data("x".utf8), nil)
      async let taking = nodes.first.takeSeat(ofBatch: id)
      async let cancelling = nodes.second.cancel(batch: id, account: "shop")
      let seat = try await taking
      switch try await cancelling {
      case .ended: #expect(seat == nil)
      case .stopping:
        let seat = try #require(seat)
        #expect(try await nodes.first.store(nil, status: Self.status, under: seat))
        try await nodes.first.end(.done, status: Self.status, under: seat)
      case .unknown, .alreadyEnded: Issue.record("the batch exists and has not ended")
      }
      #expect(try await nodes.first.batch(id, account: "shop")?.state == .cancelled)
    }
  }

  @Test("batches are listed newest first for each account, and unfinished ones oldest first")
  func listing() async throws {
    let nodes = try await TwoNodes()
    let clock = SetClock()
    let third = try await nodes.open(home: nodes.homes[0].appending(path: "third")) { clock.now }
    for id in ["c", "a", "b"] {
      clock.advance(by: 1)
      _ = try await third.accept(new(id), list: Data("x".utf8), nil)
    }
    _ = try await third.accept(new("d", account: "other"), list: Data("x".utf8), nil)
    #expect(try await nodes.second.batches(account: "shop", limit: 200).map(\.id) == ["b", "a", "c"])
    #expect(try await nodes.second.batches(account: "shop", limit: 1).map(\.id) == ["b"])
    #expect(try await nodes.second.batches(account: "nobody", limit: 1).isEmpty)
    #expect(try await nodes.second.unfinishedBatches().map(\.id) == ["c", "a", "b", "d"])
    await third.close()
  }

  @Test("only a batch that has ended is removed, with its list, its result and its lease")
  func removed() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let clock = SetClock()
    let third = try await nodes.open(home: nodes.homes[0].appending(path: "third")) { clock.now }
    for id in ["a", "b"] { _ = try await third.accept(new(id), list: Data("x".utf8), nil) }
    let seat = try #require(try await third.takeSeat(ofBatch: "a"))
    _ = try await third.store(piece(0, [0]), status: Self.status, under: seat)
    try await third.end(.failed, status: Self.status, under: seat)
    await seat.giveBack()
    #expect(try await nodes.second.batches(endedBefore: clock.now).isEmpty)
    #expect(try await nodes.second.batches(endedBefore: clock.now.addingTimeInterval(1)) == ["a"])
    for id in ["a", "b", "nobody", "b\0"] { try await nodes.second.remove(batch: id) }
    #expect(try await nodes.first.unfinishedBatches().map(\.id) == ["b"])
    #expect(try await nodes.first.batch("a", account: "shop") == nil)
    #expect(try await nodes.first.pieceCount(ofBatch: "a") == 0)
    #expect(try await nodes.first.listPiece(0, ofBatch: "a") == nil)
    #expect(try await nodes.texts("SELECT name AS value FROM leases").isEmpty)
    await third.close()
  }

  @Test("values that break a rule are refused, and ids that no batch can have are unknown")
  func badValues() async throws {
    let nodes = try await TwoNodes(lease: Self.standing)
    let ledger = nodes.first
    var large = new("a")
    large.request = Data(count: 65_537)
    var status = new("a")
    status.status = Data(count: 65_537)
    for batch in [
      new(""), new("a\0"), new(String(repeating: "a", count: 256)), new("a", account: "shop\0"), large, status,
    ] {
      let error = await #expect(throws: LedgerError.self) { try await ledger.accept(batch, list: Data(), nil) }
      #expect(error?.code == .invalidValue)
    }
    for id in ["", "a", "a\0", String(repeating: "é", count: 10_000)] {
      #expect(try await ledger.batch(id, account: "shop") == nil)
      #expect(try await ledger.takeSeat(ofBatch: id) == nil)
      #expect(try await ledger.cancel(batch: id, account: "shop") == .unknown)
      #expect(try await ledger.listPiece(0, ofBatch: id) == nil)
      #expect(try await ledger.resultPiece(-1, ofBatch: id) == nil)
      #expect(try await ledger.storedRows(fromPiece: 0, ofBatch: id).isEmpty)
    }
    #expect(try await nodes.texts("SELECT name AS value FROM leases").isEmpty, "no lease of an unknown batch stays")
    _ = try await ledger.accept(new("a"), list: Data(), nil)
    let seat = try #require(try await ledger.takeSeat(ofBatch: "a"))
    let writes: [@Sendable () async throws -> Void] = [
      { try await ledger.end(.running, status: Self.status, under: seat) },
      { try await ledger.end(.done, status: Data(count: 65_537), under: seat) },
      { _ = try await ledger.store(nil, status: Data(count: 65_537), under: seat) },
    ]
    for write in writes {
      let error = await #expect(throws: LedgerError.self) { try await write() }
      #expect(error?.code == .invalidValue)
    }
    #expect(try await ledger.batch("a", account: "shop")?.state == .running)
  }
}
