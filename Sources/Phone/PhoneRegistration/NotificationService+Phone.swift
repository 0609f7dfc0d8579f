// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
public import Foundation
import NotificationAttachments
public import NotificationServiceKit
import SoundDownloads
import SoundLibrary
import Waveforms

extension NotificationService.Configuration {
  /// Connects the notifications to the service. They then download clips and attachments, ask the service for lost
  /// pushes, and report to it what was handed over to iOS. The app and its service extension call this method.
  ///
  /// - Parameter phraseBooks: The folder of the phrase books, such as `CrierPhone.phraseBooks`. If it is nil, the
  ///   folder that is already in the configuration is used, or else `Templates` in the bundle of this program.
  public mutating func connect(to phone: PhoneSettings, phraseBooks: URL? = nil) {
    self.phraseBooks = phraseBooks ?? self.phraseBooks ?? Bundle.main.url(forResource: "Templates", withExtension: nil)
    // A URL in a push may lead to any host, so the exceptions that the app makes for the service do not apply to it.
    var rules = DownloadRules()
    rules.serviceHost = phone.service.host(percentEncoded: false)
    downloader = SoundDownloader(
      library: SoundLibrary(container: phone.container), fetcher: phone.fetcher, resolver: phone.resolver, rules: rules
    ) { bytes in
      // This call throws if the bytes are not a complete mono WAV file of 16 bits.
      _ = try WAVFile.layout(of: bytes)
    }
    attachments = AttachmentDownloader(
      folder: FileManager.default.temporaryDirectory, fetcher: phone.fetcher, resolver: phone.resolver, rules: rules)
    missed = ServiceOfPhone(phone: phone)
    receipts = ServiceOfPhone(phone: phone)
  }
}

/// Calls the service with the phone's key. The key is read for each call, because the phone may be registered later.
private struct ServiceOfPhone: MissedAnnouncements, ReceiptSending {
  let phone: PhoneSettings

  func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
    try await client().announcements(after: sequence)
  }

  func send(_ receipts: [HandOverReceipt]) async throws { try await client().send(receipts) }

  private func client() async throws -> DeviceClient {
    let client = try await onWaitingThread { () throws(PhoneRegistrationError) in try phone.client() }
    guard let client else { throw PhoneRegistrationError(.notRegistered) }
    return client
  }
}
