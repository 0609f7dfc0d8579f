// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import DownloadTestSupport
import Foundation
import LibraryCopies
import NotificationServiceKit
import SoundDownloads
import Testing

@testable import PhoneRegistration

@Suite("What an app and its extensions know about the service")
struct PhoneSettingsTests {
  private func receipts(of phone: TestPhone) throws -> any ReceiptSending {
    var configuration = NotificationService.Configuration(
      container: phone.settings.container, tone: phone.settings.tone)
    configuration.connect(to: phone.settings)
    return try #require(configuration.receipts)
  }

  @Test("receipts for handed-over pushes are sent to the service with the phone's key")
  func receipts() async throws {
    let phone = try TestPhone()
    try await receipts(of: phone).send([HandOverReceipt(id: "p1", at: Date(timeIntervalSince1970: 0))])
    let request = try #require(phone.service.requests.first)
    #expect(request.url.absoluteString == "https://sounds.example/v1/devices/till-1/handed_over")
    #expect(request.fields["Authorization"] == "Bearer crier_7d3k9q2m_secret")
  }

  @Test("a phone that is not registered sends no receipts")
  func notRegistered() async throws {
    let phone = try TestPhone(isRegistered: false)
    await #expect(throws: PhoneRegistrationError(.notRegistered)) {
      try await receipts(of: phone).send([HandOverReceipt(id: "p1", at: Date(timeIntervalSince1970: 0))])
    }
    #expect(phone.service.requests.isEmpty)
  }

  @Test("an update of the library requests large files through the client in the phone's settings")
  func largeFiles() async throws {
    final class Background: LargeFileFetching {
      let requests = Locked<[LargeFileRequest]>([])
      func begin(_ request: LargeFileRequest) { requests.withLock { $0.append(request) } }
    }
    let digest = String(repeating: "a", count: 64)
    var phone = try TestPhone { _, _ in
      let change = #"{"kind":"clip","name":"\#(digest).wav","change":"added","sha256":"\#(digest)","bytes":600000}"#
      return SoundAnswer(200, [:], [Array(#"{"changes":[\#(change)],"anchor":"1"}"#.utf8)])
    }
    let background = Background()
    phone.settings.largeFiles = { background }
    #expect(try await phone.settings.updateLibrary()?.awaited == 1)
    #expect(background.requests.withLock { $0.map(\.sha256) } == [digest])
    #expect(phone.service.requests.count == 1)
  }
}
