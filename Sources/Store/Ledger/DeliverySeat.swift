// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
package import FileSystem

/// The exclusive right to make one kind of deliveries for a ledger. No other process, and no other part of this one,
/// can take it until the seat is given back or no longer referenced.
///
/// The seat of a ledger in a file is a locked file: when the process ends, even by a crash, another one can take the
/// seat at once. The seat of a ledger that several machines use is a lease, which is renewed as long as the seat
/// exists; see ``Ledger/Lease``. It can be lost while the process runs, so:
///
/// - Pass the seat to each call that stores something about the deliveries. If the seat is lost, the call fails with
///   ``LedgerError`` `leaseLost`, and nothing is stored.
/// - Ask ``isUsable`` just before something leaves the process, such as a push.
/// - Stop the deliveries when ``loss()`` returns.
public final class DeliverySeat: Sendable {
  /// The kinds of deliveries that only one process at a time makes. The raw value is the end of the lock file's name,
  /// and the name of the lease.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case pushes
    case webhooks
    /// The announcing of payments that providers have reported.
    case providerPayments = "provider-payments"
  }

  private enum Hold {
    case file(LockedFile)
    case lease(HeldLease)
    case none
  }

  public let kind: Kind
  private let hold: Locked<Hold>
  private let returns = AsyncStream<Void>.makeStream()

  package init(_ kind: Kind, lock: LockedFile) {
    self.kind = kind
    hold = Locked(.file(lock))
  }

  package init(_ kind: Kind, lease: HeldLease) {
    self.kind = kind
    hold = Locked(.lease(lease))
  }

  /// The lease; nil for a locked file, and for a seat that was given back.
  package var lease: HeldLease? {
    if case .lease(let lease) = hold.withLock({ $0 }) { lease } else { nil }
  }

  /// Whether the deliveries may be made at this moment.
  public var isUsable: Bool {
    switch hold.withLock({ $0 }) {
    case .file: true
    case .lease(let lease): lease.isUsable
    case .none: false
    }
  }

  /// Whether the seat was given back.
  package var isGivenBack: Bool {
    if case .none = hold.withLock({ $0 }) { true } else { false }
  }

  /// Waits until the seat is lost or given back, or until the task is cancelled. One task may wait.
  public func loss() async {
    if let lease { return await lease.loss() }
    if isGivenBack { return }
    for await _ in returns.stream {}
  }

  /// Gives the seat back. When the call returns, another process can take it.
  public func giveBack() async {
    let former = hold.withLock { hold in
      defer { hold = .none }
      return hold
    }
    if case .lease(let lease) = former { await lease.giveBack() }
    returns.continuation.finish()
  }
}
