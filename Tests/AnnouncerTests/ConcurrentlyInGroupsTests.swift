// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Testing

@testable import Announcer

@Suite("Concurrent processing in groups")
struct ConcurrentlyInGroupsTests {
  private struct Stop: Error {}

  @Test(
    "the limits for items and groups hold, and each output is completed in a group and delivered once",
    arguments: [1, 2, 7])
  func limits(limit: Int) async throws {
    let watch = Watch()
    let largest = Locked(0)
    var sum = 0
    try await concurrentlyInGroups(
      limit: limit, largestGroup: 9, next: { watch.next(of: 1_000) },
      work: { number in
        watch.begin()
        await Task.yield()
        watch.end()
        return number
      },
      complete: { numbers in
        largest.withLock { $0 = max($0, numbers.count) }
        for _ in 0..<20 { await Task.yield() }
        return numbers
      },
      each: { number in
        watch.take()
        sum += number
      })
    #expect(sum == 500_500)
    #expect(watch.most <= limit)
    #expect(largest.withLock { $0 } <= 9)
    // One group waits, one is being completed, and one is being delivered.
    #expect(watch.farthestAhead <= 27)
  }

  @Test("if one item is processed at a time, results are delivered in the order of the items, in groups of any size")
  func order() async throws {
    let watch = Watch()
    var delivered: [Int] = []
    try await concurrentlyInGroups(
      limit: 1, largestGroup: 3, next: { watch.next(of: 200) }, work: { $0 },
      complete: { numbers in
        if numbers[0].isMultiple(of: 2) { for _ in 0..<10 { await Task.yield() } }
        return numbers
      },
      each: { delivered.append($0) })
    #expect(delivered == Array(1...200))
  }

  @Test("the group of an output is completed even if no further item arrives")
  func completesAlone() async throws {
    // The second item only arrives after the first result was delivered. Waiting for a larger group would never end.
    let (results, taken) = AsyncStream.makeStream(of: Int.self)
    let asked = Locked(0)
    var delivered: [Int] = []
    try await concurrentlyInGroups(
      limit: 4, largestGroup: 4,
      next: {
        let number = asked.withLock { asked in
          asked += 1
          return asked
        }
        if number == 1 { return 1 }
        for await _ in results { break }
        return number == 2 ? 2 : nil
      },
      work: { $0 }, complete: { $0 },
      each: { number in
        delivered.append(number)
        taken.yield(number)
      })
    #expect(delivered == [1, 2])
  }

  @Test("items are processed while a group is being completed, and their outputs form the next group")
  func nextGroup() async throws {
    let (third, isThere) = AsyncStream.makeStream(of: Void.self)
    let watch = Watch()
    let groups = Locked<[[Int]]>([])
    try await concurrentlyInGroups(
      limit: 1, largestGroup: 10,
      next: { watch.next(of: 4) },
      work: { number in
        if number == 4 { isThere.yield() }
        return number
      },
      complete: { numbers in
        if numbers == [1] { for await _ in third { break } }
        groups.withLock { $0.append(numbers) }
        return numbers
      },
      each: { _ in })
    #expect(groups.withLock { $0.first } == [1])
    #expect(groups.withLock { $0.flatMap(\.self) } == [1, 2, 3, 4])
    #expect(groups.withLock { $0.count } <= 3)
  }

  @Test(
    "an error of any closure ends the processing in groups, and nothing is delivered after the error", arguments: 0..<4)
  func throwsError(place: Int) async throws {
    let watch = Watch()
    var delivered = 0
    await #expect(throws: Stop.self) {
      try await concurrentlyInGroups(
        limit: 3, largestGroup: 3,
        next: {
          guard let number = watch.next(of: .max), place != 0 || number < 10 else { throw Stop() }
          return number
        },
        work: { number in
          if place == 1, number == 10 { throw Stop() }
          watch.begin()
          await Task.yield()
          watch.end()
          return number
        },
        complete: { numbers in
          if place == 2, numbers.contains(10) { throw Stop() }
          return numbers
        },
        each: { number in
          if place == 3, number == 10 { throw Stop() }
          delivered += 1
        })
    }
    #expect(delivered < 30)
    #expect(watch.asked < 40)
    #expect(watch.atWork == 0)
  }

  @Test("cancelling the processing in groups ends it, and releases the outputs that wait")
  func cancelled() async throws {
    final class Output: Sendable {
      let counter: Locked<Int>
      init(_ counter: Locked<Int>) {
        self.counter = counter
        counter.withLock { $0 += 1 }
      }
      deinit { counter.withLock { $0 -= 1 } }
    }
    let alive = Locked(0)
    let watch = Watch()
    let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await concurrentlyInGroups(
        limit: 2, largestGroup: 4, next: { watch.next(of: .max) }, work: { _ in Output(alive) },
        complete: { outputs in
          isStarted.yield()
          try await Task.sleep(for: .seconds(600))
          return outputs
        },
        each: { _ in })
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(alive.withLock { $0 } == 0)
  }
}
