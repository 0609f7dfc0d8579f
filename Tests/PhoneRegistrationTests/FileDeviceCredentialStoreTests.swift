// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PhoneRegistration

@Suite("A file of credentials")
struct FileDeviceCredentialStoreTests {
  private let folder: TemporaryFolder
  private let file: URL
  private let store: FileDeviceCredentialStore
  private let credentials = DeviceCredentials(device: "till-1", key: "secret")

  init() throws {
    folder = try TemporaryFolder()
    file = folder.url.appending(path: "Keys/device.json")
    store = FileDeviceCredentialStore(file)
  }

  @Test("stored credentials can be read through another store of the same file, which only the owner can read")
  func stored() throws {
    #expect(try store.credentials() == nil)
    try store.store(credentials)
    #expect(try FileDeviceCredentialStore(file).credentials() == credentials)
    #expect(try permissions(of: file) == 0o600)
    #expect(try permissions(of: file.deletingLastPathComponent()) == 0o700)
  }

  @Test("new credentials replace the former ones, and the file stays readable by its owner only")
  func replaced() throws {
    try store.store(credentials)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path(percentEncoded: false))
    try store.store(DeviceCredentials(device: "till-2", key: "other"))
    #expect(try store.credentials()?.device == "till-2")
    #expect(try permissions(of: file) == 0o600)
  }

  @Test("removed credentials cannot be read any more, and removing them twice is not an error")
  func removed() throws {
    try store.store(credentials)
    try store.removeCredentials()
    try store.removeCredentials()
    #expect(try store.credentials() == nil)
  }

  @Test("a damaged credentials file counts as missing")
  func damaged() throws {
    try store.store(credentials)
    try Data("{\"device\":".utf8).write(to: file)
    #expect(try store.credentials() == nil)
  }

  @Test("a credentials file that cannot be read is an error, and does not count as missing")
  func unreadable() throws {
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    let error = #expect(throws: PhoneRegistrationError.self) { _ = try store.credentials() }
    #expect(error?.code == .credentialsUnavailable)
  }
}
