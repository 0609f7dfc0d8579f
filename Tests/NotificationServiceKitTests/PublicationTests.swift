// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import Foundation
import SoundDownloads
import SoundLibrary
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("Publications of sounds around a hand-over", .timeLimit(.minutes(5)))
struct PublicationTests {
  /// A publication that lasts until the test ends it.
  private final class SlowPublication: Sendable {
    private let isAllowed = DispatchSemaphore(value: 0)
    let hasEnded = Locked(false)

    init(of publications: Publications) {
      let began = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [self] in
        publications.run {
          began.signal()
          isAllowed.wait()
          hasEnded.withLock { $0 = true }
        }
      }
      began.wait()
    }

    func end() { isAllowed.signal() }
  }

  @Test("the last hand-over waits until a running publication of a sound ends")
  func waits() async throws {
    let phone = try PhoneFolder()
    let service = phone.service { _, _ in SoundAnswer(404, [:], []) }
    let publication = SlowPublication(of: service.sounds.publications)
    let hadEnded = Locked<[Bool]>([])
    let work = service.receive(try TestPush(hasTokens: false).payload) { _ in
      let ended = publication.hasEnded.withLock { $0 }
      hadEnded.withLock { $0.append(ended) }
    }
    // From here on, only the publication holds up the hand-over.
    try await eventually("the request is closed") { !service.requests.isOpen }
    #expect(hadEnded.withLock { $0.isEmpty })
    publication.end()
    await work.finished()
    #expect(hadEnded.withLock { $0 } == [true])
  }

  @Test("if the publication of a sound does not end, it delays the hand-over no longer than the limit")
  func bounded() async throws {
    let phone = try PhoneFolder()
    var limits = PhoneFolder.patient
    limits.soundHandOver = 0.05
    let service = phone.service(script: { _, _ in SoundAnswer(404, [:], []) }, blocking: limits)
    let publication = SlowPublication(of: service.sounds.publications)
    #expect(await service.handOver(try TestPush(hasTokens: false).payload).count == 1)
    #expect(publication.hasEnded.withLock { !$0 })
    publication.end()
  }

  @Test("a hand-over waits for the publications of the downloader")
  func ofDownloader() throws {
    let phone = try PhoneFolder()
    let service = phone.service { _, _ in SoundAnswer(404, [:], []) }
    #expect(service.configuration.downloader?.publications === service.sounds.publications)
    #expect(service.sounds.publications.finish(within: 0))
  }

  @Test("a clip that is joined after the last hand-over is not published, and this is not an error")
  func joinedTooLate() async throws {
    let phone = try PhoneFolder()
    try phone.installPack(tokens: ["Received", "two", "dollars"])
    let service = phone.service()
    let content = try #require(NotificationPayload(readable: try TestPush().payload).content)
    #expect(throws: NotificationServiceError.self) { try service.sounds.stitched(content) }
    #expect(try phone.library.names().isEmpty)
    service.requests.begin()
    _ = try service.sounds.stitched(content)
    #expect(try phone.library.names().count == 1)
    #expect(phone.errorCodes.isEmpty)
  }
}
