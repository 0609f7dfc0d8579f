// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ConcurrencySupport
import Foundation
import GRDB
import Ledger
import PlaybackOrder
import SoundOutputTestSupport
import SpeechEngine
import SQLiteLedger
import Testing
import TestSupport

@testable import Playback
@testable import SoundOutputs

/// A manual clock whose calendar can be set.
private final class SetCalendar: PlayerClock {
  private let steady: ManualClock
  let offset = Locked(0.0)

  init(_ steady: ManualClock) { self.steady = steady }
  func now() -> Int64 { steady.now() }
  func date() -> Date { steady.date() + offset.withLock { $0 } }
  func sleep(until moment: Int64) async { await steady.sleep(until: moment) }
}

/// A manual clock that calls a closure when it is next asked for the date. A player's task asks after each message.
private final class WatchedClock: PlayerClock {
  private let steady: ManualClock
  private let closure = Locked<(@Sendable () -> Void)?>(nil)

  init(_ steady: ManualClock) { self.steady = steady }
  func atNextDate(_ closure: @escaping @Sendable () -> Void) { self.closure.withLock { $0 = closure } }
  func now() -> Int64 { steady.now() }
  func sleep(until moment: Int64) async { await steady.sleep(until: moment) }

  func date() -> Date {
    let closure = closure.withLock { closure in
      defer { closure = nil }
      return closure
    }
    closure?()
    return steady.date()
  }
}

@Suite("Player race conditions", .timeLimit(.minutes(2)))
struct PlayerRaceTests {
  /// The player has its own ledger and a clock whose calendar can be set.
  @Test("a player command takes effect even after the wall clock was set back")
  func calendarSetBack() async throws {
    let lane = try TestLane()
    let clock = SetCalendar(lane.clock)
    let ledger = try SQLiteLedger(at: lane.folder.appending(path: "own.sqlite"), now: { clock.date() })
    let player = Player(lane: "counter", ledger: ledger, output: lane.output, render: lane.renderer, clock: clock)
    try await player.start()
    _ = try await player.accept(announcement("a"))
    await lane.output.begins(1)
    clock.offset.withLock { $0 = -3_600 }
    try await ledger.send(.skip(nil), lane: "counter")
    lane.clock.advance(by: 200)
    try await lane.event(.cancelled, 1, of: player)
    #expect(try await ledger.entry(1)?.state == .cancelled)
    #expect(lane.output.heard.isEmpty)
    await player.stop(finishingPlaying: false)
  }

