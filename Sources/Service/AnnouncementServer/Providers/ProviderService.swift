// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Foundation
import Ledger
import Logging
import ServiceLifecycle

/// The part of the service that announces the payments that providers have reported. It begins as soon as no other
/// process announces the payments of the ledger, and stops with the service.
final class ProviderService: Service {
  /// The interval at which the ledger is checked for payments that other processes have stored, such as the other nodes
  /// of a ledger on a server. It is short, so that these payments are announced in time.
  private static let lookInterval: Duration = .seconds(1)

  private let ledger: any Ledger.SeatStore
  private let logger: Logger
  let payments: ProviderPayments

  init(_ payments: ProviderPayments, ledger: any Ledger.SeatStore, logger: Logger) {
    (self.payments, self.ledger, self.logger) = (payments, ledger, logger)
  }

  func run() async throws {
    let fault: Logger.Message = "Providers' payments cannot be announced. The service tries again."
    await ledger.deliver(.providerPayments, fault, logger) { [payments] seat in
      let looking = Task {
        while (try? await Task.sleep(for: Self.lookInterval)) != nil { payments.lookForPayments() }
      }
      await payments.run(under: seat)
      looking.cancel()
    }
  }
}
