// SPDX-License-Identifier: Apache-2.0

/// The place where a phone stores its id and its key. The app and its extensions share it.
///
/// On iOS, this is the keychain (`KeychainDeviceCredentialStore`). Elsewhere, it is a file
/// (``FileDeviceCredentialStore``).
public protocol DeviceCredentialStore: Sendable {
  /// Returns the stored id and key; nil if none are stored. The call blocks the thread for a moment.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable` if the store cannot be read now, for
  ///   example before the phone is first unlocked. The phone may nevertheless be registered.
  func credentials() throws(PhoneRegistrationError) -> DeviceCredentials?

  /// Stores an id and a key, and replaces earlier ones.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable`. The store is then unchanged.
  func store(_ credentials: DeviceCredentials) throws(PhoneRegistrationError)

  /// Removes the id and the key, for example when the user signs out. If nothing is stored, nothing happens.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `credentialsUnavailable`.
  func removeCredentials() throws(PhoneRegistrationError)
}
