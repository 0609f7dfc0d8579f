// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import ServiceLifecycle

extension Ledger.SeatStore {
  /// Makes the deliveries of a kind until the service stops, beginning as soon as no other process makes them. Until a
  /// process makes them, the deliveries wait in the ledger.
  ///
  /// - Parameters:
  ///   - fault: The log message for the case that the ledger cannot be read.
  ///   - work: Makes the deliveries. It is cancelled when the service stops, and is not called if it stops first.
  func deliver(
    _ kind: DeliverySeat.Kind, _ fault: Logger.Message, _ logger: Logger,
    _ work: @escaping @Sendable () async -> Void
  ) async {
    guard let seat = await waitForSeat(of: kind, fault, logger) else { return }
    await cancelWhenGracefulShutdown(work)
    await seat.giveBack()
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
