// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import ConcurrencySupport
import Foundation
import Ledger
import Logging
import Playback
import ServiceLifecycle

/// The service's player. It takes the lane as soon as no other process plays it, and releases it when the service
/// stops. When another output is chosen, a new player on the new output's lane takes over the waiting announcements.
final class LanePlayer: Service {
  /// The interval between attempts to take a lane that another program plays.
  static let patience: Duration = .seconds(1)

  /// An output, and a function that makes a player for it.
  struct Part: Sendable {
    /// The output's name.
    var output: String
    var lane: String
    /// Creates a player without starting it. The arguments are for `Player.Settings`.
    var make: @Sendable (_ pause: Ledger.Pause?, _ keepVolume: @escaping @Sendable (Int) -> Void) throws -> Player
  }

  private struct State {
    var part: Part
    var player: Player?
    var watching: Task<Void, Never>?
    /// The lanes of former outputs from which the requests are still to be moved.
    var former: Set<String> = []
    /// The pause of the former output's player, which the next player continues.
    var pause: Ledger.Pause?
    var isStopping = false
  }

  /// The lane, which changes with the output.
  let playing: PlayingLane
  private let keepVolume: @Sendable (Int, Player?) async -> Void
  /// The volumes that commands of other processes have set.
  private let volumes = AsyncStream.makeStream(of: Int.self)
  private let ledger: any Ledger.StateStore
  private let logger: Logger
  /// Whether the player takes over the requests that wait on lanes without a player.
  private let takesOver: Bool
  private let state: Locked<State>
  /// The lock for starting and stopping a player.
  private let turns = Turns<String>()
  private static let turn = "player"

  /// - Parameter keepVolume: Stores a volume that a command of another process has set, and gives it to the player.
  init(
    _ part: Part, ledger: any Ledger.StateStore, takesOver: Bool = true, logger: Logger,
    keepVolume: @escaping @Sendable (Int, Player?) async -> Void
  ) {
    self.keepVolume = keepVolume
    playing = PlayingLane(part.lane)
    state = Locked(State(part: part))
    self.ledger = ledger
    self.takesOver = takesOver
    self.logger = logger
  }

  var lane: String { playing.name }

  /// The name of the output.
  var output: String { state.withLock { $0.part.output } }

  /// The running player; nil while another program plays the lane.
  var player: Player? { state.withLock { $0.player } }

  func lookForArrivals() { player?.lookForArrivals() }

  /// Tries to take the lane. On success, the waiting announcements are played.
  ///
  /// - Returns: The error if the lane cannot be taken; nil on success.
  @discardableResult
  private func begin() async -> (any Error)? { await turns.take([Self.turn]) { await beginInTurn() } }

  private func beginInTurn() async -> (any Error)? {
    let now = state.withLock { $0 }
    guard !now.isStopping, now.player == nil else { return nil }
    let lane = now.part.lane
    do {
      let player = try now.part.make(now.pause) { [volumes] in volumes.continuation.yield($0) }
      let moved = try await player.start(takingOver: takesOver, from: now.former)
      state.withLock { state in
        state.player = player
        (state.former, state.pause) = ([], nil)
        state.watching = Task { await reportDevice(of: player) }
      }
      Task { await self.forget(player) }
      for (other, count) in moved.sorted(by: { $0.key < $1.key }) {
        logger.warning(
          "Announcements waited on an output that no service plays. This service plays them.",
          metadata: ["from": "\(other)", "lane": "\(lane)", "announcements": "\(count)"])
      }
      if let count = try? await player.status().setAsideCount, count > 0 {
        logger.logSetAside(count, "announcements")
      }
      if !takesOver { await reportUnplayed() }
      return nil
    } catch {
      return error
    }
  }

  /// Forgets a player when it has ended, so that the next attempt makes another one.
  private func forget(_ player: Player) async {
    await player.ended()
    let wasCurrent = state.withLock { state in
      guard state.player === player, !state.isStopping else { return false }
      state.player = nil
      return true
    }
    if wasCurrent {
      logger.warning(
        "The player has stopped, because its lane was moved to another machine.", metadata: ["lane": "\(player.lane)"])
    }
  }

  /// Logs the announcements that wait on outputs without a player, and that this player does not take over.
  private func reportUnplayed() async {
    // If the ledger cannot be read, the service's readiness reports the fault.
    let others = (try? await ledger.waitingLanes()) ?? []
    for other in others where !other.isPlayed && other.lane != lane {
      logger.warning(
        "Announcements wait on an output that nothing plays. They stay there because take_over is false.",
        metadata: ["lane": "\(other.lane)", "announcements": "\(other.count)"])
    }
  }

