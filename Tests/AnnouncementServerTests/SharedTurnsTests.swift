// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Testing
import TestSupport

@testable import AnnouncementServer

private struct Fault: Error, Equatable {}

@Suite("Shared and exclusive turns for each key", .timeLimit(.minutes(10)))
struct SharedTurnsTests {
  private let turns = Turns<String>()

  private func waitFor(_ count: Int) async throws {
    try await eventually { await turns.waitingCount >= count }
  }

  @Test(
    "shared turns run at the same time, an exclusive turn waits for them, and later turns wait for the exclusive turn")
  func order() async throws {
    let (door, order) = (Door(), Locked<[String]>([]))
    var tasks: [Task<Void, Never>] = []
    let entered = Locked(0)
    for _ in 0..<3 {
      tasks.append(
        Task { [turns] in
          await turns.share(["a"]) {
            entered.withLock { $0 += 1 }
            await door.pass()
            order.withLock { $0.append("shared") }
          }
        })
    }
    try await eventually { entered.withLock({ $0 }) >= 3 }
    tasks.append(Task { [turns] in await turns.take(["a"]) { order.withLock { $0.append("alone") } } })
    try await waitFor(1)
    tasks.append(Task { [turns] in await turns.share(["a"]) { order.withLock { $0.append("late") } } })
    try await waitFor(2)
    #expect(await turns.share(["b"]) { 7 } == 7)
    #expect(await turns.take(["b"]) { 8 } == 8)
    #expect(order.withLock { $0 }.isEmpty)
    await door.open()
    for task in tasks { await task.value }
    #expect(order.withLock { $0 } == ["shared", "shared", "shared", "alone", "late"])
    #expect(await turns.count == 0)
  }

  @Test("a shared turn on several keys waits while any of the keys has an exclusive turn", arguments: ["a", "b"])
  func severalKeys(key: String) async throws {
    let (door, order) = (Door(), Locked<[String]>([]))
    let entered = Locked(false)
    let exclusive = Task { [turns] in
      await turns.take([key]) {
        entered.withLock { $0 = true }
        await door.pass()
        order.withLock { $0.append("alone") }
      }
    }
    try await eventually { entered.withLock({ $0 }) }
    let shared = Task { [turns] in
      await turns.share(["b", "a"]) {
        order.withLock { $0.append("shared") }
        #expect(await turns.count == 2)
      }
    }
    try await waitFor(1)
    await door.open()
    await exclusive.value
    await shared.value
    #expect(order.withLock { $0 } == ["alone", "shared"])
    #expect(await turns.count == 0)
    #expect(await turns.share([]) { true })
  }

  @Test("a turn ends if its work throws an error")
  func error() async throws {
    await #expect(throws: Fault.self) { try await turns.take(["a"]) { throw Fault() } }
    await #expect(throws: Fault.self) { try await turns.share(["a"]) { throw Fault() } }
    #expect(await turns.count == 0)
    #expect(await turns.take(["a"]) { true })
  }
}
