// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PlaybackOrder

@Suite struct LineTests {
  private func line(_ numbers: Int64...) -> Line {
    var line = Line()
    for number in numbers { line.insert(.a(.alert, number)) }
    return line
  }

  @Test("an empty queue has no items")
  func empty() {
    var line = Line()
    #expect(line.first == nil && line.items.isEmpty)
    let (taken, removed, expired) = (line.takeFirst(), line.remove(1), line.removeExpired(at: .max))
    #expect(taken == nil && removed == nil && expired.isEmpty)
  }

  @Test("the items of a queue are in the order of acceptance, whatever the order of insertion, and each occurs once")
  func acceptance() {
    #expect(line(3, 1, 2, 1, 3, 2).items.map(\.number) == [1, 2, 3])
    #expect(line(.max, .min, 0).items.map(\.number) == [.min, 0, .max])
  }

  @Test("a queue by sequence has its items in the order of the sequence numbers, and then of acceptance")
  func sequence() {
    var line = Line(isBySequence: true)
    for (number, sequence) in [(1, 9), (2, .min), (3, .max), (5, 9), (4, 9), (4, 9)] as [(Int64, Int64)] {
      line.insert(.a(.payment, number, sequence: sequence))
    }
    #expect(line.items.map(\.number) == [2, 1, 4, 5, 3])
    let removed = line.remove(4)
    #expect(removed?.number == 4)
    #expect(line.items.map(\.number) == [2, 1, 5, 3])
  }

  @Test("an item that is already in the queue is not changed")
  func twice() {
    var line = line(1)
    line.insert(.a(.alert, 1, lasts: 7))
    #expect(line.items.map(\.durationMilliseconds) == [nil])
  }

  @Test(
    "removing a number from the queue removes only its item, if the queue has the item",
    arguments: 1...5 as ClosedRange<Int64>)
  func remove(_ number: Int64) {
    var line = line(1, 2, 3, 4, 5)
    for missing in [Int64.min, 0, 6, .max] {
      let removed = line.remove(missing)
      #expect(removed == nil)
    }
    let (removed, again) = (line.remove(number), line.remove(number))
    #expect(removed?.number == number && again == nil)
    #expect(line.items.map(\.number) == (1...5).filter { $0 != number })
  }

  @Test("an item that was taken from the queue can no longer be found, changed or removed")
  func taken() {
    var line = line(1, 2)
    let first = line.takeFirst()
    #expect(first?.number == 1)
    let removed = line.remove(1)
    #expect(removed == nil)
    line.update(1) { $0.durationMilliseconds = 5 }
    #expect(line.items.map(\.number) == [2] && line.first?.durationMilliseconds == nil)
    line.insert(.a(.alert, 1))
    #expect(line.items.map(\.number) == [1, 2])
  }

  @Test("thousands of items are taken from a queue in order, even if some are put back")
  func long() {
    var line = Line()
    var (accepted, heard) = (Int64(0), Int64(0))
    for step in 0..<5_000 {
      for _ in 0..<(step % 4) {
        accepted += 1
        line.insert(.a(.alert, accepted))
      }
      for _ in 0..<2 {
        guard let item = line.takeFirst() else { continue }
        #expect(item.number == heard + 1)
        if step % 7 == 0 { line.insert(item) } else { heard += 1 }
      }
      #expect(line.count == Int(accepted - heard))
    }
    #expect(heard > 4_000)
  }

  @Test("the removal of expired items from a queue removes only these, in order")
  func expired() {
    var line = Line()
    line.insert(.a(.alert, 1, expires: 5))
    line.insert(.a(.alert, 2))
    line.insert(.a(.alert, 3, expires: 6))
    line.insert(.a(.alert, 4, expires: 5))
    let (before, after) = (line.removeExpired(at: 4), line.removeExpired(at: 5))
    #expect(before.isEmpty)
    #expect(after.map(\.number) == [1, 4])
    #expect(line.items.map(\.number) == [2, 3])
  }

  @Test("expired items can be removed after others were taken, and all other items stay")
  func expiredAfterTaking() {
    var line = line(1, 2)
    for number in 3...6 as ClosedRange<Int64> { line.insert(.a(.alert, number, expires: number % 2 == 0 ? 9 : nil)) }
    let taken = [line.takeFirst(), line.takeFirst(), line.takeFirst()].map { $0?.number }
    #expect(taken == [1, 2, 3])
    let expired = line.removeExpired(at: 9)
    #expect(expired.map(\.number) == [4, 6])
    #expect(line.items.map(\.number) == [5] && line.count == 1)
    let last = [line.takeFirst(), line.takeFirst()].map { $0?.number }
    #expect(last == [5, nil])
  }
}
