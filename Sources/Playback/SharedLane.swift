// SPDX-License-Identifier: Apache-2.0

public import Ledger
public import SoundOutputs

/// A lane that anybody on this machine may play on, for programs that come and go: of those that share a ledger, two are
/// never heard at once.
///
/// Where a process plays the lane already, as the service does, what is given here waits its turn there; where none does,
/// this one is the lane's player until its own have ended, and plays what others had left before.
public struct SharedLane: Sendable {
  private let lane: String
  private let ledger: Ledger
  private let clock: any PlayerClock
  private let makePlayer: @Sendable () throws(OutputError) -> Player

  /// How often it looks at what became of things, in ms.
  private static let pause: Int64 = 100

  /// Of clips, in Hz.
  private static let usualRate = 22_050

  /// - Parameter makePlayer: of this lane and ledger, not started; asked for when nobody plays the lane.
  public init(
    lane: String, ledger: Ledger, clock: any PlayerClock = SystemPlayerClock(),
    makePlayer: @escaping @Sendable () throws(OutputError) -> Player
  ) {
    self.lane = lane
    self.ledger = ledger
    self.clock = clock
    self.makePlayer = makePlayer
  }

  /// Plays these in their turns, and returns when each has ended. When the task is cancelled, what plays falls silent
  /// where this program plays it, and those that have not ended are taken back.
  ///
  /// - Parameter watch: told now and then what the lane does.
  /// - Returns: the entries as they ended, in the order given.
  /// - Throws: `LedgerError`, `CancellationError`; `OutputError` when the output cannot be opened at the beginning, and
  ///   nothing was accepted then. One that is lost later is waited for.
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
          numbers.append(try await ledger.accept(announcement.new(lane: lane)).number)
        }
        try Task.checkCancellation()
      }
      var remaining = numbers[...]
      while true {
        while let number = remaining.first, try await hasEnded(number) { remaining.removeFirst() }
        if remaining.isEmpty { break }
        try Task.checkCancellation()
        // Its player may have ended, with what waits left to whoever comes.
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

  /// - Returns: nil when somebody else plays the lane.
  private func playerIfNeeded(opening rate: Int?) async throws -> Player? {
    guard try !ledger.player(lane: lane).isRunning else { return nil }
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
    // From the last to the first, so that none begins because the one before it went; together, for the disk.
    await withTaskGroup(of: Void.self) { group in
      for number in numbers.reversed() {
        group.addTask { [ledger, lane] in
          if (try? await hasEnded(number)) != true { _ = try? await ledger.send(.cancel(number), lane: lane) }
        }
      }
    }
  }
}
