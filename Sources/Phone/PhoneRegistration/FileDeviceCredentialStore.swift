// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// A file with the phone's id and key, which only its owner can read (mode 0600). Each change replaces the whole file.
///
/// It is for tests and for systems without a keychain.
public struct FileDeviceCredentialStore: DeviceCredentialStore {
  private let file: URL

  /// - Parameter file: The URL of the file. Its folder is made if it is missing.
  public init(_ file: URL) { self.file = file }

  /// Returns the stored id and key. A damaged file counts as absent.
  public func credentials() throws(PhoneRegistrationError) -> DeviceCredentials? {
    try onDisk { () throws(SystemError) in
      try DurableFile.contents(of: file).flatMap { try? JSONDecoder().decode(DeviceCredentials.self, from: $0) }
    }
  }

  public func store(_ credentials: DeviceCredentials) throws(PhoneRegistrationError) {
    try onDisk { () throws(SystemError) in
      try DurableFolder.make(file.deletingLastPathComponent(), .ownerOnly)
      // The service does not show the key again, so the file must survive a loss of power.
      try DurableFile.write(StoredFile.json(credentials), to: file)
    }
  }

  public func removeCredentials() throws(PhoneRegistrationError) {
    try onDisk { () throws(SystemError) in try DurableFile.remove(file) }
  }

  private func onDisk<Value>(_ work: () throws(SystemError) -> Value) throws(PhoneRegistrationError) -> Value {
    do throws(SystemError) {
      return try work()
    } catch {
      throw PhoneRegistrationError(.credentialsUnavailable, reason: error.description)
    }
  }
}

/// The JSON encoding of the files in this target.
enum StoredFile {
  static func json(_ value: some Encodable) throws(SystemError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let data = try? encoder.encode(value) else { throw .inputOutput }
    return data
  }
}
