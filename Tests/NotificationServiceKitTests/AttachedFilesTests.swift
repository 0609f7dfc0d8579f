// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import Foundation
import NotificationAttachments
import SoundDownloads
import SoundLibrary
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("The attachment and the payer's picture of a notification", .timeLimit(.minutes(5)))
struct AttachedFilesTests {
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 96)
  private static let movie: [UInt8] = [0, 0, 0, 16] + Array("ftypmp42".utf8) + [UInt8](repeating: 0, count: 88)

  /// The answer to a request for the attachment or for the picture; nil if it never comes.
  private typealias Answer = @Sendable () -> SoundAnswer?

  /// Returns a service that fetches the two files, a folder for them, and its clock. The clock stands still, so the time
  /// limit ends when the test says so.
  private func service(
    _ phone: PhoneFolder, attachment: @escaping Answer, picture: @escaping Answer
  ) -> (service: NotificationService, folder: URL, clock: PhoneClock) {
    let clock = PhoneClock(standsStill: true)
    let folder = phone.container.directory.appending(path: "tmp", directoryHint: .isDirectory)
    var configuration = phone.service(clock: clock).configuration
    let fetcher = ScriptedFetcher { request, _ in
      if let answer = request.url.path().contains("face") ? picture() : attachment() { return answer }
      // Ends when the task is cancelled.
      try await Task.sleep(for: .seconds(3_600))
      throw SoundFetchError.connectionLost
    }
    configuration.attachments = AttachmentDownloader(folder: folder, fetcher: fetcher, resolver: TableResolver())
    return (NotificationService(configuration), folder, clock)
  }

  private func payload(_ push: TestPush = TestPush(hasTokens: false)) throws -> Data {
    var keys = try #require(try JSONSerialization.jsonObject(with: push.payload) as? [String: Any])
    keys["image-url"] = "https://sounds.example/receipt.jpg"
    var crier = try #require(keys["crier"] as? [String: Any])
    crier["payer"] = ["name": "Ada", "avatar_url": "https://sounds.example/face.jpg"]
    keys["crier"] = crier
    return try JSONSerialization.data(withJSONObject: keys)
  }

  private func files(in folder: URL) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
  }

  /// Returns when the folder has a number of files.
  private func wait(until count: Int, in folder: URL) async throws {
    try await eventually("the folder has \(count) files") { files(in: folder).count == count }
  }

  /// Works on a push whose time limit for files ends when one of them is there, and returns the hand-over.
  private func handOver(
    _ payload: Data, _ service: NotificationService, _ clock: PhoneClock,
    endsWith isThere: @escaping @Sendable (SoundPreparation) -> Bool
  ) async throws -> HandOver {
    let handed = Locked<[HandOver]>([])
    let work = service.receive(payload) { handOver in handed.withLock { $0.append(handOver) } }
    try await eventually("the file is there") { isThere(work.preparation) }
    #expect(handed.withLock { $0.isEmpty }, "The other file is waited for.")
    clock.pass(service.configuration.attachmentLimit)
    await work.finished()
    let all = handed.withLock { $0 }
    #expect(all.count == 1)
    return try #require(all.first)
  }

  @Test("a notification is handed over with its attachment and the payer's picture, and the picture's file is removed")
  func both() async throws {
    let phone = try PhoneFolder()
    let (service, folder, _) = service(
      phone, attachment: { SoundAnswer(200, [:], [Self.jpeg]) }, picture: { SoundAnswer(200, [:], [Self.jpeg]) })
    let handOver = try #require(await service.handOver(payload()).first)
    #expect(handOver.sender?.name == "Ada")
    #expect(handOver.sender?.picture != nil)
    let attachment = try #require(handOver.attachments.first)
    try await wait(until: 1, in: folder)
    #expect(try Array(Data(contentsOf: attachment.file)) == Self.jpeg)
  }

  @Test("when its attachment is ready, a notification waits for a slow picture no longer than the limit")
  func slowPicture() async throws {
    let phone = try PhoneFolder()
    let (service, folder, clock) = service(
      phone, attachment: { SoundAnswer(200, [:], [Self.jpeg]) }, picture: { nil })
    let handOver = try await handOver(payload(), service, clock) { $0.files.hasAttachment }
    #expect(handOver.attachments.map(\.kind.uniformTypeIdentifier) == ["public.jpeg"])
    #expect(handOver.sender == HandOver.Sender(name: "Ada", picture: nil))
    #expect(files(in: folder).count == 1)
    #expect(phone.errorCodes.isEmpty)
  }

  @Test("a payer's picture that is ready is shown even if the attachment is slow")
  func slowAttachment() async throws {
    let phone = try PhoneFolder()
    let (service, folder, clock) = service(
      phone, attachment: { nil }, picture: { SoundAnswer(200, [:], [Self.jpeg]) })
    let handOver = try await handOver(payload(), service, clock) { $0.files.hasPicture }
    #expect(handOver.attachments.isEmpty)
    #expect(handOver.sender?.picture != nil)
    try await wait(until: 0, in: folder)
  }

  @Test("a movie in place of a payer's picture is refused, and its file is removed")
  func movieAsPicture() async throws {
    let phone = try PhoneFolder()
    let (service, folder, _) = service(
      phone, attachment: { SoundAnswer(200, [:], [Self.jpeg]) }, picture: { SoundAnswer(200, [:], [Self.movie]) })
    let handOver = try #require(await service.handOver(payload()).first)
    #expect(handOver.sender == HandOver.Sender(name: "Ada", picture: nil))
    #expect(handOver.attachments.count == 1)
    #expect(files(in: folder).count == 1)
    #expect(phone.errorCodes == [.attachmentFailed])
  }

  @Test("a summary has no attachment and no sender, and the files for them are removed")
  func summary() async throws {
    let phone = try PhoneFolder()
    let (service, folder, _) = service(
      phone, attachment: { SoundAnswer(200, [:], [Self.jpeg]) }, picture: { SoundAnswer(200, [:], [Self.jpeg]) })
    let payload = try payload()
    do {
      let preparation = SoundPreparation(try NotificationPayload(payload), service: service)
      preparation.begin()
      try await wait(until: 2, in: folder)
      try await eventually("both files are there") { preparation.isReady(at: service.configuration.now()) }
      let summary = HandOver.Summary(announcements: ["p1", "p2"], title: "Received 2 payments")
      let handOver = preparation.handOver(.systemDefault, summary: summary)
      #expect(handOver.attachments.isEmpty)
      #expect(handOver.sender == nil)
      preparation.end()
    }
    try await wait(until: 0, in: folder)
  }
}