  @Test("a skip applies to the announcement that was playing when it was requested, and not to the next one")
  func aimedSkip() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    try await lane.event(.playing, 1, of: player)
    try await lane.event(.waiting, 2, of: player)
    try await lane.ledger.send(.skip(1), lane: "counter")
    lane.output.hear()
    await lane.output.begins(2)
    try await lane.ledger.send(.cancel(3), lane: "counter")  // read together with the skip; no such announcement
    lane.clock.advance(by: 200)
    lane.output.hearAll()
    try await lane.event(.played, 2, of: player)
    #expect(try await lane.state(1) == .played)
    await player.stop(finishingPlaying: false)
  }

  @Test("an announcement of an account with the longest name can be replayed")
  func longAccount() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    var one = announcement("a")
    one.account = String(repeating: "x", count: 255)
    _ = try await player.accept(one)
    lane.output.hearAll()
    try await lane.event(.played, 1, of: player)
    #expect(try await player.replay(1) == 2)
    try await lane.event(.played, 2, of: player)
    await player.stop()
  }

  @Test("the queue's view shows the playing announcement and counts hundreds of waiting ones")
  func viewOfMany() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    try await player.pause()
    for id in 0..<250 { _ = try await player.accept(announcement("\(id)", .information)) }
    let payment = try await player.accept(announcement("p")).number
    try await player.resume()
    try await lane.event(.playing, payment, of: player)
    _ = try await player.status()
    let view = try await LaneView.of(lane: "counter", in: lane.ledger, at: lane.clock.date())
    #expect(view.playing?.number == payment)
    #expect(view.waitingCount == 250)
    #expect(view.waiting.count == LaneView.longestList)
    await player.stop(finishingPlaying: false)
  }

  /// A player whose ledger waits 50 ms for another program's transaction.
  private func impatientPlayer(
    of lane: TestLane, clock: (any PlayerClock)? = nil
  ) throws -> (Player, any Ledger.Store, URL) {
    let file = lane.folder.appending(path: "busy.sqlite")
    var options = SQLiteLedger.Options()
    options.busyTimeout = 0.05
    let ledger = try SQLiteLedger(at: file, options: options)
    let player = Player(
      lane: "counter", ledger: ledger, output: lane.output, render: lane.renderer, clock: clock ?? lane.clock)
    return (player, ledger, file)
  }

  @Test("while the ledger cannot be written, a player reports the error and can be stopped")
  func ledgerFails() async throws {
    let lane = try TestLane()
    let (player, _, file) = try impatientPlayer(of: lane)
    try await player.start()
    for id in ["a", "b"] { _ = try await player.accept(announcement(id)) }
    try await lane.event(.playing, 1, of: player)
    // A transaction of another program that does not end.
    let holder = try LockHolder(file)
    lane.output.hear()
    try await eventually { try await player.status().blockage != nil }
    #expect(try await player.status().blockage?.code == "busy")
    try await player.pause()
    #expect(try await player.status().isPaused)
    #expect(lane.output.begun == [1], "nothing follows a change that cannot be written")
    await player.stop(finishingPlaying: false)
    try holder.release()
  }

  /// The player reads both messages at once. Before it answers the second, it tries to write the end of the sound.
  @Test("a status request at the end of a sound does not wait for the ledger")
  func statusTogetherWithEnd() async throws {
    let lane = try TestLane()
    let clock = WatchedClock(lane.clock)
    let (player, _, file) = try impatientPlayer(of: lane, clock: clock)
    try await player.start()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.playing, 1, of: player)
    let holder = try LockHolder(file)
    let answer = Locked<LaneStatus?>(nil)
    clock.atNextDate {
      player.mailbox.post(.ended(PlayEnding(result: .success(.heard), at: clock.now())))
      player.mailbox.post(.status(Reply { status in answer.withLock { $0 = try? status.get() } }))
    }
    try await player.setVolume(50)
    try await eventually("the status is answered", within: .seconds(60)) { answer.withLock { $0 != nil } }
    #expect(answer.withLock { $0?.blockage?.code } == "busy")
    // The sound itself must end too, because the test has only posted the message about its end.
    lane.output.hear()
    await player.stop(finishingPlaying: false)
    try holder.release()
  }

  @Test("while the ledger cannot be written, commands that need the ledger are refused with its error")
  func commandsWhileLedgerFails() async throws {
    let lane = try TestLane()
    let (player, ledger, file) = try impatientPlayer(of: lane)
    try await player.start()
    for id in ["a", "b", "c"] { _ = try await player.accept(announcement(id)) }
    try await lane.event(.playing, 1, of: player)
    try await lane.event(.waiting, 3, of: player)
    let holder = try LockHolder(file)

    // The change itself cannot be written.
    let first = await #expect(throws: LedgerError.self) { try await player.cancel(3) }
    #expect(first?.code == .busy)
    // The player still tries to write the first change.
    #expect(await #expect(throws: LedgerError.self) { try await player.cancel(2) }?.code == .busy)
    #expect(await #expect(throws: LedgerError.self) { try await player.skip() }?.code == .busy)
    #expect(await #expect(throws: LedgerError.self) { try await player.replay(1) }?.code == .busy)

    try holder.release()
    lane.output.hearAll()
    // The next attempt follows after a pause, and the next sound after a gap.
    try await eventually {
      lane.clock.advance(by: 1_000)
      return try await ledger.entry(2)?.state == .played
    }
    #expect(try await ledger.entry(3)?.state == .cancelled)
    #expect(lane.output.heard == [1, 2], "an announcement whose cancellation was written late is not played")
    await player.stop()
  }

  @Test("a skip that cannot be written to the ledger is answered with the ledger's error")
  func skipWhileLedgerFails() async throws {
    let lane = try TestLane()
    let (player, _, file) = try impatientPlayer(of: lane)
    try await player.start()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.playing, 1, of: player)
    _ = try await player.status()
    let holder = try LockHolder(file)
    #expect(await #expect(throws: LedgerError.self) { try await player.skip() }?.code == .busy)
    try holder.release()
    await player.stop(finishingPlaying: false)
  }

  @Test("the player does not play an announcement that was ended in the ledger")
  func endedElsewhere() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    try await player.pause()
    _ = try await player.accept(announcement("a"))
    try await lane.event(.waiting, 1, of: player)
    _ = try await player.status()
    try await lane.ledger.set(1, .cancelled)
    lane.output.hearAll()
    try await player.resume()
    _ = try await player.accept(announcement("b"))
    try await lane.event(.played, 2, of: player)
    #expect(lane.output.heard == [2])
    await player.stop()
  }

  @Test("information in a format that no device supports fails, and a payment in that format waits for another device")
  func formatRefused() async throws {
    let lane = try TestLane()
    lane.output.refuse(.formatUnsupported)
    let player = try await lane.started()
    _ = try await player.accept(announcement("a", .information))
    try await lane.event(.failed, 1, of: player)
    #expect(try await lane.state(1) == .failed)
    lane.output.refuse(.formatUnsupported)
    _ = try await player.accept(announcement("b"))
    try await lane.event(.deviceLost, 2, of: player)
    #expect(try await lane.state(2)?.isFinal == false)
    lane.output.hearAll()
    lane.clock.advance(by: 250)
    try await lane.event(.played, 2, of: player)
    #expect(try await lane.state(2) == .played)
    #expect(lane.output.heard == [2])
    await player.stop()
  }

  @Test(
    "a payment does not end because of an error that an operator can repair, such as an invalid phrase book or pack")
  func repairable() {
    #expect(AnnouncerRendering.mayPass(AnnouncementError(.phraseBookInvalid, "a", "b", remedy: "c")))
    for code in [AnnouncerError.Code.optionInvalid, .methodUnavailable, .amountMismatch] {
      #expect(AnnouncerRendering.mayPass(AnnouncerError(code, "a", "b", remedy: "c")))
    }
    #expect(AnnouncerRendering.mayPass(SpeechEngineError(.voiceUnknown, "a", "b", remedy: "c")))
  }
}

