// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Ledger

@Suite("Reads of many rows", .timeLimit(.minutes(5)))
struct LongReadTests {
  @Test("a read of a few rows does not wait for a read of many rows")
  func beside() async throws {
    let place = try TemporaryLedger()
    let ledger = try place.open()
    let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
    let ends = DispatchSemaphore(value: 0)
    let long = Task {
      try await ledger.read(isLong: true) { _ in
        isBegun.finish()
        // If the short read waited for this one, it would be over before.
        return ends.wait(timeout: .now() + 30) == .success
      }
    }
    for await _ in begun {}
    #expect(try await ledger.announcement(account: "shop", id: "order-1") == nil)
    ends.signal()
    #expect(try await long.value)
    withExtendedLifetime(place) {}
  }
}
