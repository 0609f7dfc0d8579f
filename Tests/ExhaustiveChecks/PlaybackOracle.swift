// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder

/// The rules of playing, evaluated by a different method from the queue's, with a count of the violations.
///
/// The oracle knows when each announcement was accepted, began, became silent and ended. It knows nothing of the
/// queue's data structures.
struct PlaybackOracle {
  enum Ending: String, CaseIterable { case played, cancelled, failed, expired }
  private enum Stage: UInt8 { case unknown, waiting, playing, ended }

  private let patience: Int64
  /// The stages by number.
  private var stages: [Stage]
  private var waiting: [Int64: PlaybackItem] = [:]
  /// Announcements in order of acceptance. Those that no longer wait are skipped when they come first.
  private var plain = NumberQueue(), alerts = NumberQueue(), information = NumberQueue(), sequenced = NumberQueue()
  /// All announcements with a sequence number above ``last``, in order of acceptance.
  private var seen = NumberQueue()
  private var seenItems: [Int64: PlaybackItem] = [:]
  private var numbersAtSequence: [Int64: [Int64]] = [:]
  private var lowestSequence: Int64 = 1
  private var highestSequence: Int64 = 0
  /// For each sequence number, whether it has arrived and no waiting announcement has it.
  private var isSettled: [Bool]
  private(set) var last: Int64 = 0
  /// The lowest sequence number that is known to the lane. Lower numbers never arrived and do not count as missing.
  private var lowestSeen: Int64 = .max
  private var hasPassed = false

  private(set) var faults: [String] = []
  private(set) var faultCount = 0
  private(set) var endings: [Ending: Int] = [:]
  private(set) var turns = (inOrder: 0, afterMissing: 0, late: 0)
  private(set) var interruptions = 0
  private(set) var acceptedCount = 0
  private(set) var playing: [PlaybackItem] = []

  init(announcements: Int, sequences: Int, patience: Int64) {
    self.patience = patience
    stages = Array(repeating: .unknown, count: announcements + 1)
    isSettled = Array(repeating: false, count: sequences + 2)
  }

  var waitingCount: Int { waiting.count }
  func isWaiting(_ number: Int64) -> Bool { stages[Int(number)] == .waiting }

  /// The announcements that a ledger knows after a restart, in order of acceptance: all that have not ended, and those
  /// that ended with a number above the last.
  var restored: [(item: PlaybackItem, hasEnded: Bool)] {
    let ended = seenItems.values.filter { $0.sequence ?? 0 > last && stages[Int($0.number)] == .ended }
    return (waiting.values.map { ($0, false) } + ended.map { ($0, true) }).sorted { $0.item.number < $1.item.number }
  }

  // MARK: What happened

  mutating func accepts(_ item: PlaybackItem) {
    expect(stages[Int(item.number)] == .unknown, "accepted twice", item.number)
    acceptedCount += 1
    stages[Int(item.number)] = .waiting
    waiting[item.number] = item
    if !hasPassed, let sequence = item.sequence { lowestSeen = min(lowestSeen, sequence) }
    if let sequence = item.sequence, sequence > last {
      seen.append(item.number)
      seenItems[item.number] = item
    }
    switch (item.category.isMoney, item.sequence) {
    case (true, let sequence?):
      sequenced.append(item.number)
      numbersAtSequence[sequence, default: []].append(item.number)
      lowestSequence = min(lowestSequence, sequence)
      highestSequence = max(highestSequence, sequence)
    case (true, nil): plain.append(item.number)
    case (false, let sequence):
      if item.category == .alert { alerts.append(item.number) } else { information.append(item.number) }
      if let sequence { settle(sequence) }
    }
  }

  /// Records a removal.
  ///
  /// - Parameter answer: the announcement that the queue removed.
  mutating func removes(_ number: Int64, answer: PlaybackItem?, _ ending: Ending) {
    expect((answer != nil) == isWaiting(number) && answer?.number ?? number == number, "removed otherwise", number)
    guard let item = answer else { return }
    leaves(item)
    if item.category.isMoney, let sequence = item.sequence { settle(sequence) }
    ends(item, ending)
  }

  mutating func expires(_ items: [PlaybackItem], at now: Int64) {
    for item in items {
      expect(!item.category.isMoney && isWaiting(item.number) && item.expiresAt ?? .max <= now, "expired", item.number)
      leaves(item)
      ends(item, .expired)
    }
  }

  /// Records that an announcement begins, or that a summary begins, with this announcement as its next part.
  mutating func starts(_ item: PlaybackItem, _ turn: PlaybackOrder.SequenceTurn, at now: Int64) {
    expect(isWaiting(item.number), "said twice or after its end", item.number)
    expect(mayStart(item, at: now), "out of order", item.number)
    expect(item.category.isMoney || item.expiresAt ?? .max > now, "said after it expired", item.number)
    expect(turn == expectedTurn(item), "told otherwise of its number", item.number)
    switch turn {
    case .inOrder: turns.inOrder += 1
    case .afterMissing:
      turns.afterMissing += 1
      expect(seenSince.map { $0 + patience <= now } ?? false, "waited too short for the missing", item.number)
    case .late: turns.late += 1
    }
    leaves(item)
    stages[Int(item.number)] = .playing
    playing.append(item)
    if item.category.isMoney, let sequence = item.sequence { pass(to: max(last, sequence)) }
  }

  mutating func interrupts(at now: Int64) {
    expect(playing.count == 1 && playing[0].category == .information, "interrupted", playing.first?.number ?? 0)
    expect(isMoneyDue(at: now) || first(\.alerts) != nil, "interrupted for nothing", now)
    interruptions += 1
    for item in playing {
      stages[Int(item.number)] = .waiting
      waiting[item.number] = item
    }
    playing = []
  }

