// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import Playback
import ServiceLifecycle
import SoundOutputs

/// The service's player. It takes the lane as soon as no other process plays it, and releases it when the service
/// stops.
final class LanePlayer: Service {
  /// The interval between attempts to take a lane that another program plays.
  static let patience: Duration = .seconds(1)

  let lane: String
  private let make: @Sendable (_ keepVolume: @escaping @Sendable (Int) -> Void) throws -> Player
  private let keepVolume: @Sendable (Int, Player) async -> Void
  /// The volumes that other processes have commanded.
  private let volumes = AsyncStream.makeStream(of: Int.self)
  private let ledger: Ledger
  private let logger: Logger
  /// Whether the player takes over the requests that wait on lanes that nothing plays.
  private let takesOver: Bool
  private let running = Locked<Player?>(nil)

  /// - Parameters:
  ///   - keepVolume: Keeps a volume that another process has commanded, and gives it to the player.
  ///   - make: Creates a player without starting it. Its argument is for `Player.Settings.keepVolume`.
  init(
    lane: String, ledger: Ledger, takesOver: Bool = true, logger: Logger,
    keepVolume: @escaping @Sendable (Int, Player) async -> Void,
    make: @escaping @Sendable (_ keepVolume: @escaping @Sendable (Int) -> Void) throws -> Player
  ) {
    self.keepVolume = keepVolume
    self.lane = lane
    self.ledger = ledger
    self.takesOver = takesOver
    self.make = make
    self.logger = logger
  }

  /// The running player; nil while another program plays the lane.
  var player: Player? { running.withLock { $0 } }

  func lookForArrivals() { player?.lookForArrivals() }

  /// Tries to take the lane. On success, the waiting announcements are played.
  ///
  /// - Returns: The error if the lane cannot be taken; nil on success.
  private func begin() async -> (any Error)? {
    do {
      let player = try make { [volumes] in volumes.continuation.yield($0) }
      let moved = try await player.start(takingOver: takesOver)
      running.withLock { $0 = player }
      for (lane, count) in moved.sorted(by: { $0.key < $1.key }) {
        logger.warning(
          "Announcements waited on an output that nothing plays. They are played on this output.",
          metadata: ["from": "\(lane)", "lane": "\(self.lane)", "announcements": "\(count)"])
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

  /// Logs the announcements that wait on outputs that nothing plays, and that this player leaves there.
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
    while player == nil {
      // Until then, announcements wait in the ledger.
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.patience) } } catch { return }
      _ = await begin()
    }
    async let watching: Void = reportDevice()
    async let keeping: Void = keepVolumes()
    try? await gracefulShutdown()
    volumes.continuation.finish()
    // The announcement that is playing is interrupted, because a service must stop at once. The next player plays it
    // again from its start.
    await player?.stop(finishingPlaying: false)
    await watching
    await keeping
  }

  /// Keeps the volumes that other processes command, in their order, until the player ends.
  private func keepVolumes() async {
    for await percent in volumes.stream {
      guard let player else { return }
      await keepVolume(percent, player)
    }
  }

  /// Logs when the device is lost and when it is back, until the player ends.
  private func reportDevice() async {
    guard let player else { return }
    // The player may have found at its start that the device is missing.
    var isLost = false
    if let loss = try? await player.status().deviceLoss {
      isLost = true
      report(lossWithCode: loss.code)
    }
    do {
      for try await event in player.events() {
        switch event.kind {
        case .deviceLost where !isLost:
          isLost = true
          report(lossWithCode: event.detail["code"] ?? "unknown")
        case .deviceBack:
          isLost = false
          logger.notice("The sound device works again.", metadata: ["lane": "\(lane)"])
        default: break
        }
      }
    } catch {
      logger.warning(
        "The state of the sound device is no longer logged.", metadata: ["lane": "\(lane)", "error": "\(error)"])
    }
  }

  private func report(lossWithCode code: String) {
    logger.warning(
      "The sound device cannot be used. Announcements wait for it.", metadata: ["lane": "\(lane)", "code": "\(code)"])
  }
}
