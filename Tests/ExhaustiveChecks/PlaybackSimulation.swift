// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import TestSupport

/// A lane with a simulated clock and output. Announcements arrive in bursts; some are late, repeated or missing. Some
/// are cancelled or fail, and the lane is paused now and then. The oracle sees every event.
struct PlaybackSimulation {
  private(set) var oracle: PlaybackOracle
  private(set) var now: Int64 = 0
  private(set) var peakWaiting = 0
  private(set) var summaries = (begun: 0, refused: 0, outdated: 0, payments: 0)
  private(set) var pauses = 0
  private(set) var restarts = 0
  private(set) var missingNumbers = 0

  private var order: PlaybackOrder
  private var random: SplitMix64
  private let total: Int
  private let longestBurst: Int
  private var accepted: Int64 = 0
  private var sequence: Int64 = 0
  /// The announcements that are on their way, by their time of arrival.
  private var delayed: [(at: Int64, category: PlaybackItem.Category, sequence: Int64)] = []
  private var burst = (rises: true, target: 10)
  private var soundEnds: Int64?
  private var pauseEnds: Int64?
  private var summary: (readyAt: Int64, madeFor: Int64, numbers: [Int64])?
  private var gapEnds: Int64?
  private var summaryNumber: Int64 = 1 << 40

  init(total: Int, longestBurst: Int, settings: PlaybackOrder.Settings, seed: UInt64) {
    self.total = total
    self.longestBurst = longestBurst
    order = PlaybackOrder(settings: settings)
    oracle = PlaybackOracle(announcements: total, sequences: total * 2, patience: settings.sequencePatience)
    random = SplitMix64(seed: seed)
  }

  /// Runs until the given number of announcements were accepted, or until the last one ends if that is the total.
  mutating func run(until count: Int) {
    while accepted < count || count == total && (oracle.waitingCount > 0 || !oracle.playing.isEmpty) { step() }
  }

  private mutating func step() {
    come()
    changeAtRandom()
    oracle.expires(order.removeExpired(at: now), at: now)
    decide()
    if order.playing == nil, chance(100) { restart() }
    oracle.expect(order.waitingCount == oracle.waitingCount, "another number wait", Int64(order.waitingCount))
    peakWaiting = max(peakWaiting, order.waitingCount)
    passTime()
  }

  // MARK: What comes

  private mutating func come() {
    if burst.rises, accepted < total {
      for _ in 0..<chance(1...8) { announce() }
      if order.waitingCount >= burst.target { burst = (false, chance(4) ? Int.random(in: 0...200, using: &random) : 0) }
    } else if !burst.rises, order.waitingCount <= burst.target {
      burst = (true, chance(3) ? Int.random(in: 1...longestBurst, using: &random) : chance(1...12))
    } else if accepted < total, chance(6) {
      announce()
    }
    while let next = delayed.first, next.at <= now || accepted >= total {
      delayed.removeFirst()
      accept(next.category, next.sequence)
    }
  }

  private mutating func announce() {
    let category: PlaybackItem.Category =
      switch chance(1...100) {
      case ...60: .payment
      case ...66: .refund
      case ...76: .alert
      default: .information
      }
    guard category.isMoney ? chance(1...10) <= 7 : chance(8) else { return accept(category, nil) }
    if chance(300), sequence > 20 { return accept(category, sequence - Int64(chance(0...20))) }
    sequence += 1
    while chance(100) {
      missingNumbers += 1
      sequence += 1
    }
    guard chance(25) else { return accept(category, sequence) }
    let at = now + Int64(chance(0...6_000))
    let place = delayed.firstIndex { $0.at > at } ?? delayed.endIndex
    delayed.insert((at, category, sequence), at: place)
  }

  private mutating func accept(_ category: PlaybackItem.Category, _ sequence: Int64?) {
    guard accepted < total else { return }
    accepted += 1
    let item = PlaybackItem(
      number: accepted, category: category, sequence: sequence, acceptedAt: now,
      expiresAt: chance(3) ? now + Int64(chance(0...900_000)) : nil)
    order.accept(item)
    if chance(100) { order.accept(item) }
    oracle.accepts(item)
  }

  // MARK: Events from outside

