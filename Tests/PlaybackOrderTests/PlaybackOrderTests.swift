// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import Testing

@Suite struct PlaybackOrderTests {
  @Test("a playback order without announcements is idle, whatever is reported to it")
  func empty() {
    var order = PlaybackOrder()
    order.finished()
    order.setDuration(5, of: 1)
    order.resume()
    let (silent, removed, expired) = (order.interrupted(), order.remove(1), order.removeExpired(at: .max))
    #expect(!silent && removed == nil && expired.isEmpty)
    #expect(order.next(at: .max) == .idle)
    #expect(order.waitingCount == 0 && order.lastSequence == nil && order.playing == nil)
    #expect(order.upcoming(5, at: 0).isEmpty)
  }

  @Test("only one announcement plays at a time, and the next one begins when it has finished")
  func one() {
    var order = PlaybackOrder.of(.a(.payment, 1), .a(.payment, 2))
    #expect(order.next(at: 0) == .play(.a(.payment, 1), .inOrder))
    #expect(order.playing?.number == 1 && order.waitingCount == 1)
    #expect(order.next(at: .max) == .idle)
    order.finished()
    #expect(order.playing == nil)
    #expect(order.next(at: 0) == .play(.a(.payment, 2), .inOrder))
  }

  @Test("payments and refunds without sequence numbers are played together in the order of acceptance")
  func acceptance() {
    var order = PlaybackOrder.of(.a(.payment, 1), .a(.refund, 2), .a(.payment, 3))
    #expect(order.hearAll() == [1, 2, 3])
  }

  @Test("an announcement that is waiting or playing is not accepted again")
  func twice() {
    let items: [PlaybackItem] = [.a(.payment, 1, sequence: 1), .a(.payment, 2), .a(.alert, 3), .a(.information, 4)]
    var order = PlaybackOrder()
    for item in items + items { order.accept(item) }
    #expect(order.waitingCount == 4)
    _ = order.next(at: 0)
    order.accept(items[0])
    #expect(order.waitingCount == 3)
    order.finished()
    #expect(order.hearAll() == [2, 3, 4])
  }

  @Test("announcements that are accepted in another order than that of their sequence numbers are played by number")
  func unsorted() {
    var order = PlaybackOrder.of(.a(.payment, 3), .a(.payment, 1), .a(.alert, 9), .a(.alert, 2))
    #expect(order.hearAll() == [1, 3, 2, 9])
  }

  // MARK: Sequence

