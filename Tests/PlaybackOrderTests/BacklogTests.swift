// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import Testing

/// Tests of the summary of waiting payments.
@Suite struct BacklogTests {
  private let overTwo = PlaybackOrder.Settings(longestBacklog: 2)

  @Test("without a limit for the backlog, any number of payments is played individually")
  func unset() {
    var order = PlaybackOrder()
    for number in 1...500 as ClosedRange<Int64> { order.accept(.a(.payment, number, lasts: .max)) }
    #expect(order.hearAll().count == 500)
  }

  @Test("a backlog of more payments than the limit is summarised, and one of exactly the limit is not")
  func count() {
    var order = PlaybackOrder.of(.a(.payment, 1), .a(.payment, 2, sequence: 1), settings: overTwo)
    #expect(order.upcoming(1, at: 0).map(\.number) == [1])
    var three = order
    #expect(order.hearAll() == [1, 2])
    three.accept(.a(.payment, 3))
    #expect(three.summarised() == [1, 2, 3])
    #expect(three.summarised() == [1, 2, 3] && three.waitingCount == 3 && three.playing == nil)
  }

  @Test("a backlog that takes longer than the limit is summarised, and an unknown duration has an assumed value")
  func duration() {
    let settings = PlaybackOrder.Settings(longestBacklogMilliseconds: 10_000, assumedDuration: 5_000)
    var order = PlaybackOrder.of(.a(.payment, 1), .a(.payment, 2), settings: settings)
    #expect(order.summarised() == nil)
    order = .of(.a(.payment, 1), .a(.payment, 2, lasts: 5_001), settings: settings)
    #expect(order.summarised() == [1, 2])
    order.setDuration(4_999, of: 1)
    #expect(order.summarised() == nil)
  }

  @Test("an unknown duration counts as four seconds by default")
  func assumedDuration() {
    for (limit, isSummarised) in [(7_999, true), (8_000, false)] as [(Int64, Bool)] {
      let settings = PlaybackOrder.Settings(longestBacklogMilliseconds: limit)
      var order = PlaybackOrder.of(.a(.payment, 1), .a(.payment, 2), settings: settings)
      #expect((order.summarised() != nil) == isSummarised)
    }
  }

  @Test("a single payment is never summarised, whatever its duration and the limits", arguments: [Int.min, -1, 0])
  func single(_ limit: Int) {
    let settings = PlaybackOrder.Settings(longestBacklog: limit, longestBacklogMilliseconds: Int64(limit))
    var order = PlaybackOrder.of(.a(.payment, 1, lasts: .max), .a(.refund, 2), .a(.payment, 3), settings: settings)
    #expect(order.hearAll() == [1, 2, 3])
  }

  @Test("a backlog with extreme durations is summarised, because their sum is limited instead of overflowing")
  func bounds() {
    let settings = PlaybackOrder.Settings(longestBacklogMilliseconds: .max - 1, assumedDuration: .min)
    var order = PlaybackOrder.of(
      .a(.payment, 1, lasts: .max), .a(.payment, 2, lasts: .max), .a(.payment, 3, lasts: .min), .a(.payment, 4),
      settings: settings)
    #expect(order.summarised() == [1, 2, 3, 4])
  }

  @Test("alerts and information do not count as a backlog, and keep waiting")
  func others() {
    var order = PlaybackOrder.of(
      .a(.payment, 1), .a(.alert, 2), .a(.payment, 3), .a(.information, 4), settings: overTwo)
    #expect(order.hearAll() == [1, 3, 2, 4])
  }

  @Test("a summary ends before a refund, which is played individually")
  func refund() {
    var order = PlaybackOrder.of(
      .a(.payment, 1), .a(.payment, 2), .a(.refund, 3), .a(.payment, 4), .a(.payment, 5), .a(.payment, 6),
      settings: overTwo)
    #expect(order.hear() == 1 && order.hear() == 2 && order.hear() == 3)
    #expect(order.summarised() == [4, 5, 6])
  }

