// SPDX-License-Identifier: Apache-2.0

import Foundation
import LedgerTestSupport
import Testing
import TestSupport

@testable import Ledger
@testable import SQLiteLedger

@Suite("The exclusive player of a lane")
struct PlayerSeatTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  @Test("a lane has one player, and a second player is refused until the first player releases the lane")
  func one() throws {
    let other = try place.open()
    var seat: PlayerSeat? = try ledger.takeSeat(lane: "counter")
    for ledger in [ledger, other] {
      let error = try #require(throws: LedgerError.self) { try ledger.takeSeat(lane: "counter") }
      #expect(error.code == .laneTaken && error.process == ProcessInfo.processInfo.processIdentifier)
    }
    let door = try other.takeSeat(lane: "door")
    #expect(seat?.lane == "counter" && door.lane == "door")
    seat = nil
    _ = try other.takeSeat(lane: "counter")
  }

  @Test("the error for a lane that has a player names the process that plays on it")
  func holder() throws {
    let seat = try ledger.takeSeat(lane: "counter")
    var report = PlayerReport(processID: 4711, startedAt: place.clock.now, reportedAt: place.clock.now)
    report.isPaused = true
    try seat.report(report)
    let error = try #require(throws: LedgerError.self) { try place.open().takeSeat(lane: "counter") }
    #expect("\(error)".hasSuffix("process 4711 already plays on the lane. Stop the other player, or use another lane."))
    withExtendedLifetime(seat) {}
  }

  @Test("the longest possible report of a player can be stored, and is read back unchanged")
  func longest() throws {
    let seat = try ledger.takeSeat(lane: "counter")
    let date = Date(timeIntervalSince1970: 4_102_444_800.123)
    var report = PlayerReport(processID: .max, startedAt: date, reportedAt: date)
    (report.isPaused, report.isDeviceLost, report.deviceLostSince, report.blockedSince) = (true, true, date, date)
    report.deviceCode = String(repeating: "x", count: 24)
    report.blockedCode = String(repeating: "y", count: 24)
    (report.number, report.positionMilliseconds, report.lengthMilliseconds) = (.max, 29_999, 29_999)
    try seat.report(report)
    #expect(try ledger.player(lane: "counter").report?.blockedCode == report.blockedCode)
  }

  @Test("a watcher of a lane sees the player's report, and whether the player is running")
  func report() throws {
    let watcher = try place.open()
    #expect(try watcher.player(lane: "counter") == PlayerStatus(lane: "counter", isRunning: false, report: nil))
    #expect(try watcher.players().isEmpty)
    var seat: PlayerSeat? = try ledger.takeSeat(lane: "counter")
    var report = PlayerReport(startedAt: place.clock.now, reportedAt: place.clock.now)
    #expect(try watcher.player(lane: "counter").report == report)
    report.number = .max
    report.positionMilliseconds = 1200
    report.lengthMilliseconds = 2300
    report.isPaused = true
    report.volume = 40
    try seat?.report(report)
    #expect(try watcher.player(lane: "counter") == PlayerStatus(lane: "counter", isRunning: true, report: report))
    seat = nil
    #expect(try watcher.player(lane: "counter") == PlayerStatus(lane: "counter", isRunning: false, report: report))
  }

  @Test("a lane may have any name that is not empty, and players are listed with the names of their lanes")
  func names() throws {
    let names = ["../up", "A", "a", "柜台", String(repeating: "l", count: 100)].sorted()
    let seats = try names.map { try ledger.takeSeat(lane: $0) }
    #expect(try Set(ledger.players().map(\.lane)) == Set(names))
    #expect(try ledger.players().allSatisfy { $0.isRunning })
    #expect(seats.count == 5)
    #expect(throws: LedgerError.self) { try ledger.takeSeat(lane: "") }
    #expect(throws: LedgerError.self) { try ledger.player(lane: "") }
  }

  @Test(
    "a player that is watched constantly is not blocked, and its report is never read in part", .timeLimit(.minutes(5)))
  func looking() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          let watcher = try place.open()
          var last: Int64 = -1
          try await eventually {
            if let number = try watcher.player(lane: "counter").report?.number {
              #expect(number >= last)
              last = number
            }
            return last >= 300
          }
        }
      }
      group.addTask {
        // Reopened now and then: the file is whole all the time.
        for start in stride(from: Int64(0), through: 300, by: 10) {
          let seat = try ledger.takeSeat(lane: "counter")
          for number in start..<(start + 10) {
            var report = PlayerReport(startedAt: place.clock.now, reportedAt: place.clock.now)
            report.number = number
            try seat.report(report)
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("a player's report that is truncated, empty or corrupted is ignored")
  func nonsense() throws {
    let report = PlayerReport(startedAt: place.clock.now, reportedAt: place.clock.now)
    let bytes = try report.bytes
    #expect(bytes.count == PlayerReport.byteCount)
    #expect(PlayerReport(bytes: bytes) == report)
    #expect(PlayerReport(bytes: []) == nil)
    #expect(PlayerReport(bytes: Array(bytes.dropLast())) == nil)
    #expect(PlayerReport(bytes: [UInt8](repeating: 0, count: 512)) == nil)
    for index in stride(from: 0, to: 512, by: 37) {
      var bytes = bytes
      bytes[index] ^= 1
      #expect(PlayerReport(bytes: bytes) == nil)
    }
  }

  @Test("the lane of a killed player is free for another player at once")
  func killed() throws {
    let writer = try Writer("sit", place.file.path, "counter")
    #expect(try writer.lines(1) == ["seated"])
    #expect(throws: LedgerError.self) { try ledger.takeSeat(lane: "counter") }
    let status = try ledger.player(lane: "counter")
    #expect(status.isRunning && status.report?.processID == writer.process.processIdentifier)
    writer.kill()
    #expect(try !ledger.player(lane: "counter").isRunning)
    let seat = try ledger.takeSeat(lane: "counter")
    #expect(try ledger.player(lane: "counter").report?.processID == ProcessInfo.processInfo.processIdentifier)
    withExtendedLifetime(seat) {}
  }
}
