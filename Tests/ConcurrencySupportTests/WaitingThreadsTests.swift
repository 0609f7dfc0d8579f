// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TestSupport

@testable import ConcurrencySupport

@Suite("The threads for work that blocks", .timeLimit(.minutes(5)))
struct WaitingThreadsTests {
  /// Starts tasks that hold their thread until the gate opens, and returns once `running` of them have begun.
  private func holdThreads(
    of threads: WaitingThreads, tasks: Int, running: Int, gate: DispatchSemaphore
  ) async -> [Task<Void, Never>] {
    let (begins, begin) = AsyncStream<Void>.makeStream()
    let held = (0..<tasks).map { _ in
      Task.detached(executorPreference: threads) {
        begin.yield()
        Self.wait(for: gate)
      }
    }
    var seen = begins.makeAsyncIterator()
    for _ in 0..<running { _ = await seen.next() }
    return held
  }

  /// Blocks the thread. Swift warns about the call in an asynchronous function, where it would block a shared thread.
  private static func wait(for gate: DispatchSemaphore) { gate.wait() }

  @Test("each blocked job has its own thread, up to the maximum, and further jobs wait for a free thread")
  func maximum() async {
    let threads = WaitingThreads(most: 3)
    let gate = DispatchSemaphore(value: 0)
    let held = await holdThreads(of: threads, tasks: 5, running: 3, gate: gate)
    #expect(threads.count == 3)
    for _ in held { gate.signal() }
    for task in held { await task.value }
    #expect(threads.count == 3)
  }

  @Test("more threads are allowed for more blocking work, and the maximum is never lowered")
  func allowing() async {
    let threads = WaitingThreads(most: 3)
    threads.allow(blocking: 10)
    threads.allow(blocking: 1)
    let gate = DispatchSemaphore(value: 0)
    let held = await holdThreads(of: threads, tasks: 42, running: 42, gate: gate)
    #expect(threads.count == 42, "ten, and 32 for files")
    for _ in held { gate.signal() }
    for task in held { await task.value }
  }

  @Test("work that has threads of its own runs while all other threads are blocked")
  func ownThreads() async {
    let blocked = WaitingThreads(most: 1)
    let gate = DispatchSemaphore(value: 0)
    let held = await holdThreads(of: blocked, tasks: 1, running: 1, gate: gate)
    #expect(await onWaitingThread(of: WaitingThreads(most: 1)) { 7 } == 7)
    gate.signal()
    for task in held { await task.value }
  }

  /// A job that enqueues the next one still occupies its thread, so the next one gets another thread, and so on in turn.
  @Test("jobs that run one after the other share a few threads, however many jobs there are")
  func reuse() async {
    let threads = WaitingThreads()
    await withTaskExecutorPreference(threads) {
      for _ in 0..<10_000 { await Task.yield() }
    }
    #expect(threads.count <= 8)
  }

  @Test("if more tasks than threads wake each other, every job runs once")
  func everyJobOnce() async {
    let threads = WaitingThreads(most: 4, longestIdle: 0.000_1)
    let runs = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask(executorPreference: threads) {
          for _ in 0..<100 {
            await Task.yield()
            runs.withLock { $0 += 1 }
          }
        }
      }
    }
    #expect(runs.withLock { $0 } == 20_000)
    #expect(threads.count <= 4)
  }

  @Test("threads end after the longest idle time, and later jobs start new threads")
  func idle() async throws {
    let threads = WaitingThreads(most: 8, longestIdle: 0.01)
    let gate = DispatchSemaphore(value: 0)
    let held = await holdThreads(of: threads, tasks: 8, running: 8, gate: gate)
    #expect(threads.count == 8)
    for _ in held { gate.signal() }
    for task in held { await task.value }
    try await eventually { threads.count == 0 }
    let answer = await Task.detached(executorPreference: threads) { 7 }.value
    #expect(answer == 7)
  }
}
