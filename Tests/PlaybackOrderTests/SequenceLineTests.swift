// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PlaybackOrder

/// The waiting time is always 2,000 ms, and an item's number equals its sequence number by default.
@Suite struct SequenceLineTests {
  private func line(last: Int64?, _ waiting: (sequence: Int64, at: Int64)...) -> SequenceLine {
    var line = SequenceLine(last: last, patience: 2_000)
    for (sequence, at) in waiting { line.insert(.a(.payment, sequence, sequence: sequence, at: at)) }
    return line
  }

  private func take(_ line: inout SequenceLine) -> PlaybackOrder.SequenceTurn? { line.takeFirst()?.turn }

  @Test("an empty queue of numbers is not due, does not wait, and has no items")
  func empty() {
    var line = line(last: 4)
    #expect(!line.isDue(at: .max) && line.waitsUntil(at: 0) == nil)
    let (turn, removed) = (take(&line), line.remove(4))
    #expect(turn == nil && removed == nil && line.last == 4)
  }

  @Test("the next number is due at once, even if the clock is earlier than its acceptance")
  func next() {
    var line = line(last: 4, (5, 100))
    #expect(line.isDue(at: 0) && line.waitsUntil(at: 0) == nil)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == 5)
  }

  @Test("a number after a gap waits exactly as long as configured, and reports the missing numbers")
  func gap() {
    var line = line(last: 4, (8, 100))
    #expect(!line.isDue(at: 2_099) && line.waitsUntil(at: 2_099) == 2_100)
    #expect(line.isDue(at: 2_100) && line.waitsUntil(at: 2_100) == nil)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...7]) && line.last == 8)
  }

  @Test("the wait for missing numbers begins with the first acceptance after the gap, whatever its number")
  func firstBehind() {
    var line = line(last: 4, (9, 100), (6, 1_500), (8, 1_900))
    #expect(line.waitsUntil(at: 0) == 2_100)
    // The arrival of 9 shows that 7 is missing too, so both gaps end at the same time.
    var turns: [PlaybackOrder.SequenceTurn?] = []
    while line.isDue(at: 2_100) { turns.append(take(&line)) }
    #expect(turns == [.afterMissing([5...5]), .afterMissing([7...7]), .inOrder])
  }

  @Test("each gap in the numbers has its own waiting time")
  func twoGaps() {
    var line = line(last: 4, (6, 100), (8, 900))
    #expect(line.waitsUntil(at: 0) == 2_100)
    _ = line.takeFirst()
    #expect(line.waitsUntil(at: 2_100) == 2_900)
  }

  @Test("a missing number that arrives in time is played first and ends the wait")
  func inTime() {
    var line = line(last: 4, (6, 100))
    line.insert(.a(.payment, 5, sequence: 5, at: 2_000))
    #expect(line.isDue(at: 2_000))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .inOrder])
  }

  @Test("a late number is due at once, before the others, and does not change the last number")
  func late() {
    var line = line(last: 4, (5, 0), (2, 10))
    #expect(line.isDue(at: 0))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.late, .inOrder] && line.last == 5)
  }

  @Test("a repeated number is played again, and counts as late")
  func repeated() {
    var line = line(last: 4, (5, 0))
    line.insert(.a(.payment, 6, sequence: 5))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .late] && line.last == 5)
  }

  @Test(
    "if one of two items with the same number is cancelled, the other item is still in order",
    arguments: [5, 6] as [Int64])
  func repeatedAndCancelled(_ cancelled: Int64) {
    var line = line(last: 4, (5, 0))
    line.insert(.a(.payment, 6, sequence: 5))
    _ = line.remove(cancelled)
    #expect(line.last == 4)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == 5)
  }

  @Test("the first sequence number of all is due at once if it is at most 1", arguments: [Int64.min, -5, 0, 1])
  func firstEver(_ sequence: Int64) {
    var line = line(last: nil, (sequence, 0))
    #expect(line.isDue(at: 0))
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == sequence)
  }

  @Test("a first sequence number above 1 waits, and no numbers are reported as missing", arguments: [2, 77, Int64.max])
  func laterFirstEver(_ sequence: Int64) {
    var line = line(last: nil, (sequence, 0))
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == sequence)
  }

  @Test("no item waits for a number that was cancelled")
  func cancelled() {
    var line = line(last: 4, (5, 0), (6, 0), (7, 0))
    let removed = line.remove(6)
    #expect(removed?.sequence == 6)
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .inOrder] && line.last == 7)
  }

  @Test("if the next number is cancelled, the number after it is due")
  func cancelledNext() {
    var line = line(last: 4, (5, 0))
    _ = line.remove(5)
    #expect(line.last == 5)
    line.insert(.a(.payment, 6, sequence: 6, at: 9))
    #expect(line.isDue(at: 0))
  }

  @Test("cancelling number 1 before anything was played makes number 2 due")
  func cancelledFirstEver() {
    var line = line(last: nil, (1, 0))
    _ = line.remove(1)
    line.insert(.a(.payment, 2, sequence: 2))
    #expect(line.isDue(at: 0) && line.last == 1)
  }

  @Test(
    "if the first number is above 1 and is cancelled, the numbers below it are not reported as missing")
  func cancelledBeforeFirst() {
    var line = line(last: nil, (3, 0))
    _ = line.remove(3)
    #expect(line.last == nil)
    line.insert(.a(.payment, 5, sequence: 5, at: 500))
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .afterMissing([4...4]) && line.last == 5)
  }

  @Test("the first number after a gap starts the wait even if it was cancelled")
  func cancelledBehindGap() {
    var line = line(last: 4, (6, 0), (7, 1_500))
    _ = line.remove(6)
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...5]))
  }

  @Test("a number whose announcement has ended is not missing, and starts the wait for the missing numbers below it")
  func settled() {
    var line = line(last: 4)
    line.settle(6, acceptedAt: 100)
    line.settle(3, acceptedAt: 0)
    line.insert(.a(.payment, 7, sequence: 7, at: 900))
    #expect(line.last == 4 && line.waitsUntil(at: 0) == 2_100)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...5]) && line.last == 7)
  }

  @Test("the largest number can arrive twice, be cancelled, and be followed by smaller ones")
  func highest() {
    var line = line(last: .max - 2, (.max, .max), (.max - 1, 0))
    line.insert(.a(.payment, 1, sequence: .max))
    let turns = [take(&line), take(&line), take(&line), take(&line)]
    #expect(turns == [.inOrder, .inOrder, .late, nil] && line.last == .max)
    line.insert(.a(.payment, 2, sequence: .max))
    line.insert(.a(.payment, 3, sequence: .min))
    #expect(line.isDue(at: .min))
    let removed = line.remove(2)
    let turn = take(&line)
    #expect(removed != nil && turn == .late)
    #expect(line.last == .max)
  }

  @Test("if only the smallest and the largest number exist, all numbers between them form one gap")
  func widest() {
    var line = line(last: .min, (.max, 0))
    let turn = take(&line)
    #expect(turn == .afterMissing([.min + 1 ... .max - 1]))
  }

  @Test("with extreme times, a wait lasts for ever or ends at once", arguments: [Int64.min, -1, 0, .max])
  func times(_ patience: Int64) {
    for acceptedAt in [Int64.min, 0, .max] {
      var line = SequenceLine(last: 0, patience: patience)
      line.insert(.a(.payment, 1, sequence: 9, at: acceptedAt))
      #expect(line.isDue(at: .max))
      #expect(line.isDue(at: .min) == (acceptedAt.plus(patience) == .min))
    }
  }
}
