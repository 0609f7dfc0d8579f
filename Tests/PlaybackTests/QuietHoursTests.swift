// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import SoundOutputs
import TestSupport
import Testing
import WeeklyTimes

@Suite("Quiet hours and the volume by time of day", .timeLimit(.minutes(2)))
struct QuietHoursTests {
  // The clock of a lane begins at 08:00 UTC on a Friday.
  private static let hour: Int64 = 3_600_000
  private static let utc = TimeZone.gmt

  private static let maker: Player.SummaryMaker = { payments in
    announcement(payments.map { $0.id }.joined(separator: "+"))
  }

  /// Returns a player with quiet hours until 09:00, and from 22:00 on.
  private func started(
    _ lane: TestLane, quiet: String = "22:00-09:00", summarises: Bool = true,
    _ change: (inout Player.Settings) -> Void = { _ in }
  ) async throws -> Player {
    let hours = try WeeklyTimes(quiet, zone: Self.utc)
    return try await lane.started(summary: Self.maker) {
      $0.quietHours = hours
      $0.summarisesQuietPayments = summarises
      change(&$0)
    }
  }

  private func state(_ lane: TestLane, _ numbers: ClosedRange<Int64>) async throws -> [Ledger.State?] {
    var states: [Ledger.State?] = []
    for number in numbers { states.append(try await lane.state(number)) }
    return states
  }

