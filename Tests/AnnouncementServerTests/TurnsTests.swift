// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Testing
import TestSupport

@testable import AnnouncementServer

/// A door that is shut until the test opens it.
actor Door {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func pass() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}

private struct Fault: Error, Equatable {}

@Suite("Exclusive turns for each key", .timeLimit(.minutes(10)))
struct TurnsTests {
  private let turns = Turns<String>()

  private func waitFor(_ count: Int) async throws {
    try await eventually { await turns.count >= count }
  }

  @Test("tasks with the same key run one after another, in the order of their arrival")
  func order() async throws {
    let (door, order, most) = (Door(), Locked<[Int]>([]), Locked((now: 0, most: 0)))
    var tasks: [Task<Void, Never>] = []
    for number in 0..<20 {
      tasks.append(
        Task { [turns] in
          await turns.take(["a"]) {
            most.withLock {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            if number == 0 { await door.pass() }
            await Task.yield()
            order.withLock { $0.append(number) }
            most.withLock { $0.now -= 1 }
          }
        })
      try await waitFor(number + 1)
    }
    #expect(order.withLock { $0 }.isEmpty)
    await door.open()
    for task in tasks { await task.value }
    #expect(order.withLock { $0 } == Array(0..<20))
    #expect(most.withLock { $0.most } == 1)
    #expect(await turns.count == 0)
  }

  @Test("a task does not wait for tasks that hold other keys")
  func others() async throws {
    let door = Door()
    let task = Task { [turns] in await turns.take(["a", "b"]) { await door.pass() } }
    try await waitFor(2)
    #expect(await turns.take(["c"]) { 7 } == 7)
    await door.open()
    await task.value
    #expect(await turns.take(["a", "b"]) { 8 } == 8)
  }

  @Test("a task that holds one of several keys makes later tasks with that key wait")
  func severalKeys() async throws {
    let (door, order) = (Door(), Locked<[String]>([]))
    let first = Task { [turns] in
      await turns.take(["key", "id"]) {
        await door.pass()
        order.withLock { $0.append("first") }
      }
    }
    try await waitFor(2)
    let second = Task { [turns] in await turns.take(["id"]) { order.withLock { $0.append("second") } } }
    try await waitFor(3)
    await door.open()
    await first.value
    await second.value
    #expect(order.withLock { $0 } == ["first", "second"])
  }

  @Test("a turn ends if its task throws an error")
  func error() async throws {
    await #expect(throws: Fault.self) { try await turns.take(["a", "b"]) { throw Fault() } }
    #expect(await turns.count == 0)
    #expect(await turns.take(["a", "b"]) { true })
  }
}

@Suite("Simultaneous requests for the same work", .timeLimit(.minutes(10)))
struct SingleFlightTests {
  private let flights = SingleFlight<String, Int>()

  @Test("simultaneous callers get the same result, which is marked as shared for all callers but the first")
  func once() async throws {
    let (door, calls) = (Door(), Locked(0))
    let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask { [flights] in
          let answer = try await flights.value(for: "a") {
            calls.withLock { $0 += 1 }
            await door.pass()
            return 7
          }
          #expect(answer.value == 7)
          return answer.isShared
        }
      }
      try await eventually { await flights.waiting >= 50 }
      #expect(await flights.count == 1)
      await door.open()
      return try await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(answers.count { !$0 } == calls.withLock { $0 })
    #expect(calls.withLock { $0 } == 1)
    #expect(await flights.count == 0)
    #expect(await flights.waiting == 0)
  }

  @Test("callers with different work run at the same time")
  func beside() async throws {
    let door = Door()
    let first = Task { [flights] in
      try await flights.value(for: "a") {
        await door.pass()
        return 1
      }
    }
    try await eventually { await flights.count >= 1 }
    #expect(try await flights.value(for: "b") { 2 }.value == 2)
    await door.open()
    #expect(try await first.value.value == 1)
  }

  @Test("all callers of shared work get its error, and the error is not cached")
  func error() async throws {
    let door = Door()
    let tasks = (0..<2).map { _ in
      Task { [flights] in
        try await flights.value(for: "a") {
          await door.pass()
          throw Fault()
        }
      }
    }
    try await eventually { await flights.waiting >= 2 }
    await door.open()
    for task in tasks { await #expect(throws: Fault.self) { try await task.value } }
    let again = try await flights.value(for: "a") { 3 }
    #expect(again.value == 3 && !again.isShared)
  }

  @Test("a caller that repeats a request after a shared failure does not share that failure again")
  func askedAgain() async throws {
    let door = Door()
    let again = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 {
        group.addTask { [flights] in
          do {
            return try await flights.value(for: "a") {
              await door.pass()
              throw Fault()
            }.value
          } catch is Fault {
            return try await flights.value(for: "a") { number }.value
          }
        }
      }
      try await eventually { await flights.waiting >= 50 }
      await door.open()
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(again.count == 50)
    #expect(await flights.count == 0)
  }

  @Test("shared work continues after its first caller is cancelled")
  func gone() async throws {
    let door = Door()
    let isDone = Locked(false)
    let first = Task { [flights] in
      try await flights.value(for: "a") {
        await door.pass()
        try Task.checkCancellation()
        isDone.withLock { $0 = true }
        return 1
      }
    }
    try await eventually { await flights.count >= 1 }
    first.cancel()
    await door.open()
    #expect(try await first.value.value == 1)
    #expect(isDone.withLock { $0 })
  }
}
