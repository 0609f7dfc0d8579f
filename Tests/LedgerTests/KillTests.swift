// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SQLiteLedger
import Testing

@Suite("Killed processes")
struct KillTests {
  @Test(
    "all announcements that were confirmed before SIGKILL are stored with the same numbers", .timeLimit(.minutes(10)))
  func killed() async throws {
    let place = try TemporaryLedger()
    var promised: [Int64: String] = [:]
    for round in 0..<15 {
      let writer = try Writer("accept", place.file.path)
      let early = try writer.lines(1 + round * 37)
      writer.kill()
      let late = try writer.lines()
      for line in early + late {
        let parts = line.split(separator: " ")
        let number = try #require(Int64(parts[0]))
        #expect(promised.updateValue(String(parts[1]), forKey: number) == nil)
      }
      let ledger = try place.open()
      for (number, id) in promised { #expect(try await ledger.entry(number)?.id == id) }
    }
    #expect(promised.count > 3000)
    let ledger = try place.open()
    let stored = try #require(try await ledger.counts()[.accepted])
    // At most one in the hand of each of the four tasks was there before it was promised.
    #expect(stored >= promised.count && stored <= promised.count + 15 * 4)
  }

  @Test("many processes can open and close one ledger file at the same time", .timeLimit(.minutes(5)))
  func opening() async throws {
    let place = try TemporaryLedger()
    let writers = try (0..<4).map { _ in try Writer("open", place.file.path, "10") }
    let ledger = try place.open()
    for id in 0..<50 { try await _ = ledger.accept(payment("\(id)")) }
    for writer in writers {
      writer.process.waitUntilExit()
      #expect(writer.process.terminationStatus == 0)
    }
    #expect(try await ledger.counts()[.accepted] == 50)
  }
}
