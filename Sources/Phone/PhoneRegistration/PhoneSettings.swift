// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import DeviceClient
public import Foundation
public import HostAddresses
public import LibraryCopies
public import PushMessages
public import SoundDownloads
public import SoundLibrary

/// The facts that an app and its extensions know about Crier: the service, the app's names, and the places that they
/// share.
public struct PhoneSettings: Sendable {
  /// The URL of the service, such as `https://crier.example`.
  public var service: URL
  /// The bundle id of the app. Extensions also have the app's id here.
  public var bundleID: String
  /// The container of the app group. The tokens are in its folder `Library/Crier/Registration`.
  public var container: GroupContainer
  /// The tone that the user chose in the app.
  public var tone: any TonePreference
  /// The place of the phone's id and key.
  public var credentials: any DeviceCredentialStore
  /// The environment of the app's push tokens: sandbox or production.
  public var environment: PushEnvironment
  /// The language of the phone's notifications and clips (BCP 47); nil to use the account's language.
  public var locale: @Sendable () -> String? = { Locale.current.identifier(.bcp47) }
  /// The client that sends the requests.
  public var fetcher: any SoundFetching
  /// The source of the addresses of hosts.
  public var resolver: any HostResolving = SystemHostResolver()
  /// The rules for connections to the service.
  public var rules = DownloadRules()
  /// Returns the client for large files of the library; nil to fetch them during the update. On iOS, the default is
  /// `BackgroundLibraryFiles`.
  public var largeFiles: @Sendable () -> (any LargeFileFetching)? = { nil }
  /// Runs work that locks files of the container. The system must not suspend the process during this work. When the
  /// system is about to do so, the function must cancel the work's task. On iOS, the default is `ExpiringActivity`. On
  /// other systems, the work simply runs.
  public var uninterrupted: @Sendable (_ reason: String, _ work: @escaping @Sendable () async -> Void) async -> Void = {
    await $1()
  }
  /// Receives the errors that are not thrown to a caller, for example to log them: `DeviceClientError`,
  /// ``PhoneRegistrationError``, or a cancellation. They contain no key and no token.
  public var report: @Sendable (any Error) -> Void = { _ in }

  /// - Parameters:
  ///   - environment: The environment of the app's tokens; see `PushEnvironment.init(app:)`.
  ///   - fetcher: The client that sends the requests, such as `URLSessionSoundFetcher`.
  public init(
    service: URL, bundleID: String, container: GroupContainer, tone: any TonePreference,
    credentials: any DeviceCredentialStore, environment: PushEnvironment, fetcher: any SoundFetching
  ) {
    self.service = service
    self.bundleID = bundleID
    self.container = container
    self.tone = tone
    self.credentials = credentials
    self.environment = environment
    self.fetcher = fetcher
  }

  var tokens: SharedTokens {
    SharedTokens(
      folder: container.directory.appending(path: "Library/Crier/Registration", directoryHint: .isDirectory))
  }

  /// Returns the client for calls of the service; nil if the shop's backend has not registered this phone yet. The call
  /// blocks the thread for a moment.
  ///
  /// - Throws: ``PhoneRegistrationError`` with `credentialsUnavailable`.
  public func client() throws(PhoneRegistrationError) -> DeviceClient? {
    guard let stored = try credentials.credentials() else { return nil }
    return DeviceClient(
      access: DeviceAccess(service: service, device: stored.device, key: stored.key), fetcher: fetcher,
      resolver: resolver, rules: rules)
  }

  /// Returns the copy of the service's clips, tones and voice packs in the container; nil if the shop's backend has not
  /// registered this phone yet. The call blocks the thread for a moment.
  ///
  /// - Throws: ``PhoneRegistrationError`` with `credentialsUnavailable`.
  public func library() throws(PhoneRegistrationError) -> LibraryCopy? {
    try client().map { LibraryCopy(client: $0, container: container, largeFiles: largeFiles()) }
  }

  /// Updates the copy of the library, and asks the system for time to finish the work.
  ///
  /// - Returns: The changes that the update made; nil if another process is updating the copy, or if the shop's backend
  ///   has not registered this phone yet.
  /// - Throws: `LibraryCopyError`, ``PhoneRegistrationError``, or a cancellation.
  @discardableResult
  public func updateLibrary() async throws -> LibraryUpdate? {
    guard let library = try await onWaitingThread({ () throws(PhoneRegistrationError) in try library() }) else {
      return nil
    }
    let outcome = try await withoutInterruption("Copying the sound library") { try await library.update() }
    return if case .updated(let update) = outcome { update } else { nil }
  }

  /// Returns the data that this phone registers, with these tokens.
  func registration(with tokens: [PushTokenKind: Data]) -> DeviceRegistration {
    DeviceRegistration(
      tokens: tokens, bundleID: bundleID, environment: environment, locale: locale(), tone: try? tone.tone())
  }
}