@Suite("Summary race conditions", .timeLimit(.minutes(2)))
struct SummaryRaceTests {
  private func player(of lane: TestLane, gap: Int64 = 0) async throws -> Player {
    try await lane.started(summary: { announcement("\($0.count)") }) {
      $0.order.longestBacklog = 2
      $0.gap = gap
    }
  }

  @Test("a waiting summary can be cancelled by its number, together with its payments")
  func cancelled() async throws {
    let lane = try TestLane()
    let player = try await player(of: lane, gap: 250)
    _ = try await player.accept(announcement("first"))
    await lane.output.begins(1)
    for id in 2...5 { _ = try await player.accept(announcement("\(id)")) }
    lane.output.hear()
    try await lane.event(.waiting, 6, of: player)
    #expect(try await player.cancel(6))
    for number in 2...6 { #expect(try await lane.state(Int64(number)) == .cancelled) }
    await player.stop(finishingPlaying: false)
  }

  @Test("skipping a summary also skips its payments, in one transaction")
  func skipped() async throws {
    let lane = try TestLane()
    let player = try await player(of: lane)
    try await player.pause()
    for id in 0..<200 { _ = try await player.accept(announcement("\(id)")) }
    try await player.resume()
    try await lane.event(.playing, 201, of: player)
    let before = try await lane.ledger.lastEventPosition()
    #expect(try await player.skip())
    #expect(try await lane.ledger.counts(lane: nil)[.cancelled] == 201)
    let events = try await lane.ledger.events(after: before, limit: 1_000)
    #expect(events.count { $0.kind == .cancelled } == 201)
    // All events of the transaction have the same time, and the summary's own event is first.
    #expect(events.first { $0.kind == .cancelled }?.number == 201)
    #expect(events.filter { $0.kind == .cancelled }.dropFirst().allSatisfy { $0.detail["by"] == "201" })
    await player.stop(finishingPlaying: false)
  }
}

@Suite("Shared lane", .timeLimit(.minutes(2)))
struct SharedLaneTests {
  private func shared(_ lane: TestLane) -> SharedLane {
    SharedLane(lane: "counter", ledger: lane.ledger) {
      Player(lane: "counter", ledger: lane.ledger, output: lane.output, render: lane.renderer)
    }
  }

