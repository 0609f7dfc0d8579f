// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
public import SoundOutputs

/// The player of one lane on one output. It plays each announcement once, one after another and in order, even after
/// failures.
///
/// - Accepted announcements are in the ledger. `PlaybackOrder` alone decides the order.
/// - An announcement is `played` when its last sample has been heard. This is written to disk before the next
///   announcement begins. After a crash or a power loss, the interrupted announcement is played again from its start,
///   finished announcements are not played again, and the order stays the same. If the crash happens between the last
///   sample and the write, that announcement is played twice, which is better than not at all. The *beginning* of a
///   sound is usually written while it plays, so that the disk does not delay the sound.
/// - Payments and refunds wait as long as necessary for the engine, the disk and the device. Only an error in the
///   payment itself, or a person, ends one of them without playing it.
/// - If several machines use the ledger, a player that has lost its lane to another machine stops at once, and stores
///   nothing more.
/// - Between two announcements there is a silence of ``Settings/gap``, which includes the quiet ends of the clips.
///
/// A single task (`Lane`) owns all mutable state, and everything else sends it messages. The task plays through a
/// serial `OperationQueue`, with one operation for each sound. ``stop(finishingPlaying:)`` ends the player; releasing
/// the last reference does not.
public final class Player: Sendable {
  public let lane: String
  let ledger: any Ledger.Store
  let settings: Settings
  let clock: any PlayerClock
  let mailbox = Mailbox<LaneMessage>()
  let signals = LaneSignals()
  private let output: any SoundOutput
  private let renderer: any Rendering
  private let summary: SummaryMaker
  private let running = Locked(Running())

  /// Makes the single announcement that summarises these payments, in order; returns `nil` if no summary is possible.
  public typealias SummaryMaker = @Sendable ([StoredAnnouncement]) async -> StoredAnnouncement?

  /// Creates a player without opening anything.
  ///
  /// - Parameters:
  ///   - lane: The name of the lane, 1 to 100 bytes.
  ///   - output: The output, which only this player uses.
  ///   - render: Renders the sounds.
  ///   - summary: Makes a summary when the settings require one. The summary is played as a separate payment.
  public init(
    lane: String, ledger: any Ledger.Store, output: any SoundOutput, render: any Rendering,
    settings: Settings = Settings(),
    clock: any PlayerClock = SystemPlayerClock(),
    summary: @escaping SummaryMaker = { StoredAnnouncement.summary(of: $0) }
  ) {
    self.lane = lane
    self.ledger = ledger
    self.output = output
    self.renderer = render
    self.settings = settings
    self.clock = clock
    self.summary = summary
  }

  // MARK: Running

  /// Takes exclusive control of the lane, restores its unfinished announcements, and plays.
  ///
  /// - Parameters:
  ///   - rate: The rate in Hz with which the output is opened before anything plays. If it is nil, the first sound
  ///     opens the output, and waits for a device that is missing.
  ///   - takesOver: Whether the requests that wait on lanes without a player are moved to this lane first.
  ///   - former: The lanes whose requests are moved even if `takesOver` is false. A lane that a process plays keeps its
  ///     requests.
  /// - Returns: The number of requests that were moved, by lane.
  /// - Throws: `LedgerError`, with `laneTaken` if another player has the lane; `OutputError` if the output cannot be
  ///   opened; ``PlayerError`` with `alreadyStarted`. After an error of the ledger or the output, the player can be
  ///   started again.
  @discardableResult
  public func start(
    opening rate: Int? = nil, takingOver takesOver: Bool = false, from former: Set<String> = []
  ) async throws -> [String: Int] {
    guard running.withLock({ $0.begin() }) else { throw PlayerError(.alreadyStarted, lane: lane) }
    do {
      let seat = try await ledger.takeSeat(lane: lane)
      do {
        return try await start(under: seat, opening: rate, takingOver: takesOver, from: former)
      } catch {
        await seat.giveBack()
        throw error
      }
    } catch {
      running.withLock { $0.isBegun = false }
      throw error
    }
  }

