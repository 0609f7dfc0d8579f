// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Disk space")
struct DiskSpaceTests {
  let place: TemporaryLedger

  init() throws { place = try TemporaryLedger() }

  @Test(
    "a full ledger refuses announcements, still changes their states, and accepts announcements again after pruning")
  func full() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 603_000
    let ledger = try place.open(options)
    let payload = String(repeating: "x", count: 3000)
    var accepted: [Int64] = []
    var failure: LedgerError?
    while failure == nil, accepted.count < 1000 {
      do {
        accepted.append(try await ledger.accept(payment("\(accepted.count)", payload: payload)).number)
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .diskFull)
    #expect(accepted.count > 50)
    #expect(try await ledger.counts()[.accepted] == accepted.count)
    #expect(try await ledger.accept(payment("0")).isDuplicate, "a duplicate needs no disk space")

    for number in accepted { for state in StateTests.way(to: .played) { try await ledger.set(number, state) } }
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == accepted.count)
    let number = try await ledger.accept(payment("after", payload: payload)).number
    #expect(number > accepted[accepted.count - 1], "a number is never reused")
  }

  @Test("an announcement that does not fit on the disk does not affect the other announcements of its batch")
  func together() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 603_000
    options.reserveBytes = 0
    let ledger = try place.open(options)
    let large = String(repeating: "x", count: 200_000)
    let failures = await withTaskGroup(of: LedgerError?.self) { group in
      for id in 0..<20 {
        let new = id.isMultiple(of: 2) ? payment("\(id)", payload: large) : payment("\(id)")
        group.addTask {
          do throws(LedgerError) {
            _ = try await ledger.accept(new)
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: [LedgerError]()) { if let error = $1 { $0.append(error) } }
    }
    #expect(failures.count == 9)
    #expect(failures.allSatisfy { $0.code == .diskFull && $0.resultCode == 13 })
    #expect(try await ledger.recent().count { $0.payload.count == 2 } == 10)
    #expect(try await ledger.events().count == 11)
  }

  @Test("pruning removes announcements that finished before a date, their events and old commands, and nothing else")
  func pruning() async throws {
    let ledger = try place.open()
    for id in 0..<450 {
      let number = try await ledger.accept(payment("old \(id)")).number
      try await ledger.set(number, .cancelled)
    }
    let waiting = try await ledger.accept(payment("waiting")).number
    try await ledger.send(.pause, lane: "counter")
    place.clock.advance(by: 100)
    let moment = place.clock.now
    let atTheMoment = try await ledger.accept(payment("new")).number
    try await ledger.set(atTheMoment, .failed)
    try await ledger.send(.resume, lane: "counter")

    let pruned = try await ledger.prune(finishedBefore: moment)
    #expect(pruned == Ledger.Pruned(announcements: 450, events: 901, commands: 1))
    #expect(try await ledger.recent().map(\.number) == [atTheMoment, waiting])
    #expect(try await ledger.events().map(\.kind) == [.accepted, .failed])
    #expect(try await ledger.events().first?.position == 902)
    #expect(try await ledger.takeCommands(lane: "counter").map(\.command) == [.resume])
    #expect(try await ledger.prune(finishedBefore: moment) == Ledger.Pruned())
    #expect(try await !ledger.accept(payment("old 0")).isDuplicate, "its id may be used again")
  }

  @Test("a summary is pruned together with the payments in it")
  func summaries() async throws {
    let ledger = try place.open()
    let members = [try await ledger.accept(payment("a")).number, try await ledger.accept(payment("b")).number]
    let summary = try await ledger.accept(payment("s"), standingFor: members).number
    for state in StateTests.way(to: .played) { try await ledger.set(summary, state) }
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == 3)
    #expect(try await ledger.recent().isEmpty)
  }

  @Test("pruning refuses an invalid date")
  func noDate() async throws {
    let ledger = try place.open()
    for date in [Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan)] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.prune(finishedBefore: date) }
      #expect(error.code == .invalidValue)
    }
    #expect(try await ledger.prune(finishedBefore: .distantFuture) == Ledger.Pruned())
  }

  @Test("the ledger's log stays bounded while other processes read it, and pruning shrinks the file")
  func bounded() async throws {
    let ledger = try place.open()
    let watcher = try place.open()
    let payload = String(repeating: "x", count: 8000)
    let largest = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var largest = 0
          for index in 0..<400 {
            let number = try await ledger.accept(payment("\(task)-\(index)", payload: payload)).number
            try await ledger.set(number, .cancelled)
            if index.isMultiple(of: 10) { _ = try await watcher.recent(100) }
            largest = max(largest, try place.size("-wal"))
          }
          return largest
        }
      }
      return try await group.reduce(0, max)
    }
    let before = try place.size()
    #expect(before > 20_000_000)
    #expect(largest < 4 * Int(SQLiteLedger.logBytes))
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1).announcements == 3200)
    // A second one: the first one's last pages were in the log still.
    try await ledger.prune(finishedBefore: place.clock.now + 1)
    #expect(try place.size() < 1_000_000)
  }
}
