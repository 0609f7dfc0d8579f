// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import Foundation
import NotificationServiceKit
import PushMessages
import SoundDownloadsURLSession
import SoundLibrary

/// This phone, as the Crier service knows it. The app and its extensions share its files in the group container.
///
/// Each file is replaced as a whole. That of the tokens is changed under a lock.
nonisolated struct ShopDevice: Sendable {
  /// The id and the key that the shop's backend got from Crier for this phone.
  private struct Access: Codable {
    var device: String
    var key: String
  }

  let container: GroupContainer
  private let folder: URL

  /// - Throws: `NotificationServiceError` if this program is not a member of the app group.
  init() throws {
    container = try GroupContainer(appGroup: Shop.appGroup)
    folder = container.directory.appending(path: "Library/Shop", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private var accessFile: URL { folder.appending(path: "device.json", directoryHint: .notDirectory) }

  /// The calls of the service; nil before the backend has registered this phone.
  var client: DeviceClient? {
    guard let service = URL(string: Shop.service), let data = try? Data(contentsOf: accessFile),
      let access = try? JSONDecoder().decode(Access.self, from: data)
    else { return nil }
    return DeviceClient(
      access: DeviceAccess(service: service, device: access.device, key: access.key),
      fetcher: URLSessionSoundFetcher())
  }

  // MARK: The first registration

  /// Lets the shop's backend register this phone, unless it is registered.
  ///
  /// The backend has a key of Crier with the scope `announce`, which must never be in an app. It calls
  /// `PUT /v1/devices/{id}` and answers with `{"device": "…", "key": "…"}`: the id, and the device's own key. How the
  /// backend knows this phone's user is the app's affair, such as by a session cookie.
  func registerWithBackend() async throws {
    guard client == nil, let backend = URL(string: Shop.backend) else { return }
    var request = URLRequest(url: backend)
    request.httpMethod = "POST"
    let (body, answer) = try await URLSession.shared.data(for: request)
    guard (answer as? HTTPURLResponse)?.statusCode == 201,
      let access = try? JSONDecoder().decode(Access.self, from: body)
    else { throw URLError(.badServerResponse) }
    try JSONEncoder().encode(access).write(to: accessFile, options: .atomic)
  }

  // MARK: Tokens

  private var tokensFile: URL { folder.appending(path: "tokens.json", directoryHint: .notDirectory) }

  /// Changes the tokens of the app and of its file-provider extension, while no other process does. The call blocks the
  /// thread for a moment; the caller sees to it that iOS does not suspend the process meanwhile.
  ///
  /// - Throws: An error of the file system. The tokens are unchanged then.
  func changeTokens<Result>(_ body: (inout RegisteredTokens) -> Result) throws -> Result {
    let lock = open(
      folder.appending(path: "tokens.lock").path(percentEncoded: false), O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw CocoaError(.fileWriteUnknown) }
    // The lock ends with its descriptor.
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CocoaError(.fileLocking) }
    }
    var tokens = RegisteredTokens()
    if let data = try? Data(contentsOf: tokensFile),
      let stored = try? JSONDecoder().decode(RegisteredTokens.self, from: data)
    {
      tokens = stored
    }
    let result = body(&tokens)
    try JSONEncoder().encode(tokens).write(to: tokensFile, options: .atomic)
    // Tokens are secrets.
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: tokensFile.path(percentEncoded: false))
    return result
  }

  /// Returns the registration of this phone with all its tokens. A registration replaces the one before.
  func registration(with tokens: [PushTokenKind: Data]) -> DeviceRegistration {
    #if DEBUG
      let environment = PushEnvironment.sandbox
    #else
      let environment = PushEnvironment.production
    #endif
    let tone = try? DefaultsTonePreference(group: Shop.appGroup).tone()
    return DeviceRegistration(
      tokens: tokens, bundleID: Shop.bundleID, environment: environment,
      locale: Locale.current.identifier(.bcp47), tone: tone)
  }
}
