// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
public import SoundOutputs

/// Plays the announcements of one lane on one output: one after another, each once, in order, whatever happens.
///
/// - What was accepted is in the ledger; what is heard when is `PlaybackOrder`'s decision alone.
/// - An announcement is `played` when its last sample has been heard, and that is on disk before the next one begins.
///   After a crash, or a loss of power, what was playing is played again from its start, what had ended is not, and the
///   order is the old one. A crash in the moment between the last sample and the disk plays that one once more: to be
///   heard twice is better than not at all. That it *began* is written while it sounds, so that no disk delays a sound.
/// - Money waits as long as it takes: for the engine, for room on the disk, for the device. Only a fault that lies in the
///   payment itself, or a person, ends it unheard.
/// - Between two announcements a listener hears silence of ``Settings/gap``, the quiet edges of the clips included.
///
/// One task owns all that changes (`Lane`); everybody else leaves it a message. It plays through one serial
/// `OperationQueue`, an operation a sound. ``stop(finishingPlaying:)`` ends it; a player is not ended by letting it go.
public final class Player: Sendable {
  public let lane: String
  let ledger: Ledger
  let settings: Settings
  let clock: any PlayerClock
  let mailbox = Mailbox<LaneMessage>()
  let signals = LaneSignals()
  private let output: any SoundOutput
  private let renderer: any Rendering
  private let summary: SummaryMaker
  private let running = Running()

  /// Makes the one announcement that stands for these payments, in their order; `nil` when there can be none.
  public typealias SummaryMaker = @Sendable ([StoredAnnouncement]) async -> StoredAnnouncement?

  /// Nothing is opened yet.
  ///
  /// - Parameters:
  ///   - lane: 1 to 100 bytes.
  ///   - output: the player's alone.
  ///   - render: makes the sounds.
  ///   - summary: called when the settings ask for it and payments are to be said as one. What it gives is played as a
  ///     payment of its own.
  public init(
    lane: String, ledger: Ledger, output: any SoundOutput, render: any Rendering, settings: Settings = Settings(),
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

  /// Takes the lane's seat, takes up what had not ended, and plays.
  ///
  /// - Parameter rate: opens the output for sounds of that rate, in Hz, before anything is played; nil leaves it to the
  ///   first sound, which waits for a device that is away.
  /// - Throws: `LedgerError`, `laneTaken` when another player has the lane; `OutputError` when the output is to be opened
  ///   and cannot be; ``PlayerError``, `alreadyStarted`. After an error of the ledger or the output it may be started
  ///   again.
  public func start(opening rate: Int? = nil) async throws {
    guard running.begin() else { throw PlayerError(.alreadyStarted, lane: lane) }
    do {
      let seat = try ledger.takeSeat(lane: lane)
      let lane = Lane(
        name: lane, ledger: ledger, seat: seat, output: output, renderer: renderer, settings: settings, clock: clock,
        summary: summary, mailbox: mailbox, signals: signals)
      if let rate { try await lane.openOutput(rate: rate) }
      try await lane.recover()
      running.set(Task { await lane.run() })
    } catch {
      running.reset()
      throw error
    }
  }

  /// Ends it: nothing begins any more, the output and the seat are given back. What waits is played by the next player.
  ///
  /// - Parameter finishingPlaying: whether what plays is heard to its end; else, and when it is paused or its device is
  ///   lost, it is played again, from its start, by the next player. Asked a second time with `false`, it ends at once.
  /// - Parameter numbers: taken back before the next player can have them, as far as the ledger can be written.
  public func stop(finishingPlaying: Bool = true, cancelling numbers: [Int64] = []) async {
    guard let task = running.task else { return }
    signals.stop()
    mailbox.post(.stop(finishing: finishingPlaying, cancelling: numbers))
    await task.value
  }

  // MARK: Announcements

  /// Accepts an announcement: when this returns it is on disk, and will be heard. Before ``start()`` too, and from any
  /// thread; the order of acceptance is that of the numbers.
  ///
  /// - Throws: `LedgerError`, and nothing was accepted; ``PlayerError``, `accountReserved`.
  public func accept(_ announcement: StoredAnnouncement) async throws -> Ledger.Acceptance {
    guard announcement.account == StoredAnnouncement.files || !announcement.account.hasPrefix("crier:") else {
      throw PlayerError(.accountReserved, lane: lane)
    }
    let acceptance = try await ledger.accept(announcement.new(lane: lane))
    if !acceptance.isDuplicate { lookForArrivals() }
    return acceptance
  }

  /// Takes back an announcement that waits or plays.
  ///
  /// - Returns: whether it ended so: false when it has ended already, is not of this lane, or is part of a summary that
  ///   plays.
  /// - Throws: ``PlayerError``, `notRunning`.
  @discardableResult
  public func cancel(_ number: Int64) async throws -> Bool { try await ask { .cancel(number, $0) } }

  /// Ends what plays; that is how a person, and nobody else, silences a payment. Of a summary, all that it stands for.
  ///
  /// - Returns: false when nothing plays, or it was heard to its end all the same.
  /// - Throws: ``PlayerError``, `notRunning`.
  @discardableResult
  public func skip() async throws -> Bool { try await ask { .skip($0) } }

  /// Plays an announcement that has ended once more, as an entry of its own that counts for nothing: an alert, so it is
  /// heard before information, after money that waits, and to its end. "Again" is heard before it.
  ///
  /// - Parameters:
  ///   - number: `nil` for the last one that was played.
  ///   - requester: the account that asks, for its limit; nil for somebody at this machine.
  /// - Returns: the new entry's number, by which it is taken back.
  /// - Throws: ``PlayerError``, `nothingToReplay` or `notRunning`; `LedgerError`, `tooManyReplays` when as many wait as
  ///   may.
  @discardableResult
  public func replay(_ number: Int64? = nil, for requester: String? = nil) async throws -> Int64 {
    try await ask { .replay(number, requester: requester, $0) }.get()
  }

  // MARK: The lane

  /// Holds what plays at its place; nothing begins until ``resume()``. A player that starts is not paused.
  public func pause() async throws { _ = try await ask { .pause($0) } }
  public func resume() async throws { _ = try await ask { .resume($0) } }

  /// - Parameter percent: 0 to 100; heard from the next sound on.
  public func setVolume(_ percent: Int) async throws {
    guard let volume = Volume(percent: percent) else { throw PlayerError(.volumeInvalid, lane: lane) }
    _ = try await ask { .volume(volume, $0) }
  }

  /// What plays and what waits.
  public func status() async throws -> LaneStatus { try await ask { .status($0) } }

  private func ask<Value: Sendable>(_ message: (Reply<Value>) -> LaneMessage) async throws -> Value {
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
      let message = message(Reply { continuation.resume(returning: $0) })
      guard running.task != nil, mailbox.post(message) else { return message.refuse(lane) }
    }
    return try result.get()
  }

  /// Tells it that somebody put an announcement for its lane into the ledger; without being told, it looks for some now
  /// and then.
  public func lookForArrivals() {
    signals.arrive()
    mailbox.nudge()
  }
}

/// Whether a player was started, and the task that it is.
private final class Running: @unchecked Sendable {  // What changes is used under the lock.
  private let lock = NSLock()
  private var isBegun = false
  private var lane: Task<Void, Never>?

  var task: Task<Void, Never>? { lock.withLock { lane } }

  func begin() -> Bool {
    lock.withLock {
      defer { isBegun = true }
      return !isBegun
    }
  }

  func set(_ task: Task<Void, Never>) { lock.withLock { lane = task } }
  func reset() { lock.withLock { isBegun = false } }
}
