// SPDX-License-Identifier: Apache-2.0

import FileSystem

/// The exclusive right to make one kind of deliveries for a ledger. No other process, and no other part of this one,
/// can take it until the seat is released or the process ends, even by a crash.
public final class DeliverySeat: Sendable {
  /// The kinds of deliveries that only one process at a time makes. The raw value is the end of the lock file's name.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case pushes
    case webhooks
    /// The announcing of payments that providers have reported.
    case providerPayments = "provider-payments"
  }

  private let lock: LockedFile

  init(lock: LockedFile) { self.lock = lock }
}
