// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import Testing

/// A newcomer and a present announcement; all sixteen pairs are tested.
private let pairs = PlaybackItem.Category.allCases.flatMap { newcomer in
  PlaybackItem.Category.allCases.map { Pair(newcomer: newcomer, present: $0) }
}

struct Pair: Sendable, CustomTestStringConvertible {
  var newcomer: PlaybackItem.Category
  var present: PlaybackItem.Category
  var meeting: Meeting { .of(newcomer, with: present) }
  var testDescription: String { "\(newcomer) meets \(present)" }
}

@Suite struct MeetingTests {
  @Test("the rules for two announcements equal the documented table")
  func written() {
    let table = """
      payment     | waits; in order | waits; in order | waits; before   | interrupts; before
      refund      | waits; in order | waits; in order | waits; before   | interrupts; before
      alert       | waits; after    | waits; after    | waits; in order | interrupts; before
      information | waits; after    | waits; after    | waits; after    | waits; in order
      """
    let lines = table.split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
    }
    #expect(lines.count == 4)
    for line in lines {
      #expect(line.count == 5)
      for (cell, present) in zip(line.dropFirst(), PlaybackItem.Category.allCases) {
        guard let newcomer = PlaybackItem.Category(rawValue: line[0]) else {
          Issue.record("\(line[0]) is no category")
          continue
        }
        #expect(Meeting.of(newcomer, with: present).words == cell, "\(newcomer) meets \(present)")
      }
    }
  }

  @Test("while an announcement plays, a new announcement waits or interrupts as the table says", arguments: pairs)
  func whilePlaying(_ pair: Pair) {
    var order = PlaybackOrder.of(.a(pair.present, 1))
    #expect(order.next(at: 0) == .play(.a(pair.present, 1), .inOrder))
    order.accept(.a(pair.newcomer, 2))
    switch pair.meeting.whilePlaying {
    case .waits:
      #expect(order.next(at: 0) == .idle)
      #expect(order.playing?.number == 1)
      order.finished()
      #expect(order.hearAll() == [2])
    case .interrupts:
      #expect(order.next(at: 0) == .interrupt)
      let isSilent = order.interrupted()
      #expect(isSilent)
      #expect(order.hearAll() == [2, 1])
    }
  }

  @Test(
    "an announcement cannot be interrupted if nothing in the table interrupts its category",
    arguments: PlaybackItem.Category.allCases)
  func uninterrupted(_ present: PlaybackItem.Category) {
    let isInterrupted = pairs.contains { $0.present == present && $0.meeting.whilePlaying == .interrupts }
    var order = PlaybackOrder.of(.a(present, 1))
    _ = order.next(at: 0)
    let isSilent = order.interrupted()
    #expect(isSilent == isInterrupted)
    #expect(order.playing?.number == (isInterrupted ? nil : 1))
    #expect(order.waitingCount == (isInterrupted ? 1 : 0))
  }

  @Test("a new announcement is put before or after a waiting announcement as the table says", arguments: pairs)
  func whileWaiting(_ pair: Pair) {
    var order = PlaybackOrder.of(.a(pair.present, 1), .a(pair.newcomer, 2))
    let expected: [Int64] = pair.meeting.whileWaiting == .before ? [2, 1] : [1, 2]
    #expect(order.upcoming(2, at: 0).map(\.number) == expected)
    #expect(order.hearAll() == expected)
  }

  @Test(
    "if sequence numbers contradict the order of acceptance, only payments and refunds are ordered by number",
    arguments: pairs)
  func sequences(_ pair: Pair) {
    var order = PlaybackOrder.of(.a(pair.present, 1, sequence: 2), .a(pair.newcomer, 2, sequence: 1))
    let isNewcomerFirst =
      switch pair.meeting.whileWaiting {
      case .before: true
      case .after: false
      case .inOrder: pair.newcomer.isMoney
      }
    #expect(order.hearAll() == (isNewcomerFirst ? [2, 1] : [1, 2]))
  }

  @Test(
    "if only one of two announcements has a sequence number, both are ordered by acceptance",
    arguments: pairs, [false, true])
  func oneSequence(_ pair: Pair, isFirst: Bool) {
    var order = PlaybackOrder.of(
      .a(pair.present, 1, sequence: isFirst ? 1 : nil), .a(pair.newcomer, 2, sequence: isFirst ? nil : 1))
    #expect(order.hearAll() == (pair.meeting.whileWaiting == .before ? [2, 1] : [1, 2]))
  }

  @Test("a new announcement is put among many waiting announcements as the table says", arguments: pairs)
  func many(_ pair: Pair) {
    var order = PlaybackOrder()
    for number in 1...200 { order.accept(.a(number % 2 == 0 ? pair.newcomer : pair.present, Int64(number))) }
    let numbers = Array(1...200 as ClosedRange<Int64>)
    let (newcomers, presents) = (numbers.filter { $0 % 2 == 0 }, numbers.filter { $0 % 2 == 1 })
    let expected =
      switch pair.meeting.whileWaiting {
      case .before: newcomers + presents
      case .after: presents + newcomers
      case .inOrder: numbers
      }
    #expect(order.hearAll() == expected)
  }
}

extension Meeting {
  /// A cell as it is written in the documentation.
  fileprivate var words: String {
    let playing =
      switch whilePlaying {
      case .waits: "waits"
      case .interrupts: "interrupts"
      }
    let waiting =
      switch whileWaiting {
      case .before: "before"
      case .after: "after"
      case .inOrder: "in order"
      }
    return "\(playing); \(waiting)"
  }
}