  mutating func finishes(_ ending: Ending) {
    for item in playing { ends(item, ending) }
    playing = []
  }

  /// Records that nothing begins now, and nothing before the given moment.
  mutating func rests(at now: Int64, until moment: Int64?) {
    let isInterruptible = playing.first?.category == .information
    if playing.isEmpty || isInterruptible {
      expect(!isMoneyDue(at: now) && first(\.alerts) == nil, "silent though something is due", now)
      expect(isInterruptible || first(\.information) == nil, "silent though there is information", now)
      let gapEnd = lowestWaitingSequence == nil ? nil : seenSince.map { $0 + patience }
      expect(moment == gapEnd, "waits until another moment", gapEnd ?? -1)
    } else {
      expect(moment == nil, "waits while money or an alert plays", now)
    }
  }

  // MARK: The rules

  private mutating func mayStart(_ item: PlaybackItem, at now: Int64) -> Bool {
    let isSequencedDue = isSequencedDue(at: now)
    let (firstPlain, firstSequenced) = (first(\.plain), first(\.sequenced))
    switch (item.category, item.sequence) {
    case (.payment, let sequence?), (.refund, let sequence?):
      // This is the lowest waiting number, the earliest with that number, and it precedes later money without a number.
      return sequence == lowestWaitingSequence && item.number == numbersAtSequence[sequence]?.min() && isSequencedDue
        && (firstSequenced ?? .max) < (firstPlain ?? .max)
    case (.payment, nil), (.refund, nil):
      return item.number == firstPlain && !(isSequencedDue && (firstSequenced ?? .max) < item.number)
    case (.alert, _): return item.number == first(\.alerts) && !isMoneyDue(at: now)
    case (.information, _):
      return item.number == first(\.information) && first(\.alerts) == nil && !isMoneyDue(at: now)
    }
  }

  private func expectedTurn(_ item: PlaybackItem) -> PlaybackOrder.SequenceTurn {
    guard item.category.isMoney, let sequence = item.sequence else { return .inOrder }
    guard sequence > last else { return .late }
    var missing: [ClosedRange<Int64>] = []
    for number in last + 1..<max(last + 1, sequence) where !isSettled[Int(number)] && (hasPassed || number > lowestSeen)
    {
      if let range = missing.last, range.upperBound == number - 1 {
        missing[missing.count - 1] = range.lowerBound...number
      } else {
        missing.append(number...number)
      }
    }
    return missing.isEmpty ? .inOrder : .afterMissing(missing)
  }

  private mutating func isMoneyDue(at now: Int64) -> Bool { first(\.plain) != nil || isSequencedDue(at: now) }

  private mutating func isSequencedDue(at now: Int64) -> Bool {
    guard let lowest = lowestWaitingSequence else { return false }
    return lowest <= last + 1 || seenSince.map { $0 + patience <= now } ?? false
  }

  private var lowestWaitingSequence: Int64? {
    mutating get {
      while lowestSequence <= highestSequence, numbersAtSequence[lowestSequence] == nil { lowestSequence += 1 }
      return lowestSequence <= highestSequence ? lowestSequence : nil
    }
  }

  /// The arrival time of the first of all numbers above the last.
  private var seenSince: Int64? {
    mutating get {
      while let number = seen.first, seenItems[number]?.sequence ?? 0 <= last {
        seenItems[number] = nil
        seen.removeFirst()
      }
      return seen.first.flatMap { seenItems[$0]?.acceptedAt }
    }
  }

  /// Returns the earliest accepted announcement of a waiting line.
  private mutating func first(_ line: WritableKeyPath<Self, NumberQueue>) -> Int64? {
    while let number = self[keyPath: line].first, stages[Int(number)] == .ended { self[keyPath: line].removeFirst() }
    let first = self[keyPath: line].first
    guard let first, stages[Int(first)] == .playing else { return first }
    return self[keyPath: line].second { stages[Int($0)] == .waiting }
  }

  private mutating func settle(_ sequence: Int64) {
    guard sequence > last, numbersAtSequence[sequence] == nil else { return }
    isSettled[Int(sequence)] = true
    pass(to: last)
  }

  private mutating func pass(to sequence: Int64) {
    last = sequence
    while isSettled[Int(last) + 1] { last += 1 }
    hasPassed = last > 0
  }

  private mutating func leaves(_ item: PlaybackItem) {
    waiting[item.number] = nil
    guard item.category.isMoney, let sequence = item.sequence else { return }
    let others = numbersAtSequence[sequence]?.filter { $0 != item.number } ?? []
    numbersAtSequence[sequence] = others.isEmpty ? nil : others
  }

  private mutating func ends(_ item: PlaybackItem, _ ending: Ending) {
    expect(stages[Int(item.number)] != .ended, "ended twice", item.number)
    stages[Int(item.number)] = .ended
    endings[ending, default: 0] += 1
  }

  mutating func expect(_ isSo: Bool, _ fault: StaticString, _ what: Int64) {
    guard !isSo else { return }
    faultCount += 1
    if faults.count < 10 { faults.append("\(fault): \(what)") }
  }
}

/// A first-in, first-out queue that keeps few of the removed numbers.
struct NumberQueue {
  private var kept: [Int64] = []
  private var start = 0

  var first: Int64? { start < kept.count ? kept[start] : nil }

  func second(where isSo: (Int64) -> Bool) -> Int64? { kept[start...].dropFirst().first(where: isSo) }

  mutating func append(_ number: Int64) { kept.append(number) }

  mutating func removeFirst() {
    start += 1
    guard start > 1_000, start * 2 > kept.count else { return }
    kept.removeFirst(start)
    start = 0
  }
}
