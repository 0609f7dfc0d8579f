// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PlaybackOrder

@Suite struct SettledNumbersTests {
  private func settled(_ numbers: Int64...) -> SettledNumbers {
    var settled = SettledNumbers()
    for number in numbers { settled.insert(number, acceptedAt: 10 - number.signum()) }
    return settled
  }

  @Test("if no announcement has ended, all numbers count as missing")
  func none() {
    #expect(SettledNumbers().missing(from: 2, before: 5) == [2...4])
    #expect(SettledNumbers().missing(from: 5, before: 5) == [])
    #expect(SettledNumbers().missing(from: 6, before: 5) == [])
    #expect(SettledNumbers().lowest == nil && SettledNumbers().earliestAcceptance == nil)
  }

  @Test("only numbers whose announcements have not ended count as missing")
  func between() {
    #expect(settled(4, 7, 8).missing(from: 2, before: 10) == [2...3, 5...6, 9...9])
    #expect(settled(4, 7, 8).missing(from: 4, before: 8) == [5...6])
    #expect(settled(4, 7, 8).missing(from: 5, before: 7) == [5...6])
    #expect(settled(2, 3, 4).missing(from: 2, before: 5) == [])
    #expect(settled(1, 9).missing(from: 3, before: 5) == [3...4])
  }

  @Test("consecutive numbers of ended announcements form one range with the earliest time, whatever their order")
  func runs() {
    var numbers = SettledNumbers()
    for number in (1...1_000).reversed() as [Int64] { numbers.insert(number * 2, acceptedAt: number) }
    #expect(numbers.runCount == 1_000)
    for number in 1...1_000 as ClosedRange<Int64> { numbers.insert(number * 2 - 1, acceptedAt: 5_000 - number) }
    for number in 1...2_000 as ClosedRange<Int64> { numbers.insert(number, acceptedAt: 9_000) }
    #expect(numbers.runCount == 1)
    #expect(numbers.earliestAcceptance == 1)
    #expect(numbers.missing(from: 0, before: 2_003) == [0...0, 2_001...2_002])
  }

  @Test("when the playback passes a number, the numbers below it and the ended ones directly after it are forgotten")
  func passing() {
    var numbers = settled(2, 3, 5, 6, 9)
    let steps = [0, 1, 4, 7, 20].map { numbers.passing($0) }
    #expect(steps == [0, 3, 6, 7, 20])
    #expect(numbers.runCount == 0)
    let again = numbers.passing(20)
    #expect(again == 20)
  }

  @Test("the largest and the smallest possible number are handled like other numbers")
  func bounds() {
    var numbers = settled(.max, .min, .max - 1, .min + 1)
    #expect(numbers.runCount == 2 && numbers.lowest == .min)
    #expect(numbers.missing(from: .min, before: .max) == [.min + 2 ... .max - 2])
    let low = numbers.passing(.min)
    #expect(low == .min + 1)
    let high = numbers.passing(.max)
    #expect(high == .max && numbers.runCount == 0)
    #expect(SettledNumbers().missing(from: .min, before: .max) == [.min ... .max - 1])
  }
}
