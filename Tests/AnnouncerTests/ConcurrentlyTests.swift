// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import Testing

@Suite("Concurrent processing")
struct ConcurrentlyTests {
  private struct Stop: Error {}

  @Test(
    "no more items than the limit are processed at the same time, and an item is requested only when there is room",
    arguments: [1, 2, 7])
  func limit(limit: Int) async throws {
    let watch = Watch()
    var sum = 0
    try await concurrently(
      limit: limit, next: { watch.next(of: 1_000) },
      work: { number in
        watch.begin()
        await Task.yield()
        watch.end()
        return number
      },
      each: { number in
        watch.take()
        sum += number
      })
    #expect(sum == 500_500)
    #expect(watch.most <= limit)
    #expect(watch.farthestAhead <= limit)
  }

  @Test("each output is delivered when it is complete, while the next item is awaited")
  func whileWaiting() async throws {
    // The second item only arrives after the first output was delivered. Waiting for it first would never end.
    let (outputs, taken) = AsyncStream.makeStream(of: Int.self)
    let asked = Locked(0)
    var order: [Int] = []
    try await concurrently(
      limit: 4,
      next: {
        let number = asked.withLock { asked in
          asked += 1
          return asked
        }
        if number == 1 { return 1 }
        for await _ in outputs { break }
        return number == 2 ? 2 : nil
      },
      work: { $0 },
      each: { number in
        order.append(number)
        taken.yield(number)
      })
    #expect(order == [1, 2])
  }

  @Test("an error of the closure 'each' ends the processing after the items in progress, and no further item begins")
  func eachThrows() async throws {
    let watch = Watch()
    await #expect(throws: Stop.self) {
      try await concurrently(
        limit: 3, next: { watch.next(of: .max) },
        work: { number in
          watch.begin()
          await Task.yield()
          watch.end()
          return number
        },
        each: { if $0 == 10 { throw Stop() } })
    }
    #expect(watch.asked < 20)
    #expect(watch.atWork == 0)
  }

  @Test("an error of the closure 'next' ends the processing of further items")
  func nextThrows() async throws {
    let watch = Watch()
    await #expect(throws: Stop.self) {
      try await concurrently(
        limit: 3,
        next: {
          guard let number = watch.next(of: 5) else { throw Stop() }
          return number
        },
        work: { $0 }, each: { _ in })
    }
    #expect(watch.asked == 5)
  }

  @Test("cancelling ends the concurrent processing of an endless sequence")
  func cancelled() async throws {
    let watch = Watch()
    let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await concurrently(
        limit: 2, next: { watch.next(of: .max) },
        work: { number in
          await Task.yield()
          return number
        },
        each: { if $0 == 5 { isStarted.yield() } })
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("all items of a sequence are processed, and the sequence may be empty")
  func sequence() async throws {
    var taken: Set<String> = []
    try await concurrently(["a", "b", "c"], limit: 2, work: { $0 + $0 }, each: { taken.insert($0) })
    #expect(taken == ["aa", "bb", "cc"])
    try await concurrently([String](), limit: 2, work: { $0 }, each: { taken.insert($0) })
    #expect(taken.count == 3)
  }
}
