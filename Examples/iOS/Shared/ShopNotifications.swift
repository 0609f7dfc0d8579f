// SPDX-License-Identifier: Apache-2.0

import DeviceClient
import Foundation
import NotificationAttachments
import NotificationServiceKit
import SoundDownloads
import SoundDownloadsURLSession
import SoundLibrary
import Waveforms

/// The configuration that the app and its service extension share.
nonisolated enum ShopNotifications {
  /// The app's own service, with which it catches up. The extension has another one in its own process; both share the
  /// order through the group container.
  static let service: NotificationService? = {
    guard var configuration = try? NotificationService.Configuration(appGroup: Shop.appGroup) else { return nil }
    configure(&configuration)
    return NotificationService(configuration)
  }()

  static func configure(_ configuration: inout NotificationService.Configuration) {
    configuration.phraseBooks = Bundle.main.url(forResource: "Templates", withExtension: nil)
    configuration.downloader = SoundDownloader(
      library: SoundLibrary(container: configuration.container), fetcher: URLSessionSoundFetcher()
    ) { bytes in
      // Throws if the bytes are not a whole mono WAV file of 16 bits.
      _ = try WAVFile.layout(of: bytes)
    }
    configuration.attachments = AttachmentDownloader(
      folder: FileManager.default.temporaryDirectory, fetcher: URLSessionSoundFetcher())
    configuration.missed = MissedFromService()
  }

  /// Asks the service for announcements whose pushes were lost. The phone may be registered later than this is made.
  private struct MissedFromService: MissedAnnouncements {
    struct NotRegistered: Error {}

    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
      guard let client = try ShopDevice().client else { throw NotRegistered() }
      return try await client.announcements(after: sequence)
    }
  }
}
