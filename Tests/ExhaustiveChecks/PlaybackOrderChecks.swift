// SPDX-License-Identifier: Apache-2.0

import Foundation
import PlaybackOrder
import TestSupport
import Testing

@Suite("A million announcements", .serialized)
struct PlaybackOrderChecks {
  /// The resident memory of this process in KiB; `nil` if the system does not report it.
  private static var residentKiB: Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
  }

  private static let total = 1_000_000

  /// Runs a million announcements, and prints the results.
  private func run(_ name: String, settings: PlaybackOrder.Settings, seed: UInt64) -> PlaybackSimulation {
    var simulation = PlaybackSimulation(total: Self.total, longestBurst: 4_000, settings: settings, seed: seed)
    let clock = ContinuousClock()
    let start = clock.now
    simulation.run(until: Self.total / 4)
    let warm = Self.residentKiB
    simulation.run(until: Self.total)
    let seconds = start.duration(to: clock.now)
    let oracle = simulation.oracle

    #expect(oracle.faultCount == 0, "\(oracle.faults.joined(separator: "\n"))")
    #expect(oracle.acceptedCount == Self.total)
    #expect(oracle.endings.values.reduce(0, +) == Self.total, "0 lost, 0 twice")
    #expect(oracle.waitingCount == 0 && oracle.playing.isEmpty)
    #expect(simulation.peakWaiting > 3_000, "the bursts must be large enough to be meaningful")
    #expect(simulation.peakWaiting < 6_000)
    #expect(Set(oracle.endings.keys) == Set(PlaybackOracle.Ending.allCases))
    #expect(oracle.turns.late > 1_000 && oracle.turns.afterMissing > 1_000 && oracle.interruptions > 100)
    #expect(simulation.pauses > 100 && simulation.missingNumbers > 1_000 && simulation.restarts > 100)
    if let warm, let end = Self.residentKiB {
      #expect(end - warm < 8 * 1_024)
      print("\(name): resident \(warm) KiB after a quarter, \(end) KiB at the end")
    }
    let endings = PlaybackOracle.Ending.allCases.map { "\(oracle.endings[$0] ?? 0) \($0)" }.joined(separator: ", ")
    print(
      """
      \(name): \(Self.total) announcements drained in \(seconds), \(simulation.now / 3_600_000) h of the lane's time; \
      \(endings); \(oracle.turns.afterMissing) after missing numbers, \(oracle.turns.late) late, \
      \(oracle.interruptions) interruptions, \(simulation.pauses) pauses, \(simulation.restarts) restarts; at most \(simulation.peakWaiting) waiting; \
      \(simulation.summaries.begun) summaries of \(simulation.summaries.payments) payments; \(oracle.faultCount) faults
      """)
    return simulation
  }

  @Test("a million announcements are played once and in order with bounded memory, and none is lost")
  func million() {
    let simulation = run("order", settings: PlaybackOrder.Settings(), seed: 4)
    #expect(simulation.summaries.begun == 0)
  }

  @Test("if a backlog is summarised, a million announcements are played once and in order, and none is lost")
  func backlog() {
    let settings = PlaybackOrder.Settings(longestBacklog: 12, longestBacklogMilliseconds: 60_000)
    let simulation = run("backlog", settings: settings, seed: 44)
    let summaries = simulation.summaries
    #expect(summaries.begun > 1_000 && summaries.outdated > 10 && summaries.refused > 10)
  }

  @Test(
    "in small lanes, where rare combinations are frequent, the playback has no fault and loses no announcement",
    arguments: 1...200 as ClosedRange<UInt64>)
  func small(_ seed: UInt64) {
    let settings =
      seed % 2 == 0
      ? PlaybackOrder.Settings(sequencePatience: Int64(seed % 7) * 500)
      : PlaybackOrder.Settings(sequencePatience: Int64(seed % 7) * 500, longestBacklog: Int(seed % 5))
    var simulation = PlaybackSimulation(total: 2_000, longestBurst: Int(seed % 40) + 1, settings: settings, seed: seed)
    simulation.run(until: 2_000)
    #expect(simulation.oracle.faultCount == 0, "\(simulation.oracle.faults.joined(separator: "\n"))")
    #expect(simulation.oracle.endings.values.reduce(0, +) == 2_000)
  }

  @Test("ten thousand waiting announcements, half of them with a sequence number, are played in order or summarised")
  func tenThousand() {
    let items = (1...10_000 as ClosedRange<Int64>).map { number in
      PlaybackItem(number: number, category: .payment, sequence: number % 2 == 0 ? number : nil, acceptedAt: 0)
    }
    func filled(_ settings: PlaybackOrder.Settings) -> PlaybackOrder {
      var order = PlaybackOrder(settings: settings)
      for item in items { order.accept(item) }
      return order
    }
    var order = filled(PlaybackOrder.Settings(longestBacklog: 9_999))
    #expect(order.next(at: 2_000) == .summarise(items))
    order = filled(PlaybackOrder.Settings())
    var heard: [Int64] = []
    while case .play(let item, _) = order.next(at: 2_000) {
      heard.append(item.number)
      order.finished()
    }
    #expect(heard == items.map(\.number))
  }
}
