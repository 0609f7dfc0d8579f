// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation
public import Ledger
import PushDelivery
import PushMessages
import TestSupport

/// Many pushes to many devices through a simulator with random faults. The simulator's own record is compared with the
/// ledger.
public struct RandomFaults: Sendable {
  public var pushes: Int
  public var devices: Int
  public var connections = 2
  public var seed: UInt64 = 1
  /// The timeout of the client. A push that is never answered is sent again after it.
  public var timeout: Duration = .seconds(2)
  /// Called with the number of pushes that have ended, after every 10,000 of them.
  public var progress: @Sendable (Int) -> Void = { _ in }

  /// The number of pushes that are put into the outbox together.
  private static let batch = 500
  /// The number of batches that are in the outbox at a time, so that the memory of a run does not grow with its length.
  private static let batchesAhead = 40

  public init(pushes: Int, devices: Int) {
    self.pushes = pushes
    self.devices = devices
  }

  /// The faults of the simulator, in parts of 1,000 requests.
  private static let faults: [(Fault, Double)] = [
    (Fault(.answer(status: 500, reason: "InternalServerError")), 5),
    (Fault(.answer(status: 500, reason: "InternalServerError"), .afterProcessing), 5),
    (Fault(.answer(status: 503, reason: "ServiceUnavailable")), 3),
    (Fault(.answer(status: 429, reason: "TooManyRequests")), 5),
    (Fault(.answer(status: 400, reason: "PayloadEmpty")), 3),
    (Fault(.answer(status: 400, reason: "BadDeviceToken")), 2),
    (Fault(.reset(code: 7)), 5), (Fault(.reset(code: 2)), 5), (Fault(.reset(code: 2), .afterProcessing), 5),
    (Fault(.goAway), 2), (Fault(.goAway, .afterProcessing), 2),
    (Fault(.closeConnection), 1), (Fault(.closeConnection, .afterProcessing), 1),
    (Fault(.never), 1), (Fault(.never, .afterProcessing), 1), (Fault(.delay(milliseconds: 20)), 5),
  ]

  /// What a run has shown.
  public struct Findings: Sendable {
    /// The promises that were broken, in words. Empty if there are none.
    public var faults: [String] = []
    public var states: [Ledger.Push.State: Int] = [:]
    public var duplicates = 0
    public var seconds = 0.0
    public var requests = 0
    /// How often each fault happened, by its name.
    public var happened: [String: Int] = [:]
  }

  /// Every tenth device is dead: the app was removed after the registration. Another tenth of the devices came back:
  /// they were registered after the time that the simulator gives.
  private func isDead(_ device: Int) -> Bool { device % 10 == 3 }
  private func isBack(_ device: Int) -> Bool { device % 10 == 7 }

  public func run() async throws -> Findings {
    let start = Date()
    return try await PushSite.with { configuration in
      configuration.faults = .rates(Self.faults.map { Faults.Rate($0.0, probability: $0.1 / 1_000) })
      configuration.seed = seed
      configuration.remembersDeliveries = false
      configuration.recordSize = pushes
      configuration.devices = (0..<devices).map { APNSSimulator.Device(PushSite.token($0)) }
    } _: { site in
      for device in 0..<devices where isDead(device) || isBack(device) {
        let moment = start.addingTimeInterval(isDead(device) ? 1_000_000 : -1_000_000)
        site.simulator.set(
          APNSSimulator.Device(
            PushSite.token(device), state: .unregistered(since: Int64(moment.timeIntervalSince1970 * 1_000))))
      }
      return try await run(at: site, start: start)
    }
  }

