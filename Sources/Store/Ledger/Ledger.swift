// SPDX-License-Identifier: Apache-2.0

/// The durable store of accepted announcements, of their states, and of everything else that the service must not lose.
///
/// This namespace has the values of a ledger, the rules that every ledger follows, and the protocols of what a ledger
/// does, one for each subject. A ledger itself is a type of another target: `SQLiteLedger` keeps everything in a file.
///
/// - Each call of a protocol is one whole transaction, unless its documentation says otherwise. When an `async` call
///   that writes returns, its changes survive the end of the process. The changes of a call that throws are not stored.
/// - A call that breaks a rule does not affect the others.
/// - Cancelling a task does not undo its write: the call still returns the result.
/// - Any number of processes can use the same ledger.
public enum Ledger {
  /// Everything that a ledger does.
  public typealias Store = AcceptanceStore & StateStore & KeyStore & DeviceStore & PushStore & WebhookStore
    & LibraryStore & BatchStore & ProviderPaymentStore & PruningStore & SeatStore & NodeStore & ProviderTokenStore
    & Supervision

  /// The limits of what a ledger keeps.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of devices of an account.
    public var mostDevices = 10_000
    /// The maximum number of devices in a group of devices. An announcement to the group is one transaction.
    public var mostDevicesInGroup = 500
    /// The maximum number of enumerators of a device.
    public var mostEnumerators = 100
    /// The maximum number of enumerators of all devices of an account.
    public var mostEnumeratorsOfAccount = 20_000
    /// The maximum number of ended pushes without an announcement that pruning keeps. Pushes about the library are an
    /// example. Nobody asks for such pushes later. Pushes of announcements are kept as long as their announcements,
    /// because phones ask later for announcements that they missed.
    public var mostEndedSilentPushes = 50_000

    public init() {}
  }
}