  private mutating func changeAtRandom() {
    if accepted > 0, chance(20) {
      let number = Int64.random(in: max(1, accepted - 3_000)...accepted, using: &random)
      oracle.removes(number, answer: order.remove(number), chance(2) ? .cancelled : .failed)
    }
    if accepted > 0, chance(10) {
      let number = Int64.random(in: max(1, accepted - 100)...accepted, using: &random)
      order.setDuration(Int64(chance(200...6_000)), of: number)
    }
    if !oracle.playing.isEmpty, chance(100) { end(.cancelled) }
    if let ends = pauseEnds, ends <= now {
      pauseEnds = nil
      order.resume()
    } else if pauseEnds == nil, chance(500) {
      pauses += 1
      pauseEnds = now + Int64(chance(1...10_000))
      order.pause()
    }
    if let ends = soundEnds, ends <= now { end(chance(100) ? .failed : .played) }
  }

  private mutating func end(_ ending: PlaybackOracle.Ending) {
    soundEnds = nil
    order.finished()
    oracle.finishes(ending)
  }

  // MARK: Decisions of the lane

  private mutating func decide() {
    gapEnds = nil
    if let made = summary {
      guard made.readyAt <= now else { return }
      summary = nil
      begin(made)
    }
    while true {
      let ahead = chance(8) ? order.upcoming(1, at: now).first : nil
      switch order.next(at: now) {
      case .play(let item, let turn):
        oracle.expect(pauseEnds == nil && oracle.playing.isEmpty, "began beside another or paused", item.number)
        oracle.expect(ahead == nil || ahead == item, "said ahead", item.number)
        oracle.starts(item, turn, at: now)
        soundEnds = now + Int64(chance(1...3_000))
      case .interrupt:
        oracle.expect(pauseEnds == nil, "interrupted while paused", now)
        oracle.interrupts(at: now)
        soundEnds = nil
        oracle.expect(order.interrupted(), "not interrupted", now)
        continue
      case .summarise(let payments):
        oracle.expect(oracle.playing.isEmpty && pauseEnds == nil, "summarised meanwhile", Int64(payments.count))
        guard !chance(10) else {
          summaries.refused += 1
          order.refuseSummary()
          continue
        }
        summary = (now + Int64(chance(3) ? 0 : chance(0...1_500)), now, payments.map(\.number))
        if summary?.readyAt == now { return decide() }
      case .wait(let moment):
        oracle.expect(pauseEnds == nil, "waits while paused", now)
        oracle.rests(at: now, until: moment)
        gapEnds = moment
      case .idle:
        if pauseEnds == nil { oracle.rests(at: now, until: nil) }
      }
      return
    }
  }

  private mutating func begin(_ made: (readyAt: Int64, madeFor: Int64, numbers: [Int64])) {
    summaryNumber += 1
    let item = PlaybackItem(number: summaryNumber, category: .payment, acceptedAt: now)
    guard let payments = order.began(summary: item, of: made.numbers, at: now) else {
      oracle.expect(made.madeFor < now || pauseEnds != nil, "a summary made at once was refused", made.madeFor)
      summaries.outdated += 1
      return
    }
    oracle.expect(pauseEnds == nil && payments.map(\.item.number) == made.numbers, "another summary", made.madeFor)
    for (payment, turn) in payments {
      oracle.expect(payment.category == .payment, "summarised", payment.number)
      oracle.starts(payment, turn, at: now)
    }
    summaries.begun += 1
    summaries.payments += payments.count
    soundEnds = now + Int64(chance(1_000...6_000))
  }

  /// Checks that a queue restored from a ledger says the same in the same order.
  private mutating func restart() {
    restarts += 1
    var again = PlaybackOrder(settings: order.settings, lastSequence: order.lastSequence)
    for (item, hasEnded) in oracle.restored {
      again.accept(item)
      if hasEnded { _ = again.remove(item.number) }
    }
    let (before, after) = (order.upcoming(.max, at: now), again.upcoming(.max, at: now))
    oracle.expect(before.map(\.number) == after.map(\.number), "another order after a restart", now)
    oracle.expect(before.count == oracle.waitingCount, "another number after a restart", now)
  }

  // MARK: Time and chance

  private mutating func passTime() {
    let moments = [soundEnds, gapEnds, pauseEnds, summary?.readyAt, delayed.first?.at].compactMap { $0 }
    let next = moments.min() ?? now + 1
    if burst.rises, accepted < total {
      now = min(max(next, now), now + Int64(chance(0...40)))
    } else {
      now = max(now, chance(4) && next > now ? Int64.random(in: now...next, using: &random) : next)
    }
  }

  /// Returns true once in this many times, at random.
  private mutating func chance(_ times: Int) -> Bool { Int.random(in: 1...times, using: &random) == 1 }
  private mutating func chance(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
}
