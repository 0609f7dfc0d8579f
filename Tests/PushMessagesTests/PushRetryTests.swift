// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import TestSupport
import Testing

@Suite struct PushRetryTests {
  private let retry = PushRetry()

  @Test(
    "the longest wait before another attempt is 1 s at first, doubles, and reaches at most 5 minutes",
    arguments: [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (11, 300), (1_000_000, 300), (0, 1), (-3, 1)])
  func limits(attempts: Int, seconds: Int) {
    let limit = Duration.seconds(seconds)
    #expect(retry.wait(afterAttempts: attempts, requested: nil, random: 0) == limit / 2)
    let longest = retry.wait(afterAttempts: attempts, requested: nil, random: .max)
    #expect(longest < limit)
    #expect(longest > limit - .milliseconds(1))
  }

  @Test("waits differ at random, so that pushes that failed together are not sent again together")
  func jitter() {
    var generator = SplitMix64(seed: 3)
    let waits = (0..<1_000).map { _ in retry.wait(afterAttempts: 5, requested: nil, random: generator.next()) }
    #expect(Set(waits).count > 990)
    #expect(waits.allSatisfy { $0 >= .seconds(8) && $0 < .seconds(16) })
    #expect(waits.filter { $0 < .seconds(12) }.count > 400)
    #expect(waits.filter { $0 >= .seconds(12) }.count > 400)
  }

  @Test("a wait for which APNs asks is never shortened")
  func requested() {
    var generator = SplitMix64(seed: 4)
    for seconds in [1, 30, 3_600] {
      let wait = retry.wait(afterAttempts: 1, requested: .seconds(seconds), random: generator.next())
      #expect(wait >= .seconds(seconds))
      #expect(wait < .seconds(seconds + 1))
    }
    #expect(retry.wait(afterAttempts: 10, requested: .seconds(1), random: 0) == .seconds(150))
  }

  @Test("a push that APNs did not process is sent again at once, but only the first time")
  func atOnce() {
    #expect(retry.wait(afterAttempts: 1, requested: .zero, random: .max) == .zero)
    #expect(retry.wait(afterAttempts: 2, requested: .zero, random: 0) == .seconds(1))
  }

  @Test("a push is not tried again after it has expired")
  func expiry() {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    func next(expiresAt: Date?) -> Date? {
      retry.nextAttempt(at: now, afterAttempts: 3, requested: nil, random: 0, expiresAt: expiresAt)
    }
    #expect(next(expiresAt: nil) == now.addingTimeInterval(2))
    #expect(next(expiresAt: now.addingTimeInterval(2.001)) == now.addingTimeInterval(2))
    #expect(next(expiresAt: now.addingTimeInterval(2)) == nil)
    #expect(next(expiresAt: .distantPast) == nil)
  }
}
