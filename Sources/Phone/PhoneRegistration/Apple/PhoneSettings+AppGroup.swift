// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  public import Foundation
  public import NotificationServiceKit
  import PushMessages
  public import SoundDownloads
  import SoundLibrary
  // This file uses the module only for the condition above.
  import UserNotifications

  extension PhoneSettings {
    /// Creates the settings of an app group: its container, the tone in its `UserDefaults`, the phone's key in the
    /// keychain, and the environment from the app's own provisioning profile. The programs of the group share the key.
    ///
    /// - Parameters:
    ///   - service: The URL of the service, such as `https://crier.example`.
    ///   - bundleID: The bundle id of the app. Extensions also give the app's id, not their own.
    ///   - fetcher: The client that sends the requests, such as `URLSessionSoundFetcher`.
    /// - Throws: `NotificationServiceError` with `groupUnavailable` if this program is not a member of the group,
    ///   ``PhoneRegistrationError`` with `serviceInvalid`, or `SoundLibraryError`.
    public init(appGroup: String, service: String, bundleID: String, fetcher: any SoundFetching) throws {
      guard let url = URL(string: service), url.host(percentEncoded: false) != nil else {
        throw PhoneRegistrationError(.serviceInvalid)
      }
      self.init(
        service: url, bundleID: bundleID, container: try GroupContainer(appGroup: appGroup),
        tone: try DefaultsTonePreference(group: appGroup),
        credentials: KeychainDeviceCredentialStore(accessGroup: appGroup),
        environment: PushEnvironment(app: Bundle.main.app), fetcher: fetcher)
      uninterrupted = { reason, work in
        // The error is never thrown, because `work` does not throw.
        try? await ExpiringActivity.run(reason) { await work() }
      }
      largeFiles = { [container] in BackgroundLibraryFiles.session(appGroup: appGroup, container: container) }
      report = { NSLog("%@", "\($0)") }
    }
  }

  extension PhoneRegistration {
    /// Creates the registration of an app, together with the group's notification service, which is connected to
    /// Crier's service.
    ///
    /// - Parameter phraseBooks: The folder of the phrase books, such as `CrierPhone.phraseBooks`; nil for `Templates`
    ///   in the bundle of the app.
    /// - Throws: `NotificationServiceError` with `groupUnavailable` if this program is not a member of the group.
    public init(
      _ settings: PhoneSettings, appGroup: String, phraseBooks: URL? = nil
    ) throws(NotificationServiceError) {
      var configuration = try NotificationService.Configuration(appGroup: appGroup)
      configuration.connect(to: settings, phraseBooks: phraseBooks)
      configuration.report = settings.report
      self.init(settings, notifications: NotificationService(configuration))
    }

    /// Asks the shop's backend to register this phone, unless it is registered already. The request is a `POST` without
    /// a body. The cookies of the app's `URLSession.shared` say who the user is. If the backend recognises the user in
    /// another way, use ``obtainCredentials(from:)``.
    ///
    /// - Parameter url: The URL of the backend. The backend must answer with the status 200 or 201.
    /// - Throws: `URLError`, with the code `badServerResponse` for another status, or ``PhoneRegistrationError``.
    public func obtainCredentials(fromBackend url: String) async throws {
      guard let url = URL(string: url) else { throw URLError(.badURL) }
      try await obtainCredentials {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let (answer, head) = try await URLSession.shared.data(for: request)
        guard [200, 201].contains((head as? HTTPURLResponse)?.statusCode) else { throw URLError(.badServerResponse) }
        return answer
      }
    }
  }
#endif