  /// Makes the first attempt to take the lane. Call this before the service listens, so that even the first request,
  /// such as a pause, finds the player.
  func prepare() async {
    guard player == nil, let error = await begin() else { return }
    logger.warning(
      "The player could not be started. The service tries again.", metadata: ["lane": "\(lane)", "error": "\(error)"])
  }

  func run() async throws {
    async let keeping: Void = keepVolumes()
    do {
      while true {
        // While another program plays the lane, announcements wait in the ledger. This also holds after a change of the
        // output, so the attempts go on for as long as the service runs. While a player runs, an attempt does nothing.
        await begin()
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.patience) }
      }
    } catch {
      volumes.continuation.finish()
      await stop()
    }
    await keeping
  }

  /// Stores the volumes that commands of other processes set, in the order of the commands, until the service stops.
  private func keepVolumes() async {
    for await percent in volumes.stream { await keepVolume(percent, player) }
  }

  /// Stops the player for good.
  private func stop() async {
    await turns.take([Self.turn]) {
      let now = state.withLock { state in
        state.isStopping = true
        return state
      }
      // The announcement that is playing is interrupted, because a service must stop at once. The next player plays it
      // again from its start.
      await now.player?.stop(finishingPlaying: false)
      await now.watching?.value
    }
  }

  // MARK: Another output

  /// Continues to play on another output.
  ///
  /// The player of the former output stops at once. The waiting requests and the interrupted one move to the new lane.
  /// There, each of them is played once, in the old order. The replays of the former output are cancelled. A pause
  /// stays in effect. If another program plays the new lane, everything waits until its player ends.
  func change(to part: Part) async {
    await turns.take([Self.turn]) {
      let now = state.withLock { $0 }
      guard !now.isStopping, now.part.output != part.output else { return }
      // A replay belongs to the output on which it was requested, so replays are cancelled and not moved.
      var pause = now.pause
      if let status = try? await now.player?.status() { pause = status.pause }
      let replays = (try? await ledger.unfinishedReplays(lane: now.part.lane))?.map(\.number) ?? []
      state.withLock { state in
        (state.part, state.player, state.watching, state.pause) = (part, nil, nil, pause)
        state.former.insert(now.part.lane)
        state.former.remove(part.lane)
      }
      await now.player?.stop(finishingPlaying: false, cancelling: replays)
      await now.watching?.value
      // The new player takes over the pause, so it is removed from the former lane. If this fails, the former output is
      // paused when somebody returns to it, and the console says so.
      try? await ledger.keep(nil, lane: now.part.lane)
      await playing.change(to: part.lane)
      logger.notice(
        "The output was changed.", metadata: ["from": "\(now.part.output)", "output": "\(part.output)"])
      if let error = await beginInTurn() {
        logger.warning(
          "The player could not be started. The service tries again.",
          metadata: ["lane": "\(part.lane)", "error": "\(error)"])
      }
    }
  }

  // MARK: The device

  /// Logs when the device is lost and when it is back, until the player ends.
  private func reportDevice(of player: Player) async {
    // The player may have found at its start that the device is missing.
    var isLost = false
    if let loss = try? await player.status().deviceLoss {
      isLost = true
      report(lossWithCode: loss.code, of: player)
    }
    let failures = RepeatedFailureLog("The state of the sound device cannot be read, so it is not logged.", logger)
    var position: Int64?
    while true {
      do {
        for try await event in player.events(after: position) {
          position = event.position
          switch event.kind {
          case .deviceLost where !isLost:
            isLost = true
            report(lossWithCode: event.detail["code"] ?? "unknown", of: player)
          case .deviceBack:
            isLost = false
            logger.notice("The sound device works again.", metadata: ["lane": "\(player.lane)"])
          default: break
          }
        }
        return
      } catch {
        // The ledger's server may be back in a moment. The events of the meantime are read then.
        failures.tell(error)
        guard !player.hasEnded, (try? await Task.sleep(for: Self.patience)) != nil else { return }
      }
    }
  }

  private func report(lossWithCode code: String, of player: Player) {
    logger.warning(
      "The sound device cannot be used. Announcements wait for it.",
      metadata: ["lane": "\(player.lane)", "code": "\(code)"])
  }
}
