// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Answers that are made one at a time", .timeLimit(.minutes(5)))
struct LongAnswersTests {
  private struct Failure: Error {}

  @Test("the service makes one long answer at a time")
  func alone() async throws {
    let (answers, working) = (LongAnswers(), Locked(0))
    let highest = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<40 {
        group.addTask {
          try await answers.make(for: "account-\(number % 3)") {
            let now = working.withLock { working in
              working += 1
              return working
            }
            for _ in 0..<10 { await Task.yield() }
            working.withLock { $0 -= 1 }
            return now
          }
        }
      }
      return try await group.reduce(0) { max($0, $1) }
    }
    #expect(highest == 1)
    #expect(await answers.waitingCount == 0)
  }

  @Test("accounts take turns with long answers, however many answers an account waits for")
  func turns() async throws {
    let (answers, made) = (LongAnswers(), Locked<[String]>([]))
    let (holds, holding) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup { group in
      @Sendable func make(_ account: String) async throws {
        try await answers.make(for: account) { made.withLock { $0.append(account) } }
      }
      group.addTask { try await answers.make(for: "first") { for await _ in holds {} } }
      for (count, account) in ["busy", "busy", "busy", "busy", "other", "third"].enumerated() {
        // Each request waits before the next request asks.
        if count == 0 { try await eventually("the first answer is begun") { await answers.isBusy } }
        group.addTask { try await make(account) }
        try await eventually("\(count + 1) answers wait") { await answers.waitingCount == count + 1 }
      }
      holding.finish()
      try await group.waitForAll()
    }
    #expect(made.withLock { $0 } == ["busy", "other", "third", "busy", "busy", "busy"])
  }

  @Test("a long answer is not made if its client left during the wait, and the next answer begins")
  func gone() async throws {
    let answers = LongAnswers()
    let (holds, holding) = AsyncStream.makeStream(of: Void.self)
    let first = Task { try await answers.make(for: "account") { for await _ in holds {} } }
    try await eventually("the first answer is begun") { await answers.isBusy }
    let (connection, isMade) = (Connection(peer: nil), Locked(false))
    let second = Connection.$current.withValue(connection) {
      Task { try await answers.make(for: "account") { isMade.withLock { $0 = true } } }
    }
    try await eventually("the second answer waits") { await answers.waitingCount == 1 }
    connection.end()
    holding.finish()
    try await first.value
    await #expect(throws: Problem.self) { try await second.value }
    #expect(!isMade.withLock { $0 })
    #expect(try await answers.make(for: "account") { 7 } == 7)
  }

  @Test("a long answer that fails, or is cancelled during the wait, lets the next answer begin")
  func failing() async throws {
    let answers = LongAnswers()
    await #expect(throws: Failure.self) { try await answers.make(for: "account") { throw Failure() } }
    let (holds, holding) = AsyncStream.makeStream(of: Void.self)
    let first = Task { try await answers.make(for: "account") { for await _ in holds {} } }
    try await eventually("the first answer is begun") { await answers.isBusy }
    let isMade = Locked(false)
    let cancelled = Task { try await answers.make(for: "account") { isMade.withLock { $0 = true } } }
    try await eventually("the second answer waits") { await answers.waitingCount == 1 }
    cancelled.cancel()
    holding.finish()
    try await first.value
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(!isMade.withLock { $0 })
    #expect(try await answers.make(for: "account") { 7 } == 7)
  }
}