  @Test("a summary ends at a missing number, and continues with payments without numbers")
  func gap() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 1), .a(.payment, 2, sequence: 3, at: 100), .a(.payment, 3), .a(.payment, 4),
      settings: overTwo)
    #expect(order.summarised(at: 100) == [1, 3, 4])
    // After the waiting time, the payment's place follows from its acceptance.
    #expect(order.summarised(at: 2_100) == [1, 2, 3, 4])
  }

  @Test("a summary takes the place of its payments, and the numbers missing between them are reported")
  func began() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 3), .a(.payment, 2, sequence: 6), .a(.payment, 3), .a(.payment, 4, sequence: 2),
      settings: overTwo, last: 4)
    #expect(order.summarised(at: 2_000) == [4, 1, 2, 3])
    let payments = order.began(summary: .a(.payment, 9), of: [4, 1, 2, 3], at: 2_000)
    #expect(payments?.map(\.item.number) == [4, 1, 2, 3])
    #expect(payments?.map(\.turn) == [.late, .late, .afterMissing([5...5]), .inOrder])
    #expect(order.playing?.number == 9 && order.waitingCount == 0 && order.lastSequence == 6)
    order.finished()
    #expect(order.next(at: 2_000) == .idle)
  }

  @Test("payments that arrive while the summary is made are played after it")
  func moreCame() {
    var order = PlaybackOrder.of(.a(.payment, 1), .a(.payment, 2), .a(.payment, 3), settings: overTwo)
    #expect(order.summarised() == [1, 2, 3])
    order.accept(.a(.payment, 4))
    let payments = order.began(summary: .a(.payment, 9), of: [1, 2, 3], at: 0)
    #expect(payments?.count == 3)
    order.finished()
    #expect(order.hearAll() == [4])
  }

  @Test("a summary of payments that are not the next ones does not begin, and no payment is lost")
  func notBegun() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 5), .a(.payment, 2), .a(.payment, 3), .a(.refund, 4), settings: overTwo, last: 4)
    for numbers in [[], [2], [2, 1], [1, 3], [1, 2, 3, 4], [1, 1], [1, 99], [.min]] as [[Int64]] {
      let payments = order.began(summary: .a(.payment, 9), of: numbers, at: 0)
      #expect(payments == nil, "\(numbers)")
    }
    #expect(order.playing == nil && order.waitingCount == 4)
    order.accept(.a(.payment, 5, sequence: 2))
    let late = order.began(summary: .a(.payment, 9), of: [1, 2, 3], at: 0)
    #expect(late == nil)
    #expect(order.summarised() == [5, 1, 2, 3])
    _ = order.remove(2)
    let cancelled = order.began(summary: .a(.payment, 9), of: [5, 1, 2, 3], at: 0)
    #expect(cancelled == nil)
    #expect(order.summarised() == [5, 1, 3])
  }

  @Test("a summary does not begin while another announcement plays")
  func playing() {
    var order = PlaybackOrder.of(.a(.alert, 1), settings: overTwo)
    _ = order.next(at: 0)
    for number in 2...4 as ClosedRange<Int64> { order.accept(.a(.payment, number)) }
    #expect(order.next(at: 0) == .idle)
    let payments = order.began(summary: .a(.payment, 9), of: [2, 3, 4], at: 0)
    #expect(payments == nil && order.playing?.number == 1)
  }

  @Test("payments that are to be summarised interrupt information, and nothing interrupts a summary")
  func interruption() {
    var order = PlaybackOrder.of(.a(.information, 1), settings: overTwo)
    _ = order.next(at: 0)
    for number in 2...4 as ClosedRange<Int64> { order.accept(.a(.payment, number)) }
    #expect(order.next(at: 0) == .interrupt)
    order.interrupted()
    #expect(order.summarised() == [2, 3, 4])
    _ = order.began(summary: .a(.payment, 9), of: [2, 3, 4], at: 0)
    order.accept(.a(.payment, 10))
    #expect(order.next(at: 0) == .idle)
    let isSilent = order.interrupted()
    #expect(!isSilent)
    order.finished()
    #expect(order.hearAll() == [10, 1])
  }

  @Test("after a refused summary, payments are played individually until another payment arrives")
  func refused() {
    var order = PlaybackOrder.of(
      .a(.payment, 1), .a(.payment, 2), .a(.payment, 3), .a(.payment, 4), settings: overTwo)
    order.refuseSummary()
    order.accept(.a(.information, 5))
    order.accept(.a(.refund, 6))
    #expect(order.hear() == 1)
    order.accept(.a(.payment, 7))
    #expect(order.summarised() == [2, 3, 4])
  }
}
