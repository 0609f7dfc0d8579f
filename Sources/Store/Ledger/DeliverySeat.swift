// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

/// The exclusive right to do one kind of deliveries of a ledger. Its holder is the only one in any process until the
/// seat is released or the process ends, however it ends.
public final class DeliverySeat: Sendable {
  /// The kinds of deliveries that only one process at a time makes. The raw values are the ends of the names of the
  /// lock files.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case pushes
    case webhooks
    /// The announcing of payments that providers have reported.
    case providerPayments = "provider-payments"
  }

  private let lock: LockedFile

  fileprivate init(lock: LockedFile) { self.lock = lock }
}

extension Ledger {
  /// Takes the right to do deliveries.
  ///
  /// - Returns: nil when another one has it, in this process or in another.
  /// - Throws: ``LedgerError`` with a file error.
  public func takeSeat(of kind: DeliverySeat.Kind) throws(LedgerError) -> DeliverySeat? {
    let place = file.deletingLastPathComponent().appending(path: "\(file.lastPathComponent).\(kind.rawValue)")
    do {
      return try LockedFile(place, patience: 0).map(DeliverySeat.init(lock:))
    } catch {
      throw LedgerError(error, while: .taking, in: file)
    }
  }
}
