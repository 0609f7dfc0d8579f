// SPDX-License-Identifier: Apache-2.0

/// The place where a phone keeps its id and its key. The app and its extensions share it.
///
/// On iOS, this is the keychain (`KeychainDeviceCredentialStore`). Elsewhere, it is a file
/// (``FileDeviceCredentialStore``).
public protocol DeviceCredentialStore: Sendable {
  /// Returns what is stored; nil if nothing is. The call blocks the thread for a moment.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable` if the place cannot be read now, for
  ///   example before the phone is first unlocked. The phone may be registered then.
  func credentials() throws(PhoneRegistrationError) -> DeviceCredentials?

  /// Stores an id and a key in place of those before.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable`. What was stored is unchanged then.
  func store(_ credentials: DeviceCredentials) throws(PhoneRegistrationError)

  /// Removes the id and the key, for example when the user signs out. If nothing is stored, nothing happens.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable`.
  func removeCredentials() throws(PhoneRegistrationError)
}
