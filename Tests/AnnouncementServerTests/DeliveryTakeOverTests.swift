// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import SQLiteLedger
import TestSupport
import Testing

@testable import AnnouncementServer

/// A lost seat is like one that was given back: writes under it fail, and its loss is announced.
@Suite("Taking deliveries over", .timeLimit(.minutes(5)))
final class DeliveryTakeOverTests: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "deliveries-\(UUID().uuidString)")
  private let ledger: any Ledger.Store
  private let log = TestLog()
  private let seats = Locked<[DeliverySeat]>([])
  private let ends = Locked(0)

  init() throws { ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite")) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Makes deliveries until the task is cancelled or the service stops.
  private func deliver() async {
    await ledger.deliver(.webhooks, "It is tried again.", log.logger) { [seats, ends] seat in
      seats.withLock { $0.append(seat) }
      // The sleep throws only when the work is cancelled.
      try? await Task.sleep(for: .seconds(3_600))
      ends.withLock { $0 += 1 }
    }
  }

  private func seat(_ number: Int) async throws -> DeliverySeat {
    try await eventually("seat \(number) is taken") { seats.withLock { $0.count } == number }
    return try #require(seats.withLock { $0.last })
  }

  @Test("a service that loses the exclusive right to deliveries stops them, and continues when it has the right again")
  func lost() async throws {
    let running = Task { await deliver() }
    for number in 1...3 {
      let seat = try await seat(number)
      #expect(seat.isUsable && ends.withLock { $0 } == number - 1)
      await seat.giveBack()
    }
    let last = try await seat(4)
    #expect(ends.withLock { $0 } == 3)
    #expect(log.lines.count { $0.contains("Another node takes over") && $0.contains("webhooks") } == 3)
    running.cancel()
    await running.value
    #expect(ends.withLock { $0 } == 4 && !last.isUsable)
  }

  @Test("a service that stops in order releases its right to deliveries, so that another service can have it at once")
  func stopped() async throws {
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await self.deliver() }
        _ = try await seat(1)
        #expect(try await ledger.takeSeat(of: .webhooks) == nil)
        trigger.triggerGracefulShutdown()
        try await group.waitForAll()
      }
      #expect(try await ledger.takeSeat(of: .webhooks) != nil)
      #expect(log.lines.isEmpty)
    }
  }
}