  @Test("payments and refunds with sequence numbers are played together in the order of their numbers")
  func sequence() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 3), .a(.refund, 2, sequence: 2), .a(.payment, 3, sequence: 1))
    #expect(order.hearAll() == [3, 2, 1])
    #expect(order.lastSequence == 3)
  }

  @Test("the wait for a missing sequence number takes 2 s by default", arguments: [nil, 0, 700] as [Int64?])
  func patience(_ set: Int64?) {
    let settings = set.map { PlaybackOrder.Settings(sequencePatience: $0) } ?? PlaybackOrder.Settings()
    var order = PlaybackOrder.of(.a(.payment, 1, sequence: 3, at: 50), settings: settings, last: 1)
    let end = 50 + (set ?? 2_000)
    #expect(order.next(at: end - 1) == .wait(until: end))
    #expect(order.turn(at: end) == .afterMissing([2...2]))
  }

  @Test(
    "during the wait for a missing number, other announcements can play, payments and refunds first")
  func othersSpeak() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 3), .a(.information, 2), .a(.alert, 3), .a(.refund, 4), last: 1)
    #expect(order.upcoming(9, at: 0).map(\.number) == [4, 3, 2, 1])
    #expect(order.hearAll(at: 1_999) == [4, 3, 2])
    #expect(order.next(at: 1_999) == .wait(until: 2_000))
    #expect(order.hearAll(at: 2_000) == [1])
  }

  @Test("after the wait for a missing number, the next number plays before announcements that were accepted later")
  func waitedFor() {
    var order = PlaybackOrder.of(.a(.payment, 1, sequence: 3), .a(.payment, 2), .a(.alert, 3), last: 1)
    #expect(order.hearAll(at: 2_000) == [1, 2, 3])
  }

  @Test("the arrival of a late number does not delay the numbers after it")
  func notHeldUp() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 5), .a(.refund, 2), .a(.payment, 3, sequence: 2), .a(.payment, 4), last: 4)
    #expect(order.hearAll() == [3, 1, 2, 4])
    order = .of(.a(.payment, 1, sequence: 6), .a(.refund, 2), .a(.payment, 3, sequence: 5), last: 4)
    #expect(order.hearAll() == [3, 1, 2])
  }

  @Test("an announcement with a late number is played at once and reported as late")
  func late() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 5), .a(.payment, 2, sequence: 3), .a(.alert, 3), last: 4)
    #expect(order.next(at: 0) == .play(.a(.payment, 2, sequence: 3), .late))
    order.finished()
    #expect(order.hearAll() == [1, 3])
  }

  @Test("the sequence number of an alert or of information never counts as missing, and does not affect the order")
  func otherNumbers() {
    var order = PlaybackOrder.of(
      .a(.alert, 1, sequence: 3), .a(.information, 2, sequence: 2), .a(.payment, 3, sequence: 4), last: 1)
    #expect(order.turn() == .inOrder)
    #expect(order.hearAll() == [1, 2])
    #expect(order.lastSequence == 4)
  }

  @Test("a number whose announcement was cancelled is not missing, and no announcement waits for it")
  func cancelled() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, sequence: 2), .a(.payment, 2, sequence: 3), .a(.payment, 3, sequence: 4), last: 1)
    let removed = order.remove(2)
    #expect(removed == .a(.payment, 2, sequence: 3))
    #expect(order.hearAll() == [1, 3])
  }

  @Test("thousands of cancelled numbers after a gap take almost no memory, and the next number does not wait again")
  func cancelledThousands() {
    var order = PlaybackOrder(lastSequence: 1)
    for number in 3...5_000 as ClosedRange<Int64> {
      order.accept(.a(.payment, number, sequence: number, at: number))
      _ = order.remove(number)
    }
    order.accept(.a(.payment, 5_001, sequence: 5_001, at: 5_001))
    #expect(order.turn(at: 5_001) == .afterMissing([2...2]))
  }

  @Test("after a restart, the order continues, and the number of an announcement that has ended is not missing")
  func restart() {
    var order = PlaybackOrder.of(
      .a(.payment, 7, sequence: 5), .a(.payment, 8, sequence: 6), .a(.payment, 9, sequence: 7), last: 4)
    _ = order.remove(8)
    #expect(order.turn() == .inOrder && order.turn() == .inOrder && order.lastSequence == 7)
  }

  // MARK: Interruption

  @Test("interrupted information is played again after the interruption and before other information")
  func interrupted() {
    var order = PlaybackOrder.of(.a(.information, 1), .a(.information, 2))
    _ = order.next(at: 0)
    order.accept(.a(.alert, 3))
    order.accept(.a(.payment, 4))
    #expect(order.next(at: 0) == .interrupt && order.next(at: 0) == .interrupt)
    #expect(order.playing?.number == 1)
    order.interrupted()
    #expect(order.waitingCount == 4)
    #expect(order.hearAll() == [4, 3, 1, 2])
  }

  @Test("an announcement that is cancelled before it interrupts another one does not interrupt")
  func cancelledNewcomer() {
    var order = PlaybackOrder.of(.a(.information, 1))
    _ = order.next(at: 0)
    order.accept(.a(.payment, 2))
    _ = order.remove(2)
    #expect(order.next(at: 0) == .idle && order.playing?.number == 1)
  }

  @Test("a refund after a gap waits for the missing number, and then interrupts information")
  func interruptionBehindGap() {
    var order = PlaybackOrder.of(.a(.information, 1), last: 1)
    _ = order.next(at: 0)
    order.accept(.a(.refund, 2, sequence: 3, at: 100))
    #expect(order.next(at: 100) == .wait(until: 2_100))
    #expect(order.next(at: 2_100) == .interrupt)
  }

  @Test(
    "while a payment, a refund or an alert plays, the playback order does not ask to wait for a missing number",
    arguments: PlaybackItem.Category.allCases.dropLast()
  )
  func nothingToWaitFor(_ category: PlaybackItem.Category) {
    var order = PlaybackOrder.of(.a(category, 1), last: 1)
    _ = order.next(at: 0)
    order.accept(.a(.payment, 2, sequence: 3))
    #expect(order.next(at: 0) == .idle && order.next(at: 9_000) == .idle)
  }

  // MARK: Cancelling, expiring, pausing

  @Test("a playing, finished or unknown announcement cannot be removed")
  func notCancelled() {
    var order = PlaybackOrder.of(.a(.payment, 1, sequence: 1), .a(.alert, 2))
    #expect(order.hear() == 1)
    _ = order.next(at: 0)
    for number in [Int64.min, 0, 1, 2, 3, .max] {
      let removed = order.remove(number)
      #expect(removed == nil)
    }
    #expect(order.playing?.number == 2)
  }

  @Test("waiting alerts and information expire; payments, refunds and the playing announcement do not expire")
  func expiry() {
    var order = PlaybackOrder.of(
      .a(.payment, 1, expires: 5), .a(.refund, 2, sequence: 1, expires: 5), .a(.alert, 3, expires: 5),
      .a(.information, 4, expires: 5), .a(.alert, 5, expires: 6), .a(.information, 6))
    let (early, expired) = (order.removeExpired(at: 4), order.removeExpired(at: 5))
    #expect(early.isEmpty && expired.map(\.number) == [3, 4])
    #expect(order.hear() == 1 && order.hear() == 2)
    _ = order.next(at: 5)
    let playing = order.removeExpired(at: 100)
    #expect(playing.isEmpty && order.playing?.number == 5)
    order.finished()
    #expect(order.hearAll() == [6])
  }

  @Test("interrupted information can expire before it is played again")
  func expiryAfterInterruption() {
    var order = PlaybackOrder.of(.a(.information, 1, expires: 10))
    _ = order.next(at: 0)
    order.accept(.a(.payment, 2))
    order.interrupted()
    let expired = order.removeExpired(at: 10)
    #expect(expired.map(\.number) == [1])
    #expect(order.hearAll() == [2])
  }

  @Test("during a pause, no announcement begins or is interrupted, and all announcements are kept")
  func pause() {
    var order = PlaybackOrder.of(.a(.information, 1))
    _ = order.next(at: 0)
    order.pause()
    order.accept(.a(.payment, 2, sequence: 9))
    #expect(order.isPaused && order.next(at: 9_000) == .idle)
    let summary = order.began(summary: .a(.payment, 3), of: [2], at: 9_000)
    #expect(summary == nil)
    order.resume()
    #expect(order.next(at: 9_000) == .interrupt)
  }

  @Test("waiting times for missing numbers continue during a pause")
  func pausedGap() {
    var order = PlaybackOrder.of(.a(.payment, 1, sequence: 3), last: 1)
    order.pause()
    #expect(order.next(at: 0) == .idle)
    order.resume()
    #expect(order.turn(at: 2_000) == .afterMissing([2...2]))
  }

  // MARK: Upcoming

  @Test(
    "'upcoming' returns the announcements that play next and changes nothing",
    arguments: [0, 999, 2_000] as [Int64])
  func upcoming(_ now: Int64) {
    var order = PlaybackOrder.of(
      .a(.information, 1), .a(.alert, 2), .a(.payment, 3, sequence: 2), .a(.payment, 4, sequence: 4),
      .a(.payment, 5), .a(.refund, 6, sequence: 3), .a(.payment, 7, sequence: 8), last: 1)
    let upcoming = order.upcoming(99, at: now).map(\.number)
    #expect(upcoming.count == 7 && order.waitingCount == 7)
    for limit in [Int.min, -1, 0, 1, 3, 7, .max] {
      #expect(order.upcoming(limit, at: now).map(\.number) == Array(upcoming.prefix(max(0, limit))))
    }
    let heard = order.hearAll(at: now)
    #expect(heard == Array(upcoming.prefix(heard.count)))
    #expect(heard.count == (now < 2_000 ? 6 : 7))
  }

  @Test("a duration is set for the right announcement, whichever queue has it")
  func duration() {
    var order = PlaybackOrder.of(.a(.payment, 1, sequence: 1), .a(.payment, 2), .a(.alert, 3), .a(.information, 4))
    for number in 1...4 as ClosedRange<Int64> { order.setDuration(number * 100, of: number) }
    order.setDuration(7, of: 99)
    #expect(order.upcoming(9, at: 0).map(\.durationMilliseconds) == [100, 200, 300, 400])
  }

  @Test("ten thousand waiting announcements can each be queried, changed, cancelled or played quickly")
  func many() {
    var order = PlaybackOrder(lastSequence: 0)
    // Every third number is missing.
    for number in 1...10_000 as ClosedRange<Int64> {
      let category: PlaybackItem.Category = [.payment, .refund, .alert, .information][Int(number % 4)]
      order.accept(.a(category, number, sequence: category.isMoney ? number * 3 : nil, at: number))
    }
    #expect(order.next(at: 1_000) != .wait(until: 2_001))
    order.finished()
    for number in stride(from: Int64(1), to: 10_000, by: 10) { _ = order.remove(number) }
    let waiting = order.waitingCount
    #expect(waiting > 8_900)
    #expect(order.upcoming(.max, at: 20_000).count == waiting)
    #expect(order.hearAll(at: 20_000).count == waiting)
  }
}
