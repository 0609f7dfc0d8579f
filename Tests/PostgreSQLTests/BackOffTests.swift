// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import TestSupport
import Testing

@Suite("Pauses between attempts")
struct BackOffTests {
  @Test("each pause is at least half of its upper bound, and the bound doubles up to the longest pause")
  func bounds() {
    var backOff = PostgreSQLBackOff(first: .milliseconds(100), longest: .seconds(1))
    var generator = SplitMix64(seed: 1)
    for bound in [100, 200, 400, 800, 1_000, 1_000] {
      let pause = backOff.failed(using: &generator)
      #expect(pause >= .milliseconds(bound / 2))
      #expect(pause <= .milliseconds(bound))
    }
    #expect(backOff.failures == 6)
  }

  @Test("the pauses of two clients differ")
  func jitter() {
    var generator = SplitMix64(seed: 2)
    let pauses = (0..<50).map { _ in
      var backOff = PostgreSQLBackOff()
      return backOff.failed(using: &generator)
    }
    #expect(Set(pauses).count > 10)
  }

  @Test("a success makes the next pause short again")
  func success() {
    var backOff = PostgreSQLBackOff(first: .milliseconds(100), longest: .seconds(10))
    var generator = SplitMix64(seed: 3)
    for _ in 0..<10 { _ = backOff.failed(using: &generator) }
    backOff.succeeded()
    #expect(backOff.failures == 0)
    #expect(backOff.failed(using: &generator) <= .milliseconds(100))
  }

  @Test("if the longest pause is zero, each pause is at most 1 ms, even after 10,000 failures")
  func extremes() {
    var backOff = PostgreSQLBackOff(first: .zero, longest: .zero)
    var generator = SplitMix64(seed: 4)
    for _ in 0..<10_000 { #expect(backOff.failed(using: &generator) <= .milliseconds(1)) }
  }
}
