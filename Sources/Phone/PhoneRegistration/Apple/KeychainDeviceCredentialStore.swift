// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
  import Foundation
  import Security

  /// The phone's id and key in the keychain, as one generic password.
  ///
  /// Extensions run while the phone is locked, so the item can be read from the first unlock after a restart on. It stays
  /// on this phone: a backup that is restored on another phone does not bring it there, because two phones with one id
  /// would replace each other's tokens. It also stays when the app is deleted. Then, the app finds it when it is
  /// installed again.
  public struct KeychainDeviceCredentialStore: DeviceCredentialStore {
    private let accessGroup: String?
    private let name: String

    /// - Parameters:
    ///   - accessGroup: The group of programs that share the item. On iOS, it may be the identifier of an app group,
    ///     which needs no entitlement besides that of the group. Nil for the first group of the program, which an app
    ///     and its extensions need not share.
    ///   - name: The item's service, in the terms of the keychain.
    public init(accessGroup: String?, name: String = "crier.device") {
      self.accessGroup = accessGroup
      self.name = name
    }

    /// The attributes that find the item.
    private var item: [String: Any] {
      var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: name,
        // On a Mac, only this keychain has access groups.
        kSecUseDataProtectionKeychain as String: true,
      ]
      if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
      return item
    }

    /// Returns what is stored. A damaged item counts as nothing.
    public func credentials() throws(PhoneRegistrationError) -> DeviceCredentials? {
      var query = item
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var found: CFTypeRef?
      // Safe: the keychain fills in a local variable.
      let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess else { throw Self.error(status) }
      return (found as? Data).flatMap { try? JSONDecoder().decode(DeviceCredentials.self, from: $0) }
    }

    public func store(_ credentials: DeviceCredentials) throws(PhoneRegistrationError) {
      guard let data = try? JSONEncoder().encode(credentials) else {
        throw PhoneRegistrationError(.credentialsUnavailable)
      }
      let values: [String: Any] = [
        kSecValueData as String: data,
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Self.error(status) }
    }

    public func removeCredentials() throws(PhoneRegistrationError) {
      let status = SecItemDelete(item as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.error(status) }
    }

    private static func error(_ status: OSStatus) -> PhoneRegistrationError {
      let text = SecCopyErrorMessageString(status, nil).map { ": \($0 as String)" } ?? ""
      return PhoneRegistrationError(.credentialsUnavailable, reason: "keychain error \(status)\(text)")
    }
  }
#endif
