// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Rate limits")
struct RateLimitTests {
  @Test("a burst of requests is allowed at once, and further requests are allowed as tokens come back")
  func burst() throws {
    var bucket = TokenBucket(try RateLimit(rate: 10, burst: 3))
    #expect((0..<5).map { _ in bucket.take(at: .zero).isAllowed } == [true, true, true, false, false])
    #expect(!bucket.take(at: .milliseconds(99)).isAllowed)
    #expect(bucket.take(at: .milliseconds(100)).isAllowed)
    #expect(!bucket.take(at: .milliseconds(199)).isAllowed)
    #expect(bucket.take(at: .milliseconds(200)).isAllowed)
    #expect((0..<5).map { _ in bucket.take(at: .seconds(60)).isAllowed } == [true, true, true, false, false])
  }

  @Test("the state of a rate limit has the remaining requests, the time until it resets, and the time to wait")
  func answers() throws {
    var bucket = TokenBucket(try RateLimit(rate: 0.5, burst: 2))
    let first = bucket.take(at: .seconds(100))
    #expect(first.isAllowed && first.limit == 2 && first.remaining == 1)
    #expect(first.reset == .seconds(2) && first.retryAfter == .zero)
    let second = bucket.take(at: .seconds(100))
    #expect(
      second.isAllowed && second.remaining == 0 && second.reset == .seconds(4) && second.retryAfter == .seconds(2))
    let third = bucket.take(at: .milliseconds(101_500))
    #expect(!third.isAllowed && third.remaining == 0)
    #expect(third.reset == .milliseconds(2_500) && third.retryAfter == .milliseconds(500))
    #expect(
      bucket.take(at: .milliseconds(101_500) + third.retryAfter).isAllowed, "a request after that time is allowed")
  }

  @Test("the header fields of a rate limit have whole seconds, rounded up, and Retry-After is only in a refusal")
  func headers() throws {
    var bucket = TokenBucket(try RateLimit(rate: 4, burst: 1))
    let allowed = bucket.take(at: .zero).headerFields
    #expect(allowed.map(\.name) == ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"])
    #expect(allowed.map(\.value) == ["1", "0", "1"])
    let refused = bucket.take(at: .milliseconds(10)).headerFields
    #expect(refused.map(\.name) == ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"])
    #expect(refused.map(\.value) == ["1", "0", "1", "1"])
    #expect(bucket.look(at: .seconds(5)).headerFields.map(\.value) == ["1", "1", "0"])
  }

  @Test("neither a check nor a refusal takes a token from the rate limit")
  func looking() throws {
    var bucket = TokenBucket(try RateLimit(rate: 1, burst: 1))
    for _ in 0..<5 { #expect(bucket.look(at: .zero).isAllowed) }
    #expect(bucket.take(at: .zero).isAllowed)
    for _ in 0..<100 { #expect(!bucket.take(at: .milliseconds(500)).isAllowed) }
    #expect(!bucket.look(at: .milliseconds(999)).isAllowed)
    #expect(bucket.take(at: .seconds(1)).isAllowed)
  }

  @Test("the bucket of a rate limit is full again after the time for its missing tokens")
  func forgetting() throws {
    var bucket = TokenBucket(try RateLimit(rate: 2, burst: 5))
    #expect(bucket.isFull(at: .zero))
    _ = bucket.take(at: .zero)
    #expect(!bucket.isFull(at: .milliseconds(499)) && bucket.isFull(at: .milliseconds(500)))
  }

  @Test(
    "a rate limit allows exactly the requests for which it has a token, whenever they arrive",
    arguments: [(1.0, 1), (4.0, 7), (0.125, 2), (500.0, 10), (1_000_000.0, 1_000_000), (0.001, 1)])
  func longRun(rate: Double, burst: Int) throws {
    var bucket = TokenBucket(try RateLimit(rate: rate, burst: burst))
    let token = Int64(1_000_000_000 / rate)
    let capacity = token * Int64(burst)
    var (now, level) = (Int64(1_000_000_000_000), capacity)
    var numbers = CountingNumbers()
    var wrong = 0
    for _ in 0..<10_000 {
      // About three requests come for each one that may pass, at uneven times, with a pause now and then.
      let pause = Int64.random(in: 0...99, using: &numbers) == 0 ? capacity / 2 : 0
      let step = Int64.random(in: 0...(2 * token / 3), using: &numbers) + pause
      now += step
      level = min(capacity, level + step)
      let looked = bucket.look(at: .nanoseconds(now))
      let answer = bucket.take(at: .nanoseconds(now))
      let isAllowed = level >= token
      if isAllowed { level -= token }
      let isRight =
        answer.isAllowed == isAllowed && looked.isAllowed == isAllowed && answer.remaining == Int(level / token)
        && answer.reset == .nanoseconds(capacity - level)
        && answer.retryAfter == .nanoseconds(max(0, token - level))
      if !isRight { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  @Test("a token that is given back can be taken again, and a bucket never holds more tokens than its capacity")
  func givenBack() throws {
    var bucket = TokenBucket(try RateLimit(rate: 1, burst: 2))
    bucket.giveBack(at: .zero)
    #expect(bucket.look(at: .zero).remaining == 2)
    for _ in 0..<5 {
      let answer = bucket.take(at: .zero)
      #expect(answer.isAllowed && answer.remaining == 1)
      bucket.giveBack(at: .zero)
    }
    #expect(bucket.isFull(at: .zero))
  }

  @Test("if the clock runs backwards, requests are refused no longer than with an empty bucket")
  func backwards() throws {
    var bucket = TokenBucket(try RateLimit(rate: 10, burst: 2))
    _ = bucket.take(at: .seconds(1_000_000))
    let answer = bucket.take(at: .zero)
    #expect(!answer.isAllowed && answer.remaining == 0 && answer.reset == .milliseconds(200))
    #expect(bucket.look(at: .seconds(-5)).retryAfter == .milliseconds(100))
  }

  @Test(
    "a rate limit out of range is refused",
    arguments: [
      (0, 1), (-1, 1), (.nan, 1), (.infinity, 1), (0.0009, 1), (1_000_001, 1), (1, 0), (1, -1), (1, 1_000_001),
    ] as [(Double, Int)])
  func outOfRange(rate: Double, burst: Int) {
    let error = #expect(throws: AccessError.self) { try RateLimit(rate: rate, burst: burst) }
    #expect(error?.code == .rateLimitInvalid)
    #expect(error?.description.contains("0.001 to 1000000 requests a second and a burst of 1 to 1000000") == true)
  }

  @Test("the default burst of a rate limit is the number of requests in a second, and at least 1")
  func defaultBurst() throws {
    #expect(try RateLimit(rate: 0.1).burst == 1)
    #expect(try RateLimit(rate: 2.5).burst == 3)
    #expect(try RateLimit(rate: 1_000_000).burst == 1_000_000)
  }
}
