// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PostgreSQLLedger
import WebhookMessages

/// Makes the calls of a service for payments that arrive at random moments.
///
/// Each payment is answered, pushed to a phone, played on its shop's lane, and told to the shop's endpoint of webhooks.
/// Its backend then reads it once. In addition, the load reads everything that a service reads regularly. The shops are
/// those of `scripts/simulate-ledger-load`. Each shop has an account, a device, an endpoint and a lane.
struct PaymentLoad: Sendable {
  let ledger: PostgreSQLLedger
  let shops: Int
  /// Payments per second.
  let rate: Double
  private let times = Times()
  private let run = UUID().uuidString.prefix(8)
  private let clock = ContinuousClock()

  /// Runs the load for a time, and prints the durations of the calls.
  ///
  /// - Parameter moment: Everything that ended before this moment is removed, as a service does each hour; nil to
  ///   remove nothing.
  func run(seconds: Double, pruningBefore moment: Date?) async throws {
    let start = clock.now
    let end = start + .seconds(seconds)
    try await withThrowingTaskGroup { group in
      group.addTask { try await sendPayments(until: end) }
      group.addTask { try await sendPushes(until: end) }
      group.addTask { try await sendWebhooks(until: end) }
      group.addTask { try await read(until: end) }
      if let moment { group.addTask { try await prune(before: moment) } }
      try await group.waitForAll()
    }
    times.print(in: clock.now - start)
  }

  // MARK: - Payments

  private func sendPayments(until end: ContinuousClock.Instant) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      var (next, number) = (clock.now, 0)
      while next < end {
        try await Task.sleep(until: next, clock: clock)
        let payment = SamplePayment(shop: .random(in: 0..<shops), id: "4200002134\(run)-\(number)")
        group.addTask { try await announce(payment) }
        number += 1
        // Payments arrive independently of each other, so the times between them have an exponential distribution.
        next += .seconds(-log(Double.random(in: .leastNonzeroMagnitude...1)) / rate)
      }
    }
  }

  private func announce(_ payment: SamplePayment) async throws {
    let start = clock.now
    _ = try await times.measure("known") {
      try await ledger.known(account: payment.account, key: payment.answer.key, id: payment.id)
    }
    _ = try await times.measure("devices") {
      try await ledger.devices(account: payment.account, named: SamplePayment.device)
    }
    let accepted = try await times.measure("accept") {
      try await ledger.accept(
        answer: payment.answer, playing: payment.announcement, pushing: [payment.push], publishing: [payment.sound])
    }
    times.note("answered", clock.now - start)
    guard let number = accepted.acceptance?.number else { return }
    _ = try await times.measure("playing") { try await ledger.set(number, .playing) }
    _ = try await times.measure("played") {
      try await ledger.set(number, .played, Ledger.Change(heardMilliseconds: 5_076))
    }
    _ = try await times.measure("announcement") {
      try await ledger.announcement(account: payment.account, id: payment.id)
    }
  }

  // MARK: - Deliveries

  /// The time after which an empty outbox is read again.
  private static let pause = Duration.milliseconds(20)

  private func sendPushes(until end: ContinuousClock.Instant) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      var last: Int64 = 0
      while clock.now < end {
        let numbers = try await times.measure("pushes found") { [last] in
          try await ledger.unfinishedPushes(after: last).map(\.number)
        }
        guard let highest = numbers.last else {
          try await Task.sleep(for: Self.pause)
          continue
        }
        last = highest
        _ = try await times.measure("push started") { try await ledger.startSending(numbers) }
        for number in numbers {
          group.addTask {
            try await times.measure("push ended") { _ = try await ledger.finishPush(number, .delivered) }
          }
        }
      }
    }
  }

  private func sendWebhooks(until end: ContinuousClock.Instant) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      var last: Int64 = 0
      while clock.now < end {
        let numbers = try await times.measure("webhooks found") { [last] in
          try await ledger.unfinishedWebhooks(after: last).map(\.number)
        }
        guard let highest = numbers.last else {
          try await Task.sleep(for: Self.pause)
          continue
        }
        last = highest
        _ = try await times.measure("webhook started") { try await ledger.startSending(webhooks: numbers) }
        for number in numbers {
          group.addTask {
            let attempt = Ledger.WebhookAttempt(
              startedAt: Date(), outcome: .delivered, nextAt: nil, patience: 86_400, status: 200, milliseconds: 40)
            try await times.measure("webhook ended") { _ = try await ledger.record(attempt, ofWebhook: number) }
          }
        }
      }
    }
  }

  // MARK: - Reading

  /// Reads what a node and its clients read: each second the events, the version of the keys, a page of the console's list
  /// and the sums of a shop; every ten seconds what `/readyz` and `/metrics` ask for.
  private func read(until end: ContinuousClock.Instant) async throws {
    var (position, second) = (try await ledger.lastEventPosition(), 0)
    while clock.now < end {
      let shop = SamplePayment(shop: .random(in: 0..<shops), id: "none")
      position = try await times.measure("events") { [position] in
        try await ledger.events(after: position, lane: nil, limit: 1_000).last?.position ?? position
      }
      _ = try await times.measure("keys' version") { try await ledger.keysVersion() }
      _ = try await times.measure("list") {
        try await ledger.announcements(account: shop.account, matching: .init(), before: nil, limit: 50)
      }
      _ = try await times.measure("sums of a month") {
        try await ledger.amounts(
          account: shop.account, from: Date(timeIntervalSinceNow: -30 * 86_400), to: Date(), into: 0
        ) { sum, _ in
          sum += 1
          return true
        }
      }
      if second % 10 == 0 {
        _ = try await times.measure("last event") { try await ledger.lastEventPosition() }
        _ = try await times.measure("waiting lanes") { try await ledger.waitingLanes() }
        _ = try await times.measure("disabled endpoints") { try await ledger.disabledWebhookEndpoints() }
        _ = try await times.measure("latest payment") { try await ledger.latestPayment() }
        _ = try await times.measure("needed clips") { try await ledger.neededClips(ofBatches: [], among: nil) }
      }
      second += 1
      try await Task.sleep(for: .seconds(1))
    }
  }

  // MARK: - Pruning

  private func prune(before moment: Date) async throws {
    let pruned = try await times.measure("prune") { try await ledger.prune(finishedBefore: moment) }
    print(
      "pruned announcements \(pruned.announcements) pushes \(pruned.pushes) webhooks \(pruned.webhooks) "
        + "events \(pruned.events)")
    var answers = 0
    try await times.measure("prune answers") {
      while case let count = try await ledger.pruneAnswers(before: moment), count > 0 { answers += count }
    }
    print("pruned answers \(answers)")
  }
}
