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
  /// Connects the notifications with the service: clips and attachments are downloaded, and the service is asked for
  /// lost pushes, and learns what was handed over. The app and its service extension call this.
  ///
  /// - Parameter phraseBooks: The folder of the phrase books, such as `CrierPhone.phraseBooks`. Nil for the folder that
  ///   the configuration has already, or else `Templates` in the bundle of this program.
  public mutating func connect(to phone: PhoneSettings, phraseBooks: URL? = nil) {
    self.phraseBooks = phraseBooks ?? self.phraseBooks ?? Bundle.main.url(forResource: "Templates", withExtension: nil)
    // A URL in a push may lead anywhere, so what the app allows for the service does not hold for it.
    var rules = DownloadRules()
    rules.serviceHost = phone.service.host(percentEncoded: false)
    downloader = SoundDownloader(
      library: SoundLibrary(container: phone.container), fetcher: phone.fetcher, resolver: phone.resolver, rules: rules
    ) { bytes in
      // Throws if the bytes are not a whole mono WAV file of 16 bits.
      _ = try WAVFile.layout(of: bytes)
    }
    attachments = AttachmentDownloader(
      folder: FileManager.default.temporaryDirectory, fetcher: phone.fetcher, resolver: phone.resolver, rules: rules)
    missed = ServiceOfPhone(phone: phone)
    receipts = ServiceOfPhone(phone: phone)
  }
}

/// The calls of the service with the phone's key. The phone may be registered later than this is made.
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
