// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
  import Foundation
  import Security

  /// The phone's id and key in the keychain, as one generic password.
  ///
  /// Extensions run while the phone is locked, so the item can be read once the phone was unlocked after a restart. The
  /// item stays on this phone: if a backup is restored on another phone, the item is not restored there, because two
  /// phones with the same id would replace each other's tokens. The item also stays when the app is deleted. If the app
  /// is installed again, it finds the item.
  public struct KeychainDeviceCredentialStore: DeviceCredentialStore {
    private let accessGroup: String?
    private let name: String

    /// - Parameters:
    ///   - accessGroup: The group of programs that share the item. On iOS, it may be the identifier of an app group.
    ///     The program then needs no other entitlement. Nil for the program's first access group, which may differ
    ///     between an app and its extensions.
    ///   - name: The service attribute (`kSecAttrService`) of the keychain item.
    public init(accessGroup: String?, name: String = "crier.device") {
      self.accessGroup = accessGroup
      self.name = name
    }

    /// The attributes that identify the item.
    private var item: [String: Any] {
      var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: name,
        // On a Mac, only the data protection keychain has access groups.
        kSecUseDataProtectionKeychain as String: true,
      ]
      if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
      return item
    }

    /// Returns the stored id and key. A damaged item counts as absent.
    public func credentials() throws(PhoneRegistrationError) -> DeviceCredentials? {
      var query = item
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var found: CFTypeRef?
      // Safe: the call writes only to a local variable.
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
