// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// The exclusive right to send the webhooks of a ledger. Its holder is the ledger's only sender of them until the seat
/// is released or the process ends, however it ends.
public final class WebhookSeat: Sendable {
  private let lock: LockedFile

  init(lock: LockedFile) { self.lock = lock }
}

extension Ledger {
  /// Takes the right to send webhooks.
  ///
  /// - Returns: nil when another sender has it, in this process or in another.
  /// - Throws: ``LedgerError`` with a file error.
  public func takeWebhookSeat() throws(LedgerError) -> WebhookSeat? {
    let place = file.deletingLastPathComponent().appending(path: file.lastPathComponent + ".webhooks")
    do {
      return try LockedFile(place, patience: 0).map(WebhookSeat.init(lock:))
    } catch {
      throw LedgerError(error, while: .changingWebhooks, in: file)
    }
  }
}
