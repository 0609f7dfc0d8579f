// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Reads of many rows", .timeLimit(.minutes(5)))
struct LongReadTests {
  /// Performs reads that end when this test says so, and meanwhile a read of one row.
  private func readBeside(_ count: Int, isLong: Bool) async throws {
    let place = try TemporaryLedger()
    let ledger = try place.open()
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let ends = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<count {
        group.addTask {
          try await ledger.read(isLong: isLong) { _ in
            begins.yield()
            // If the read of one row waited for this read, this read would reach its time limit.
            return ends.wait(timeout: .now() + 30) == .success
          }
        }
      }
      var starts = begun.makeAsyncIterator()
      for _ in 0..<count { await starts.next() }
      #expect(try await ledger.announcement(account: "shop", id: "order-1") == nil)
      for _ in 0..<count { ends.signal() }
      for try await wasInTime in group { #expect(wasInTime) }
    }
    withExtendedLifetime(place) {}
  }

  @Test("a read of a few rows does not wait for a read of many rows")
  func beside() async throws { try await readBeside(1, isLong: true) }

  @Test("a read does not wait for other reads while there are fewer reads than connections")
  func pool() async throws { try await readBeside(ReadConnections.count - 1, isLong: false) }
}