  @Test("announcements in quiet hours end in the state 'quiet', in order, with their sequence numbers")
  func quiet() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane, summarises: false)
    for (id, category) in [("a", PlaybackItem.Category.payment), ("b", .refund), ("c", .information)] {
      _ = try await player.accept(
        announcement(id, category, sequence: category == .information ? nil : id == "a" ? 1 : 2))
    }
    for number in 1...3 as ClosedRange<Int64> { try await lane.event(.quiet, number, of: player) }
    #expect(lane.output.begun.isEmpty)
    #expect(try await lane.ledger.lastPassedSequence(lane: "counter") == 2)
    let status = try await player.status()
    #expect(status.waitingCount == 0 && status.playing == nil)
    #expect(status.quietUntil == lane.clock.date() + 3_600)
    lane.clock.advance(by: Self.hour)
    _ = try await player.accept(announcement("d", sequence: 3))
    try await lane.event(.played, 4, of: player)
    #expect(try await player.status().quietUntil == nil)
    #expect(lane.output.heard == [4])
    #expect(try await state(lane, 1...3) == [.quiet, .quiet, .quiet])
    await player.stop()
  }

  @Test("a replay and a sound file are heard in quiet hours, because a person asked for them")
  func asked() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane)
    _ = try await player.accept(announcement("a"))
    try await lane.event(.quiet, 1, of: player)
    let replay = try await player.replay(1)
    try await lane.event(.played, replay, of: player)
    let file = try await player.accept(StoredAnnouncement(file: URL(filePath: "/x.wav"), id: "x")).number
    try await lane.event(.played, file, of: player)
    #expect(lane.output.heard == [replay, file])
    #expect(try await lane.state(1) == .quiet)
    await player.stop()
  }

  @Test("at the end of the quiet hours, one summary announces the payments that were received in these hours")
  func summary() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane)
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    _ = try await player.accept(announcement("refund", .refund))
    for number in 1...3 as ClosedRange<Int64> { try await lane.event(.quiet, number, of: player) }
    lane.clock.advance(by: Self.hour)
    try await lane.event(.played, 4, of: player)
    let entry = try #require(try await lane.ledger.entry(4))
    #expect(entry.kind == .summary && String(decoding: entry.payload, as: UTF8.self).contains("a+b"))
    #expect(try await lane.ledger.members(ofSummary: 4).map(\.number) == [1, 2])
    #expect(try await state(lane, 1...3) == [.quiet, .quiet, .quiet])
    #expect(lane.output.heard == [4])
    await player.stop()
    // Nothing is told a second time, neither on the same day nor on the next one.
    let next = try await started(lane)
    lane.clock.advance(by: 25 * Self.hour)
    _ = try await next.accept(announcement("day"))
    try await lane.event(.played, 5, of: next)
    #expect(lane.output.heard == [4, 5])
    await next.stop()
  }

  @Test("a player that begins after the quiet hours plays a summary of the payments that were quiet before its start")
  func restart() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane)
    _ = try await player.accept(announcement("a"))
    try await lane.event(.quiet, 1, of: player)
    await player.stop()
    let second = try await started(lane)
    _ = try await second.accept(announcement("b"))
    try await lane.event(.quiet, 2, of: second)
    await second.stop()
    lane.clock.advance(by: 5 * Self.hour)
    let third = try await started(lane)
    try await lane.event(.played, 3, of: third)
    #expect(try await lane.ledger.members(ofSummary: 3).map(\.number) == [1, 2])
    await third.stop()
  }

  @Test(
    "payments that are quiet while summaries are off are never summarised, even if summaries are switched on later"
  )
  func off() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane)
    _ = try await player.accept(announcement("a"))
    try await lane.event(.quiet, 1, of: player)
    await player.stop()
    await (try started(lane, summarises: false)).stop()
    lane.clock.advance(by: Self.hour)
    let third = try await started(lane)
    _ = try await third.accept(announcement("b"))
    try await lane.event(.played, 2, of: third)
    #expect(lane.output.heard == [2])
    await third.stop()
  }

  @Test("a process killed at any moment around the end of quiet hours loses no payment and announces none twice")
  func killed() async throws {
    let lane = try TestLane()
    let copies = Copies()
    lane.renderer.whenAsked { await copies.add(lane.folder) }
    let player = try await started(lane)
    for id in ["a", "b", "c"] { _ = try await player.accept(announcement(id)) }
    for number in 1...3 as ClosedRange<Int64> {
      try await lane.event(.quiet, number, of: player)
      await copies.add(lane.folder)
    }
    lane.clock.advance(by: Self.hour)
    await lane.output.begins(1)
    try await lane.event(.playing, 4, of: player)
    await copies.add(lane.folder)
    lane.output.hear()
    try await lane.event(.played, 4, of: player)
    let isHeard = await copies.count
    await copies.add(lane.folder)
    await player.stop()
    let folders = await copies.folders
    #expect(folders.count >= 8)
    for (place, folder) in folders.enumerated() {
      let copy = try TestLane(copyOf: folder)
      // The copy goes on in the quiet hours, or after them.
      if place.isMultiple(of: 2) { copy.clock.advance(by: Self.hour) }
      copy.output.hearAll()
      let next = try await started(copy)
      copy.clock.advance(by: Self.hour)
      let last = try await next.accept(announcement("last")).number
      try await copy.event(.played, last, of: next)
      try await eventually {
        let (waiting, untold) = (
          try await copy.ledger.unfinished(lane: "counter"), try await copy.ledger.quietPayments(lane: "counter")
        )
        return waiting.isEmpty && untold.isEmpty
      }
      // Each payment was either heard or is named in the one summary that was heard.
      var told: [String] = []
      for number in copy.output.heard where number != last {
        let entry = try #require(try await copy.ledger.entry(number))
        if entry.kind == .summary {
          told += try await copy.ledger.members(ofSummary: number).map(\.id)
        } else {
          told.append(entry.id)
        }
      }
      let isAlreadyTold = place >= isHeard
      let all = try await copy.ledger.recent(10, lane: nil).map(\.id).filter { ["a", "b", "c"].contains($0) }
      #expect(told.sorted() == (isAlreadyTold ? [] : all.sorted()), "copy \(place)")
      await next.stop()
      try FileManager.default.removeItem(at: folder)
    }
  }

  /// Copies of a ledger as a process that is killed leaves it.
  private actor Copies {
    private(set) var folders: [URL] = []
    var count: Int { folders.count }

    func add(_ folder: URL) {
      let copy = FileManager.default.temporaryDirectory.appending(path: "quiet-\(UUID().uuidString)")
      // A file that is being written is copied at the next moment.
      if (try? FileManager.default.copyItem(at: folder, to: copy)) != nil { folders.append(copy) }
    }
  }

  @Test("a payment whose device is lost ends as quiet when quiet hours begin")
  func lostDevice() async throws {
    let lane = try TestLane()
    lane.output.refuse(.deviceLost)
    let player = try await started(lane, quiet: "10:00-11:00")
    _ = try await player.accept(announcement("a"))
    try await lane.event(.deviceLost, 1, of: player)
    lane.output.hearAll()
    lane.clock.advance(by: 2 * Self.hour)
    try await lane.event(.quiet, 1, of: player)
    #expect(lane.output.begun.isEmpty)
    lane.clock.advance(by: Self.hour)
    try await lane.event(.played, 2, of: player)
    #expect(try await lane.ledger.members(ofSummary: 2).map(\.number) == [1])
    await player.stop()
  }

  @Test("if a summary is not heard before the next quiet hours, its payments are part of the next summary")
  func secondNight() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await started(lane)
    _ = try await player.accept(announcement("a"))
    try await lane.event(.quiet, 1, of: player)
    try await player.pause()
    lane.clock.advance(by: Self.hour)
    try await lane.event(.waiting, 2, of: player)
    // It is 22:00.
    lane.clock.advance(by: 13 * Self.hour)
    _ = try await player.accept(announcement("b"))
    try await player.resume()
    try await lane.event(.quiet, 2, of: player)
    try await lane.event(.quiet, 3, of: player)
    lane.clock.advance(by: 11 * Self.hour)
    try await lane.event(.played, 4, of: player)
    #expect(try await lane.ledger.members(ofSummary: 4).map(\.number) == [1, 3])
    #expect(lane.output.heard == [4])
    await player.stop()
  }

  @Test("a backlog in quiet hours gets no summary of its own, and each of its payments ends as quiet")
  func backlog() async throws {
    let lane = try TestLane()
    let player = try await started(lane, quiet: "09:00-10:00") { $0.order.longestBacklog = 2 }
    try await player.pause()
    for id in 1...5 { _ = try await player.accept(announcement("\(id)", sequence: Int64(id))) }
    lane.clock.advance(by: Self.hour)
    try await player.resume()
    for number in 1...5 as ClosedRange<Int64> { try await lane.event(.quiet, number, of: player) }
    #expect(lane.output.begun.isEmpty)
    lane.output.hearAll()
    lane.clock.advance(by: Self.hour)
    let summary = try #require(try await lane.event(.played, of: player).number)
    #expect(try await lane.ledger.members(ofSummary: summary).map(\.number) == [1, 2, 3, 4, 5])
    await player.stop()
  }

  @Test("a rule sets the volume when its time begins, and until then the volume that a person has set applies")
  func volume() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let rules = try VolumeRules("09:00-10:00=20", zone: Self.utc)
    let player = try await lane.started {
      $0.volume = 80
      $0.volumes = rules
    }
    func heard(_ id: String) async throws -> (Int?, Bool) {
      let number = try await player.accept(announcement(id)).number
      try await lane.event(.played, number, of: player)
      let status = try await player.status()
      #expect(status.volume == lane.output.sounds.last?.volume)
      return (lane.output.sounds.last?.volume, status.isVolumeByTime)
    }
    #expect(try await heard("a") == (80, false))
    try await player.setVolume(60)
    #expect(try await heard("b") == (60, false))
    lane.clock.advance(by: Self.hour)
    #expect(try await heard("c") == (20, true))
    try await player.setVolume(5)
    #expect(try await heard("d") == (5, false))
    lane.clock.advance(by: Self.hour)
    #expect(try await heard("e") == (60, false))
    try await player.setVolume(nil)
    #expect(try await heard("f") == (80, false))
    await player.stop()
  }
}