  private func start(
    under seat: PlayerSeat, opening rate: Int?, takingOver takesOver: Bool, from former: Set<String>
  ) async throws -> [String: Int] {
    let ledger = ledger.ledger(under: seat)
    let lane = Lane(
      name: lane, ledger: ledger, seat: seat, output: output, renderer: renderer, settings: settings, clock: clock,
      summary: summary, mailbox: mailbox, signals: signals)
    if let rate { try await lane.openOutput(rate: rate) }
    // The lane reads its announcements in the order of their numbers, so announcements must be moved to it before it
    // starts.
    let moved =
      takesOver || !former.isEmpty ? try await takeOver(in: ledger) { takesOver || former.contains($0) } : [:]
    try await lane.recover()
    let task = Task { await lane.run() }
    running.withLock { $0.task = task }
    // A person has moved the lane to another machine, whose player plays its announcements.
    seat.onLoss { [weak self] in await self?.stop(finishingPlaying: false) }
    return moved
  }

  /// Moves the requests that wait on certain lanes without a player to this lane.
  ///
  /// - Throws: `LedgerError`.
  private func takeOver(
    in ledger: any Ledger.Store, _ isTaken: (String) -> Bool
  ) async throws -> [String: Int] {
    var moved: [String: Int] = [:]
    for other in try await ledger.lanesToTakeOver() where other != lane && isTaken(other) {
      // While this call holds the seat, no player can start on that lane. A lane that a process plays keeps its
      // requests.
      guard try await !ledger.player(lane: other).isRunning, let seat = try? await self.ledger.takeSeat(lane: other)
      else { continue }
      let count = try await ledger.moveRequests(from: other, to: lane)
      if count > 0 { moved[other] = count }
      await seat.giveBack()
    }
    return moved
  }

  /// Stops the player: nothing more begins, and the output and the lane are released. The next player plays the waiting
  /// announcements.
  ///
  /// - Parameter finishingPlaying: Whether the current announcement plays to its end. If it is stopped, is paused or
  ///   has lost its device, the next player plays it again from its start. A second call with `false` stops it at once.
  /// - Parameter numbers: The announcements to cancel before the next player can play them, if the ledger can be
  ///   written.
  public func stop(finishingPlaying: Bool = true, cancelling numbers: [Int64] = []) async {
    guard let task = running.withLock({ $0.task }) else { return }
    signals.stop()
    mailbox.post(.stop(finishing: finishingPlaying, cancelling: numbers))
    await task.value
  }

  /// Waits until the player has ended, because it was stopped or because it lost its lane to another machine.
  public func ended() async { await running.withLock { $0.task }?.value }

  // MARK: Announcements

  /// Accepts an announcement. When the call returns, the announcement is on disk and will be played. The function may
  /// be called from any thread, even before ``start()``. Announcements are accepted in the order of their numbers.
  ///
  /// - Throws: `LedgerError` if nothing was accepted.
  public func accept(_ announcement: StoredAnnouncement) async throws -> Ledger.Acceptance {
    var announcement = announcement
    announcement.lane = lane
    let acceptance = try await ledger.accept(announcement)
    if !acceptance.isDuplicate { lookForArrivals() }
    return acceptance
  }

  /// Cancels an announcement that is waiting or playing.
  ///
  /// - Returns: Whether it was cancelled: false if it has already ended, is not in this lane, or is part of a summary
  ///   that is playing.
  /// - Throws: ``PlayerError`` with `notRunning`.
  @discardableResult
  public func cancel(_ number: Int64) async throws -> Bool { try await ask { .cancel(number, $0) } }

