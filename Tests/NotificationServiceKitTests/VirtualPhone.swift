// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import TestSupport

@testable import NotificationServiceKit

/// A phone with a clock of its own, whose extension processes share one order. It has no files and no sounds: it notes
/// when each sound begins.
struct VirtualPhone {
  /// A sound that was heard.
  struct Sound: Equatable {
    var begin: Int64
    var duration: Int64
    /// The ids of the payments for which the sound stands.
    var ids: [String]
  }

  /// A push that arrives.
  struct Push {
    var arrival: NotificationOrder.Arrival
    var at: Int64
    /// The time in ms until the sound is ready.
    var preparation: Int64 = 0
    var duration: Int64 = 3_000
  }

  /// The work on a push.
  private struct Work {
    var push: Push
    var number: Int64?
    var isPrepared = false
    var isMissed = false
    var isDone = false
  }

  var settings = NotificationOrder.Settings()
  var order = NotificationOrder()
  var now: Int64 = 0
  var canAsk = false
  /// Whether summaries can be made.
  var canSummarise = true
  /// All announcements that the service knows, by which it answers a request for missing ones.
  var known: [Push] = []

  private(set) var sounds: [Sound] = []
  /// The ids in the order of their hand-over, with the time of the hand-over and of the arrival.
  private(set) var handOvers: [(id: String, at: Int64, arrivedAt: Int64)] = []
  private(set) var silent: [String] = []
  /// The largest number of local notifications that waited at the same time.
  private(set) var mostPending = 0
  private var works: [Work] = []
  /// The answers of the service that are on their way.
  private var answers: [(at: Int64, number: Int64, after: Int64, upTo: Int64)] = []
  private var random: SplitMix64

  init(seed: UInt64 = 1) { random = SplitMix64(seed: seed) }

  /// Lets pushes arrive, and time pass until all of them were handed over.
  mutating func run(_ pushes: [Push]) {
    var rest = pushes.sorted { $0.at < $1.at }[...]
    var steps = 0
    while !rest.isEmpty || works.contains(where: { !$0.isDone }) || !answers.isEmpty {
      steps += 1
      guard steps < 1_000_000 else { return }
      while let push = rest.first, push.at <= now {
        works.append(Work(push: push))
        rest.removeFirst()
      }
      answer()
      guard let turn = ask() else { continue }
      let next = [turn, rest.first?.at, answers.map(\.at).min()].compactMap(\.self).min() ?? .max
      now = max(now + 1, next)
    }
  }

  /// Asks for all turns, in a random order.
  ///
  /// - Returns: The next moment at which something may happen; nil if something has happened now.
  private mutating func ask() -> Int64? {
    var happened = false
    var next: Int64 = .max
    for index in works.indices.shuffled(using: &random) where !works[index].isDone {
      let push = works[index].push
      if works[index].number == nil {
        guard let number = order.arrive(push.arrival, at: now, settings) else {
          end(index)
          silent.append(push.arrival.id)
          happened = true
          continue
        }
        works[index].number = number
        happened = true
      }
      guard let number = works[index].number else { continue }
      order.renew(number, at: now, settings)
      if !works[index].isPrepared, now >= push.at + push.preparation {
        order.prepared(number, duration: push.duration, settings)
        works[index].isPrepared = true
      }
      if canAsk, let after = order.claimCatchUp(number, at: now, settings), let upTo = order.catchUpEnd {
        answers.append((now + 200, number, after, upTo))
      }
      switch order.turn(of: number, push.arrival.id, at: now, canAsk: canAsk, settings) {
      case .wait(let until):
        next = min(next, until)
        if !works[index].isPrepared { next = min(next, push.at + push.preparation) }
        // Each process asks again within a second, because the one that asks the service may have ended.
        if canAsk { next = min(next, max(order.catchUpTime(settings) ?? .max, now + 1)) }
        continue
      case .forgotten:
        // A late push has taken the place of the lost one.
        guard works[index].isMissed else { continue }
        end(index)
      case .speak:
        sounds.append(Sound(begin: now, duration: push.duration, ids: [push.arrival.id]))
        end(index)
      case .later(let moment):
        sounds.append(Sound(begin: moment, duration: push.duration, ids: [push.arrival.id]))
        end(index)
      case .inSummary: end(index)
      case .postponed: end(index)
      case .summarise(let members):
        guard canSummarise else {
          order.refuseSummary(number)
          happened = true
          continue
        }
        let duration: Int64 = 4_500
        let mayBegin = order.beginSummary(
          number, of: members.map(\.number), lasting: duration, at: now, canAsk: canAsk, settings)
        guard mayBegin else { continue }
        sounds.append(Sound(begin: now, duration: duration, ids: members.map(\.id)))
        end(index)
      }
      happened = true
    }
    let time = now
    mostPending = max(mostPending, sounds.count { $0.begin > time })
    return happened ? nil : next
  }

  private mutating func end(_ index: Int) {
    works[index].isDone = true
    guard !works[index].isMissed else { return }
    handOvers.append((works[index].push.arrival.id, now, works[index].push.at))
  }

  /// Lets the missing announcements arrive for which the service was asked.
  private mutating func answer() {
    for answer in answers where answer.at <= now {
      for push in known {
        guard let sequence = push.arrival.sequence, sequence > answer.after, sequence <= answer.upTo else { continue }
        guard let number = order.arrive(push.arrival, isMissed: true, at: now, settings) else { continue }
        var push = push
        push.at = now
        works.append(Work(push: push, number: number, isMissed: true))
      }
      order.endCatchUp(answer.number, upTo: answer.upTo, isComplete: true, at: now, settings)
    }
    answers.removeAll { $0.at <= now }
  }

  /// The number of sounds that begin before the one before has ended.
  var overlaps: Int {
    let sorted = sounds.sorted { $0.begin < $1.begin }
    return zip(sorted, sorted.dropFirst()).count { $1.begin < $0.begin + $0.duration }
  }

  /// The ids that were heard, in the order of their sounds.
  var heard: [String] { sounds.sorted { $0.begin < $1.begin }.flatMap(\.ids) }
}

extension VirtualPhone.Push {
  /// A payment with a sequence number; its id is `p` and the number.
  static func payment(
    _ sequence: Int64, at time: Int64, duration: Int64 = 3_000, preparation: Int64 = 0,
    category: PlaybackItem.Category = .payment
  ) -> VirtualPhone.Push {
    VirtualPhone.Push(
      arrival: NotificationOrder.Arrival(
        id: "p\(sequence)", category: category, sequence: sequence,
        amount: category == .payment ? NotificationOrder.Amount(value: "1.00", currency: "USD") : nil, locale: "en-US",
        originalSound: "p\(sequence).wav"),
      at: time, preparation: preparation, duration: duration)
  }
}
