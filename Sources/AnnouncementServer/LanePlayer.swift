// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging
import Playback
import ServiceLifecycle
import SoundOutputs

/// The service's player: it takes the lane as soon as nobody else has it, and gives it back when the service stops.
final class LanePlayer: Service {
  /// Between two looks at a lane that another program plays.
  static let patience: Duration = .seconds(1)

  let lane: String
  private let make: @Sendable () throws -> Player
  private let logger: Logger
  private let running = Locked<Player?>(nil)

  /// - Parameter make: a new player, not started.
  init(lane: String, logger: Logger, make: @escaping @Sendable () throws -> Player) {
    self.lane = lane
    self.make = make
    self.logger = logger
  }

  /// nil while another program plays the lane.
  var player: Player? { running.withLock { $0 } }

  func lookForArrivals() { player?.lookForArrivals() }

  /// Tries to take the lane; what waits there is heard from then on.
  ///
  /// - Returns: why not.
  private func begin() async -> (any Error)? {
    do {
      let player = try make()
      try await player.start()
      running.withLock { $0 = player }
      return nil
    } catch {
      return error
    }
  }

  /// The first try, to be done before anybody can call: who pauses a player at once is to find it.
  func prepare() async {
    guard player == nil, let error = await begin() else { return }
    logger.warning(
      "The player does not run yet; it is tried again.", metadata: ["lane": "\(lane)", "error": "\(error)"])
  }

  func run() async throws {
    while player == nil {
      // Announcements wait in the ledger meanwhile.
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.patience) } } catch { return }
      _ = await begin()
    }
    try? await gracefulShutdown()
    // What plays is heard again from its start by the next one: a service is to stop at once.
    await player?.stop(finishingPlaying: false)
  }
}