  /// Undoes the cancellation of an announcement of this lane. The announcement waits again in its old place.
  ///
  /// - Returns: False if it cannot be restored; see `Ledger.StateStore.restore(_:)`.
  /// - Throws: ``PlayerError`` with `notRunning`; `LedgerError`. After an error, nothing has changed.
  public func restore(_ number: Int64) async throws -> Bool { try await ask { .restore(number, $0) } }

  /// Ends the current announcement. This is the only way to silence a payment, and it is reserved for people. Skipping
  /// a summary also ends the payments it stands for.
  ///
  /// - Returns: False if nothing was playing, or if the announcement was played to its end anyway.
  /// - Throws: ``PlayerError`` with `notRunning`.
  @discardableResult
  public func skip() async throws -> Bool { try await ask { .skip($0) } }

  /// Plays a finished announcement again, as a separate entry that does not count as a payment. The replay is an alert,
  /// so it is played after waiting payments and refunds and before information. It is never interrupted. The word
  /// "again" is played before it.
  ///
  /// - Parameters:
  ///   - number: The number of an announcement that ended on any output; `nil` means the last announcement that was
  ///     played on this output.
  ///   - requester: The account that requests the replay, whose limit applies; nil for a person at this machine.
  /// - Returns: The number of the new entry, which can be used to cancel it.
  /// - Throws: ``PlayerError`` with `nothingToReplay` or `notRunning`; `LedgerError` with `tooManyReplays` if the
  ///   maximum number of replays is waiting.
  @discardableResult
  public func replay(_ number: Int64? = nil, for requester: String? = nil) async throws -> Int64 {
    try await ask { .replay(number, requester: requester, $0) }
  }

  // MARK: The lane

  /// Pauses the current sound, and keeps other sounds from beginning, until
  /// ``resume()``. If the player is paused already, nothing changes. ``Settings/remembersPause`` says whether a new
  /// player is paused too. If the ledger cannot be written, the player pauses nevertheless, and stores the pause as
  /// soon as possible.
  ///
  /// - Parameters:
  ///   - name: The name of the key or the command that pauses.
  ///   - account: The account of the key.
  public func pause(by name: String? = nil, account: String? = nil) async throws {
    _ = try await ask { .pause(by: name, account: account, $0) }
  }
  public func resume() async throws { _ = try await ask { .resume($0) } }

  /// Sets the volume from the next sound on. The volume applies until the next rule of ``Settings/volumes`` begins.
  ///
  /// - Parameter percent: 0 to 100 per cent; nil for the volume of the rules and of ``Settings/volume``.
  public func setVolume(_ percent: Int?) async throws {
    if let percent, Volume(percent: percent) == nil { throw PlayerError(.volumeInvalid, lane: lane) }
    _ = try await ask { .volume(percent, $0) }
  }

  /// Sets the chimes of the announcements that begin from now on.
  public func setChimes(_ chimes: Chimes) async throws { _ = try await ask { .chimes(chimes, $0) } }

  /// Returns the state of the player, with the playing and the waiting announcements.
  public func status() async throws -> LaneStatus { try await ask { .status($0) } }

  private func ask<Value: Sendable>(_ message: (Reply<Value>) -> LaneMessage) async throws -> Value {
    let result: Result<Value, any Error> = await waitForAnswer { answer in
      let message = message(Reply { answer.give($0) })
      guard running.withLock({ $0.task }) != nil, mailbox.post(message) else {
        return message.refuse(PlayerError(.notRunning, lane: lane))
      }
    }
    return try result.get()
  }

  /// Notifies the player of a new announcement for its lane in the ledger. Without a notification, the player looks for
  /// new announcements at intervals.
  public func lookForArrivals() {
    signals.arrive()
    mailbox.nudge()
  }
}

/// The player's task, and whether it was started.
private struct Running {
  var isBegun = false
  var task: Task<Void, Never>?

  /// - Returns: False if the player was started before.
  mutating func begin() -> Bool {
    defer { isBegun = true }
    return !isBegun
  }
}
