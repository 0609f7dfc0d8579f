// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Testing
import TestSupport

@Suite("The signal that there is work", .timeLimit(.minutes(5)))
struct WorkSignalTests {
  /// A wait that lasts until the test ends it. It notes how long it was asked to last.
  private final class Alarm: Sendable {
    let asked = Locked<[Duration]>([])
    let (steps, step) = AsyncStream<Void>.makeStream()

    func sleep(_ duration: Duration) async throws {
      asked.withLock { $0.append(duration) }
      for await _ in steps { return }
      throw CancellationError()
    }
  }

  @Test("a work signal has news at first and after new work is announced, and gives each piece of news once")
  func news() {
    let signal = WorkSignal()
    #expect(signal.takeNews())
    #expect(!signal.takeNews())
    signal.wake()
    #expect(!signal.takeNews())
    signal.announceNews()
    signal.announceNews()
    #expect(signal.takeNews())
    #expect(!signal.takeNews())
  }

  @Test("if no task waits when new work is announced, only the next wait for the work signal ends at once")
  func kept() async throws {
    let alarm = Alarm()
    let signal = WorkSignal(sleep: alarm.sleep)
    signal.wake()
    signal.wake()
    await signal.wait()
    // Only its time limit can end the second wait.
    let second = Task { await signal.wait(atMost: .seconds(3)) }
    try await eventually { !alarm.asked.withLock({ $0.isEmpty }) }
    alarm.step.yield()
    await second.value
    #expect(alarm.asked.withLock { $0 } == [.seconds(3)])
  }

  @Test("delayed news of a work signal can be taken at once, and wakes a waiting task after the delay")
  func later() async throws {
    let alarm = Alarm()
    let signal = WorkSignal(sleep: alarm.sleep)
    _ = signal.takeNews()
    signal.announceNews(after: .seconds(1))
    #expect(signal.takeNews())
    let waiting = Task { await signal.wait() }
    try await eventually { !alarm.asked.withLock({ $0.isEmpty }) }
    alarm.step.yield()
    await waiting.value
    #expect(alarm.asked.withLock { $0 } == [.seconds(1)])
  }

  @Test("a cancelled task does not wait for a work signal")
  func cancelled() async {
    let signal = WorkSignal()
    let waiting = Task { await signal.wait(atMost: .seconds(3_600)) }
    waiting.cancel()
    await waiting.value
  }

  @Test("after a waiting task was cancelled, each later wait for the work signal lasts until the signal")
  func afterCancellation() async {
    let signal = WorkSignal()
    let cancelled = Task { await signal.wait() }
    cancelled.cancel()
    await cancelled.value
    let ended = Locked(0)
    for count in 0..<100 {
      let waiting = Task {
        await signal.wait()
        ended.withLock { $0 += 1 }
      }
      await Task.yield()
      #expect(ended.withLock { $0 } == count)
      signal.wake()
      await waiting.value
    }
  }
}
