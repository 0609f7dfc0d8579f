// SPDX-License-Identifier: Apache-2.0

public import Ledger
public import SoundOutputs

/// A lane for programs that run only briefly. Programs that share a ledger never play on the lane at the same time.
///
/// If another process, such as the service, already plays the lane, announcements wait their turn there. Otherwise this
/// process becomes the lane's player until its own announcements have ended. It then also plays announcements that
/// other processes left waiting.
public struct SharedLane: Sendable {
  private let lane: String
  private let ledger: any Ledger.Store
  private let clock: any PlayerClock
  private let makePlayer: @Sendable () throws(OutputError) -> Player

  /// The interval for checking the announcements' states, in ms.
  private static let pause: Int64 = 100

  /// The usual sample rate of clips, in Hz.
  private static let usualRate = 22_050

  /// - Parameter makePlayer: Creates a player of this lane and ledger without starting it. Called if no process plays
  ///   the lane.
  public init(
    lane: String, ledger: any Ledger.Store, clock: any PlayerClock = SystemPlayerClock(),
    makePlayer: @escaping @Sendable () throws(OutputError) -> Player
  ) {
    self.lane = lane
    self.ledger = ledger
    self.clock = clock
    self.makePlayer = makePlayer
  }

  /// Plays the announcements in their turns, and returns when all have ended. Cancelling the task stops the current
  /// sound if this program plays it, and cancels all announcements that have not ended.
  ///
  /// - Parameter watch: Called at intervals with the lane's state.
  /// - Returns: The final entries, in the order of the announcements.
  /// - Throws: `LedgerError`, `CancellationError`; `OutputError` if the output cannot be opened at first; nothing was
  ///   accepted then. If the device is lost later, the call waits until it is back.
  public func play(
    _ announcements: [StoredAnnouncement], watch: @Sendable (LaneView) -> Void = { _ in }
  ) async throws -> [Ledger.Entry] {
    var player = try await playerIfNeeded(opening: Self.usualRate)
    var numbers: [Int64] = []
    do {
      for announcement in announcements {
        if let player {
          numbers.append(try await player.accept(announcement).number)
        } else {
          var announcement = announcement
          announcement.lane = lane
          numbers.append(try await ledger.accept(announcement).number)
        }
        try Task.checkCancellation()
      }
      var remaining = numbers[...]
      while true {
        while let number = remaining.first, try await hasEnded(number) { remaining.removeFirst() }
        if remaining.isEmpty { break }
        try Task.checkCancellation()
        // The other process's player may have ended, with announcements still waiting.
        if player == nil { player = try await playerIfNeeded(opening: nil) }
        watch(try await LaneView.of(lane: lane, in: ledger, at: clock.date()))
        await clock.sleep(until: clock.now() + Self.pause)
      }
    } catch {
      await takeBack(numbers, player)
      throw error
    }
    await player?.stop()
    var entries: [Ledger.Entry] = []
    for number in numbers { if let entry = try await ledger.entry(number) { entries.append(entry) } }
    return entries
  }

  /// - Returns: The player, or nil if another process plays the lane.
  private func playerIfNeeded(opening rate: Int?) async throws -> Player? {
    guard try await !ledger.player(lane: lane).isRunning else { return nil }
    let player = try makePlayer()
    do {
      try await player.start(opening: rate)
      return player
    } catch let error as LedgerError where error.code == .laneTaken {
      return nil
    }
  }

  private func hasEnded(_ number: Int64) async throws -> Bool {
    try await ledger.entry(number)?.state.isFinal ?? true
  }

  private func takeBack(_ numbers: [Int64], _ player: Player?) async {
    if let player { return await player.stop(finishingPlaying: false, cancelling: numbers) }
    // The announcements are cancelled in reverse order, so that cancelling one does not start the next. This happens
    // concurrently, so that it waits for the disk only once.
    await withTaskGroup(of: Void.self) { group in
      for number in numbers.reversed() {
        group.addTask { [ledger, lane] in
          if (try? await hasEnded(number)) != true { _ = try? await ledger.send(.cancel(number), lane: lane) }
        }
      }
    }
  }
}