  @Test("a program that takes over the lane waits for its device and cancels nothing")
  func handOver() async throws {
    let lane = try TestLane()
    var seat: PlayerSeat? = try await lane.ledger.takeSeat(lane: "counter")
    let task = Task { try await shared(lane).play([announcement("a", .information)]) }
    try await eventually { try await !lane.ledger.unfinished(lane: "counter").isEmpty }
    lane.output.refuse(.deviceBusy)
    lane.output.hearAll()
    withExtendedLifetime(seat) {}
    seat = nil
    #expect(try await task.value.map(\.state) == [.played])
  }

  @Test("a device that cannot be opened when a program starts is an error, and nothing is accepted")
  func noDevice() async throws {
    let lane = try TestLane()
    lane.output.refuseOpening(.deviceMissing)
    let error = await #expect(throws: OutputError.self) {
      try await shared(lane).play([announcement("a", .information)])
    }
    #expect(error?.code == .deviceMissing)
    #expect(try await lane.ledger.recent(50, lane: nil).isEmpty)
    #expect(try await !lane.ledger.player(lane: "counter").isRunning)
  }

  @Test("an interrupt ends the playing program at once, and the next player plays the other programs' announcements")
  func interrupt() async throws {
    let lane = try TestLane()
    _ = try await lane.ledger.accept(announcement("other").onCounter)
    let task = Task { try await shared(lane).play([announcement("own", .information)]) }
    await lane.output.begins(1)
    try await eventually { try await lane.ledger.unfinished(lane: "counter").count >= 2 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await lane.ledger.unfinished(lane: "counter").map(\.id) == ["other"])
    #expect(try await lane.ledger.entry(account: "", id: "own")?.state == .cancelled)
  }

  @Test("an interrupted program cancels its remaining announcements in the process that plays the lane")
  func interruptElsewhere() async throws {
    let lane = try TestLane()
    let player = try await lane.started()
    _ = try await player.accept(announcement("other"))
    await lane.output.begins(1)
    let task = Task { try await shared(lane).play([announcement("own", .information)]) }
    try await eventually { try await lane.ledger.unfinished(lane: "counter").count >= 2 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    lane.clock.advance(by: 200)
    try await lane.event(.cancelled, 2, of: player)
    lane.output.hear()
    try await lane.event(.played, 1, of: player)
    await player.stop()
  }
}

/// Holds the lock of an SQLite file by staying in a transaction.
private final class LockHolder {
  private let connection: DatabaseQueue

  init(_ file: URL) throws {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    // The player may be writing at this moment.
    configuration.busyMode = .timeout(60)
    connection = try DatabaseQueue(path: file.path, configuration: configuration)
    try connection.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
  }

  func release() throws { try connection.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") } }
}