  private func run(at site: PushSite, start: Date) async throws -> Findings {
    let outbox = try Outbox(remembersReports: false)
    for device in 0..<devices { try await outbox.register(device) }
    // The order in which the simulator first accepts pushes to each device, by the sequence in the payload.
    let acceptances = site.simulator.acceptances()
    let order = Task {
      var last: [String: Int] = [:]
      var faults: [String] = []
      for await push in acceptances {
        let sequence = Self.sequence(of: push.payload)
        if sequence < last[push.device, default: 0] { faults.append("\(push.device.suffix(4)): \(sequence) overtook") }
        last[push.device] = max(last[push.device, default: 0], sequence)
      }
      return faults
    }
    var settings = PushSender.Settings()
    settings.retry.first = .milliseconds(20)
    settings.retry.longest = .milliseconds(200)
    settings.appPause = 0.05
    let client = try site.client(count: connections, timeout: timeout)
    let ended = Locked<[Int64: Int]>([:])
    let (places, place) = AsyncStream<Void>.makeStream()
    for _ in 0..<Self.batchesAhead { place.yield() }
    try await outbox.send(
      pushes, with: [Outbox.app: client], settings: settings,
      onReport: { report in
        guard case .ended(let push) = report else { return }
        let count = ended.withLock { ended in
          ended[push.number, default: 0] += 1
          return ended.count
        }
        if count.isMultiple(of: Self.batch) { place.yield() }
        if count.isMultiple(of: 10_000) { progress(count) }
      }
    ) { sender in
      var random = SplitMix64(seed: seed)
      var missing = pushes
      var free = places.makeAsyncIterator()
      while missing > 0, await free.next() != nil {
        let count = min(Self.batch, missing)
        let batch = (0..<count).map { _ in
          Outbox.alert(to: Int.random(in: 0..<devices, using: &random), expiresAt: start.addingTimeInterval(86_400))
        }
        _ = try await outbox.ledger.accept(batch, account: Outbox.account)
        sender.lookForPushes()
        missing -= count
      }
    }
    // This ends the stream. The elements that are already in the stream are still read.
    order.cancel()
    var findings = Findings()
    findings.seconds = Date().timeIntervalSince(start)
    findings.faults = await order.value
    try await compare(outbox, site.simulator, ended.withLock { $0 }, &findings)
    return findings
  }

  private static func sequence(of payload: [UInt8]) -> Int {
    // The number is the last value of the payload, before two brackets.
    let digits = payload.dropLast(2).reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return Int(String(decoding: digits.reversed(), as: UTF8.self)) ?? 0
  }

  private func compare(
    _ outbox: Outbox, _ simulator: APNSSimulator, _ ended: [Int64: Int], _ findings: inout Findings
  ) async throws {
    func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) { if !isTrue { findings.faults.append(text()) } }
    expect(ended.count == pushes, "\(ended.count) of \(pushes) pushes were reported")
    expect(ended.values.allSatisfy { $0 == 1 }, "a push was reported as ended more than once")
    let states = try await outbox.ledger.pushCounts()
    findings.states = states
    expect(states.filter { $0.key.isFinal }.values.reduce(0, +) == pushes, "pushes are left: \(states)")
    expect(states[.expired] == nil, "a push expired a day early")
    let record = simulator.record
    var known = 0
    for device in 0..<devices {
      var after: Int64 = 0
      while true {
        let page = try await outbox.ledger.pushes(
          account: Outbox.account, device: "device-\(device)", afterSequence: after, limit: 1_000)
        guard let last = page.last?.sequence else { break }
        after = last
        for push in page {
          let entry = record[push.id]
          if entry != nil { known += 1 }
          expect(push.state != .delivered || entry != nil, "push \(push.number) is delivered, and APNs has not seen it")
          expect(entry.map { $0.accepted <= push.attempts } ?? true, "push \(push.number) was accepted too often")
          let isGone = isDead(device) || isBack(device)
          let mayFail = ["PayloadEmpty", "BadDeviceToken"].contains(push.reason)
          expect(push.state != .failed || mayFail, "push \(push.number) failed with \(push.reason ?? "no reason")")
          expect((push.state == .unregistered) == isGone || push.state == .failed, "push \(push.number): \(push.state)")
        }
      }
      let token = try await outbox.device(device)?.tokens[.alert]
      let wasPushed = after > 0
      if isDead(device), wasPushed, states[.unregistered, default: 0] > 0 {
        expect(token == nil, "the token of device \(device) is dead, and was kept")
      }
      if !isDead(device) { expect(token != nil, "the token of device \(device) is valid, and was deleted") }
    }
    expect(known == record.count, "APNs has pushes that the ledger does not have")
    let counts = simulator.counts
    findings.requests = counts.requests
    findings.happened = counts.faults
    findings.duplicates = counts.duplicates
  }
}
