// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import ServiceLifecycle

extension Ledger.SeatStore {
  /// Makes the deliveries of a kind until the service stops, beginning as soon as no other process makes them. Until a
  /// process makes them, the deliveries wait in the ledger. If another node takes them over, the work is cancelled, and
  /// begins again as soon as that node has stopped.
  ///
  /// - Parameters:
  ///   - fault: The log message for the case that the ledger cannot be read.
  ///   - work: Makes the deliveries. It is cancelled when the service stops or the seat is lost, and is not called if
  ///     the service stops first.
  func deliver(
    _ kind: DeliverySeat.Kind, _ fault: Logger.Message, _ logger: Logger,
    _ work: @escaping @Sendable (DeliverySeat) async -> Void
  ) async {
    while let seat = await waitForSeat(of: kind, fault, logger) {
      await cancelWhenGracefulShutdown {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await work(seat) }
          group.addTask { await seat.loss() }
          await group.next()
          group.cancelAll()
        }
      }
      let wasLost = !seat.isUsable
      await seat.giveBack()
      // The work ends by itself only when it is told to, or when it finds that the seat is lost.
      guard wasLost, !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
      logger.warning(
        "Another node takes over deliveries, because this node could not renew its lease in time.",
        metadata: ["deliveries": "\(kind.rawValue)"])
    }
  }

  /// - Returns: nil if the service stops first.
  private func waitForSeat(
    of kind: DeliverySeat.Kind, _ fault: Logger.Message, _ logger: Logger
  ) async -> DeliverySeat? {
    while true {
      do {
        if let seat = try await takeSeat(of: kind) { return seat }
      } catch {
        logger.warning(fault, metadata: ["error": "\(error)"])
      }
      // The sleep throws only when the service stops.
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) } } catch { return nil }
    }
  }
}
