// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import Foundation
import LibraryCopies
import SoundDownloads
import Testing

@testable import PhoneRegistration

@Suite("What an app and its extensions know about the service")
struct PhoneSettingsTests {
  @Test("an update asks the client of the settings for large files")
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
