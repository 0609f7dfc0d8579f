// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PlaybackOrder

/// Patience is 2,000 ms everywhere, and an item's number is its sequence unless said.
@Suite struct SequenceLineTests {
  private func line(last: Int64?, _ waiting: (sequence: Int64, at: Int64)...) -> SequenceLine {
    var line = SequenceLine(last: last, patience: 2_000)
    for (sequence, at) in waiting { line.insert(.a(.payment, sequence, sequence: sequence, at: at)) }
    return line
  }

  private func take(_ line: inout SequenceLine) -> PlaybackOrder.SequenceTurn? { line.takeFirst()?.turn }

  @Test("an empty line is not due, waits for nothing, and gives nothing")
  func empty() {
    var line = line(last: 4)
    #expect(!line.isDue(at: .max) && line.waitsUntil(at: 0) == nil)
    let (turn, removed) = (take(&line), line.remove(4))
    #expect(turn == nil && removed == nil && line.last == 4)
  }

  @Test("the next number is due at once, even by a clock that lags behind its acceptance")
  func next() {
    var line = line(last: 4, (5, 100))
    #expect(line.isDue(at: 0) && line.waitsUntil(at: 0) == nil)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == 5)
  }

  @Test("behind a gap a number waits, to the millisecond, and tells what was missing")
  func gap() {
    var line = line(last: 4, (8, 100))
    #expect(!line.isDue(at: 2_099) && line.waitsUntil(at: 2_099) == 2_100)
    #expect(line.isDue(at: 2_100) && line.waitsUntil(at: 2_100) == nil)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...7]) && line.last == 8)
  }

  @Test("the wait counts from the first that was accepted behind the gap, whichever number it has")
  func firstBehind() {
    var line = line(last: 4, (9, 100), (6, 1_500), (8, 1_900))
    #expect(line.waitsUntil(at: 0) == 2_100)
    // 7 is known to be missing since 9 came, too: at the same moment all are passed.
    var turns: [PlaybackOrder.SequenceTurn?] = []
    while line.isDue(at: 2_100) { turns.append(take(&line)) }
    #expect(turns == [.afterMissing([5...5]), .afterMissing([7...7]), .inOrder])
  }

  @Test("each gap has a wait of its own")
  func twoGaps() {
    var line = line(last: 4, (6, 100), (8, 900))
    #expect(line.waitsUntil(at: 0) == 2_100)
    _ = line.takeFirst()
    #expect(line.waitsUntil(at: 2_100) == 2_900)
  }

  @Test("a missing number that comes in time is said first, and the wait is over")
  func inTime() {
    var line = line(last: 4, (6, 100))
    line.insert(.a(.payment, 5, sequence: 5, at: 2_000))
    #expect(line.isDue(at: 2_000))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .inOrder])
  }

  @Test("a late number is due at once, before the others, and leaves the last as it was")
  func late() {
    var line = line(last: 4, (5, 0), (2, 10))
    #expect(line.isDue(at: 0))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.late, .inOrder] && line.last == 5)
  }

  @Test("a number that comes again is said again, as late")
  func repeated() {
    var line = line(last: 4, (5, 0))
    line.insert(.a(.payment, 6, sequence: 5))
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .late] && line.last == 5)
  }

  @Test("of a repeated number one may be cancelled, and the other is still in order", arguments: [5, 6] as [Int64])
  func repeatedAndCancelled(_ cancelled: Int64) {
    var line = line(last: 4, (5, 0))
    line.insert(.a(.payment, 6, sequence: 5))
    _ = line.remove(cancelled)
    #expect(line.last == 4)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == 5)
  }

  @Test("the first number ever is due at once if it is 1, or less", arguments: [Int64.min, -5, 0, 1])
  func firstEver(_ sequence: Int64) {
    var line = line(last: nil, (sequence, 0))
    #expect(line.isDue(at: 0))
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == sequence)
  }

  @Test("another first number ever waits, and is told nothing is missing", arguments: [2, 77, Int64.max])
  func laterFirstEver(_ sequence: Int64) {
    var line = line(last: nil, (sequence, 0))
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .inOrder && line.last == sequence)
  }

  @Test("a cancelled number is not waited for")
  func cancelled() {
    var line = line(last: 4, (5, 0), (6, 0), (7, 0))
    let removed = line.remove(6)
    #expect(removed?.sequence == 6)
    let turns = [take(&line), take(&line)]
    #expect(turns == [.inOrder, .inOrder] && line.last == 7)
  }

  @Test("the next, cancelled, gives way to those behind it")
  func cancelledNext() {
    var line = line(last: 4, (5, 0))
    _ = line.remove(5)
    #expect(line.last == 5)
    line.insert(.a(.payment, 6, sequence: 6, at: 9))
    #expect(line.isDue(at: 0))
  }

  @Test("1, cancelled before anything was said, gives way to 2")
  func cancelledFirstEver() {
    var line = line(last: nil, (1, 0))
    _ = line.remove(1)
    line.insert(.a(.payment, 2, sequence: 2))
    #expect(line.isDue(at: 0) && line.last == 1)
  }

  @Test("another number cancelled before anything was said is known, and those below it still are not")
  func cancelledBeforeFirst() {
    var line = line(last: nil, (3, 0))
    _ = line.remove(3)
    #expect(line.last == nil)
    line.insert(.a(.payment, 5, sequence: 5, at: 500))
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .afterMissing([4...4]) && line.last == 5)
  }

  @Test("the first behind a gap starts the wait even when it is cancelled")
  func cancelledBehindGap() {
    var line = line(last: 4, (6, 0), (7, 1_500))
    _ = line.remove(6)
    #expect(line.waitsUntil(at: 0) == 2_000)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...5]))
  }

  @Test("what was settled elsewhere is not missing, and starts the wait for what is below it")
  func settled() {
    var line = line(last: 4)
    line.settle(6, acceptedAt: 100)
    line.settle(3, acceptedAt: 0)
    line.insert(.a(.payment, 7, sequence: 7, at: 900))
    #expect(line.last == 4 && line.waitsUntil(at: 0) == 2_100)
    let turn = take(&line)
    #expect(turn == .afterMissing([5...5]) && line.last == 7)
  }

  @Test("the highest number there is can come, twice, be cancelled, and be followed by lower ones")
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

  @Test("from the lowest number to the highest is one gap")
  func widest() {
    var line = line(last: .min, (.max, 0))
    let turn = take(&line)
    #expect(turn == .afterMissing([.min + 1 ... .max - 1]))
  }

  @Test("times and patience at their bounds wait for ever or not at all", arguments: [Int64.min, -1, 0, .max])
  func times(_ patience: Int64) {
    for acceptedAt in [Int64.min, 0, .max] {
      var line = SequenceLine(last: 0, patience: patience)
      line.insert(.a(.payment, 1, sequence: 9, at: acceptedAt))
      #expect(line.isDue(at: .max))
      #expect(line.isDue(at: .min) == (acceptedAt.plus(patience) == .min))
    }
  }
}
