// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import Testing

@Suite("Playing order", .timeLimit(.minutes(2)))
struct OrderTests {
  @Test("a payment interrupts information, which then plays again from its start")
  func interruption() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    _ = try await player.accept(announcement("news", .information))
    try await lane.event(.playing, 1, of: player)
    await lane.output.begins(1)
    _ = try await player.accept(announcement("money"))
    await lane.output.begins(2)
    lane.output.hear()
    await lane.output.begins(3)
    lane.output.hear()
    try await lane.event(.played, 1, of: player)
    #expect(lane.output.begun == [1, 2, 1])
    #expect(lane.output.heard == [2, 1])
    #expect(
      try await lane.kinds(1) == [.accepted, .rendering, .waiting, .playing, .interrupted, .playing, .played])
    await player.stop()
  }

  @Test("nothing interrupts a payment")
  func uninterrupted() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    _ = try await player.accept(announcement("money"))
    await lane.output.begins(1)
    for (id, category) in [("c", PlaybackItem.Category.alert), ("d", .refund), ("e", .payment)] {
      _ = try await player.accept(announcement(id, category))
    }
    lane.output.hearAll()
    for number in 2...4 { try await lane.event(.played, Int64(number), of: player) }
    #expect(lane.output.heard == [1, 3, 4, 2])
    #expect(lane.output.begun == [1, 3, 4, 2])
    await player.stop()
  }

  @Test("the player waits for a missing number, then skips and reports it; if it arrives later, it is reported as late")
  func missing() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await lane.started()
    _ = try await player.accept(announcement("1", sequence: 1))
    try await lane.event(.played, 1, of: player)
    _ = try await player.accept(announcement("4", sequence: 4))
    try await lane.event(.waiting, 2, of: player)
    _ = try await player.status()
    #expect(lane.output.begun == [1])
    lane.clock.advance(by: 2_000)
    try await lane.event(.played, 2, of: player)
    let event = try await lane.event(.sequenceMissing, of: player)
    #expect(event.number == 2 && event.detail == ["missing": "2-3"])
    _ = try await player.accept(announcement("3", sequence: 3))
    try await lane.event(.played, 3, of: player)
    #expect(try await lane.event(.sequenceLate, of: player).number == 3)
    #expect(try await lane.ledger.lastPassedSequence(lane: "counter") == 4)
    await player.stop()
  }

  @Test("payments are played in the order of their sequence numbers, not of their arrival")
  func reordered() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    _ = try await player.accept(announcement("1", sequence: 1))
    await lane.output.begins(1)
    for sequence in [4, 2, 3] as [Int64] {
      _ = try await player.accept(announcement("\(sequence)", sequence: sequence))
    }
    lane.output.hearAll()
    for number in 2...4 { try await lane.event(.played, Int64(number), of: player) }
    #expect(lane.output.heard == [1, 3, 4, 2])
    #expect(try await !lane.ledger.events(limit: 1000).contains { $0.kind == .sequenceMissing })
    await player.stop()
  }

  @Test("after a restart, no announcement waits for a number that was cancelled")
  func cancelledNumber() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for sequence in 1...3 as ClosedRange<Int64> {
      _ = try await player.accept(announcement("\(sequence)", sequence: sequence))
    }
    try await lane.event(.playing, 1, of: player)
    #expect(try await player.cancel(2))
    await player.stop(finishingPlaying: false)
    lane.output.hearAll()
    let next = try await lane.started()
    try await lane.event(.played, 3, of: next)
    #expect(lane.output.heard == [1, 3])
    #expect(try await !lane.ledger.events(limit: 1000).contains { $0.kind == .sequenceMissing })
    await next.stop()
  }

  @Test("waiting information expires after its lifetime, and a payment never expires")
  func expiry() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    try await player.pause()
    let soon = lane.clock.date() + 1
    _ = try await player.accept(announcement("news", .information, expiresAt: soon))
    _ = try await player.accept(announcement("money", expiresAt: soon))
    try await lane.event(.waiting, 2, of: player)
    lane.clock.advance(by: 1_000)
    try await lane.event(.expired, 1, of: player)
    lane.output.hearAll()
    try await player.resume()
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [2])
    await player.stop()
  }

  @Test(
    "a copy of the ledger at any step of a run can be continued, and the remaining announcements play once and in order"
  )
  func restartAtEveryStep() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in 1...10 { _ = try await player.accept(announcement("\(id)", sequence: Int64(id))) }
    var copies: [(folder: URL, heard: Int)] = []
    defer { for copy in copies { try? FileManager.default.removeItem(at: copy.folder) } }
    func copy(heard: Int) throws {
      let folder = lane.folder.deletingLastPathComponent().appending(path: "copy-\(UUID().uuidString)")
      try FileManager.default.copyItem(at: lane.folder, to: folder)
      copies.append((folder, heard))
    }
    for number in 1...10 as ClosedRange<Int64> {
      try await lane.event(.playing, number, of: player)
      if number < 10 { try await lane.event(.waiting, min(10, number + 2), of: player) }
      try copy(heard: Int(number) - 1)
      lane.output.hear()
      try await lane.event(.played, number, of: player)
      try copy(heard: Int(number))
    }
    await player.stop()
    #expect(lane.output.heard == (1...10).map { Int64($0) })
    for copy in copies {
      let again = try TestLane(copyOf: copy.folder)
      again.output.hearAll()
      let player = try await again.started()
      try await again.event(.played, 10, of: player)
      await player.stop()
      #expect(again.output.heard == (1...10).map { Int64($0) }.suffix(10 - copy.heard))
      let events = try await again.ledger.events(limit: 1000)
      #expect(events.filter { $0.kind == .played }.compactMap(\.number) == (1...10).map { Int64($0) })
      #expect(!events.contains { $0.kind == .sequenceLate || $0.kind == .sequenceMissing })
    }
  }

  @Test("a player also plays announcements that another process has accepted")
  func elsewhere() async throws {
    let lane = try TestLane()
    lane.output.hearAll()
    let player = try await lane.started()
    _ = try await player.status()
    _ = try await lane.ledger.accept(
      StoredAnnouncement(id: "a", lane: "counter", category: .payment, payload: Data("{}".utf8)))
    _ = try await lane.ledger.accept(
      StoredAnnouncement(id: "b", lane: "elsewhere", category: .payment, payload: Data("{}".utf8)))
    lane.clock.advance(by: 200)
    try await lane.event(.played, 1, of: player)
    #expect(try await lane.state(2) == .accepted)
    await player.stop()
  }
}
