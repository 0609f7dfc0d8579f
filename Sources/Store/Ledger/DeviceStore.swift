// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

extension Ledger {
  /// The phones that get pushes, with their tokens and outcomes. Each call is one whole transaction.
  public protocol DeviceStore: Sendable {
    /// Registers a device, or replaces its registration. The change is durable when the call returns.
    ///
    /// A token that another device of the account has registered moves to this one, because a token belongs to one
    /// installation of an app. If a new device has the id of a removed device, it continues the numbers of that
    /// device's announcements, so that an app that remembers the latest number misses nothing.
    ///
    /// - Parameters:
    ///   - key: The device's own key. It is stored when the device is new, and when ``renewsKey`` is true; the device's
    ///     former keys are revoked then.
    ///   - ownKey: The id of the device's own key if the device registers itself. The device then stays in its group of
    ///     devices and in its app group, because in another group it would get announcements and clips that are meant for
    ///     others. A device whose key was revoked meanwhile, for example because the device was removed, is not
    ///     registered again.
    ///   - actor: The administrator who makes the key.
    /// - Throws: ``LedgerError`` with `invalidValue`, `tooManyDevices`, `deviceNameTaken` when a group of devices has
    ///   the device's id or a device has the name of its group, `keyNotInForce` when `ownKey` is not a valid key of the
    ///   device, `keyExists`, `diskFull`, `busy` or a file error. Nothing was changed then.
    @discardableResult
    func register(
      _ new: NewDevice, key: NewKey, renewsKey: Bool, with ownKey: String?, by actor: Administrator
    ) async throws(LedgerError) -> Registration

    /// Returns a device; nil when the account has none with this id.
    func device(account: String, id: String) async throws(LedgerError) -> Device?

    /// Returns the devices of an account that a name stands for: the device with this id or, if there is none, the
    /// devices of the group with this name, sorted by their ids.
    func devices(account: String, named name: String) async throws(LedgerError) -> [Device]

    /// Returns the devices of an account after an id, sorted by their ids.
    ///
    /// - Parameter limit: The maximum number of devices, 1 to 1,000.
    func devices(account: String, after id: String, limit: Int) async throws(LedgerError) -> [Device]

    /// Removes a device with its tokens, and revokes its keys. Its unfinished pushes end when their turn comes. The
    /// removal is durable when the call returns.
    ///
    /// - Returns: Whether the account had the device.
    @discardableResult
    func removeDevice(account: String, id: String, by actor: Administrator) async throws(LedgerError) -> Bool

    /// Records that APNs refused a token as bad. A token that was replaced meanwhile is not affected.
    ///
    /// - Parameter seat: The seat of the sender of pushes; nil for a push that was not in the outbox, such as one that
    ///   tests a device.
    /// - Throws: ``LedgerError`` with `leaseLost` if the sender has lost its seat. Nothing was changed then.
    func countRefusal(
      ofToken token: String, account: String, device: String, under seat: DeliverySeat?
    ) async throws(LedgerError)

    /// Removes a token that APNs no longer knows.
    ///
    /// - Parameters:
    ///   - moment: The latest time at which APNs knows that the token was not valid. A token that was registered later is
    ///     valid again, and stays.
    ///   - seat: See ``countRefusal(ofToken:account:device:under:)``.
    /// - Returns: Whether the token was removed.
    @discardableResult
    func removeToken(
      _ token: String, account: String, device: String, invalidSince moment: Date, under seat: DeliverySeat?
    ) async throws(LedgerError) -> Bool

    /// Stores the outcome of a push that was not in the outbox, such as one that tests a device.
    ///
    /// - Parameters:
    ///   - kind: The kind of the token that was used.
    ///   - state: A final state.
    ///   - reason: The reason from APNs or the sender, at most 64 bytes, without tokens or names.
    func noteOutcome(
      _ state: Push.State, reason: String?, of kind: PushTokenKind, account: String, device: String
    ) async throws(LedgerError)
  }
}

extension Ledger.DeviceStore {
  /// Calls ``countRefusal(ofToken:account:device:under:)`` with `nil` for `under`.
  public func countRefusal(ofToken token: String, account: String, device: String) async throws(LedgerError) {
    try await countRefusal(ofToken: token, account: account, device: device, under: nil)
  }

  /// Calls ``removeToken(_:account:device:invalidSince:under:)`` with `nil` for `under`.
  @discardableResult
  public func removeToken(
    _ token: String, account: String, device: String, invalidSince moment: Date
  ) async throws(LedgerError) -> Bool {
    try await removeToken(token, account: account, device: device, invalidSince: moment, under: nil)
  }
}
