// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import ServiceLifecycle

extension Ledger {
  /// Waits until no other process makes the deliveries of a kind, and takes the seat of the one that does. Meanwhile,
  /// the deliveries wait in the ledger.
  ///
  /// - Parameter fault: The line of the log if the ledger cannot be asked.
  /// - Returns: nil if the service stops first.
  func waitForSeat(of kind: DeliverySeat.Kind, _ fault: Logger.Message, _ logger: Logger) async -> DeliverySeat? {
    while true {
      do {
        if let seat = try takeSeat(of: kind) { return seat }
      } catch {
        logger.warning(fault, metadata: ["error": "\(error)"])
      }
      // The sleep throws only when the service stops.
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) } } catch { return nil }
    }
  }
}
