// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import DownloadTestSupport
import Foundation
import SoundDownloads
import SoundLibrary
import TestSupport
import Testing

@testable import NotificationServiceKit

@Suite("Receipts of what was handed over", .timeLimit(.minutes(5)))
struct HandOverReceiptTests {
  /// A service that takes receipts, or does not.
  private final class Service: ReceiptSending {
    struct Unreachable: Error {}
    let calls = Locked<[[HandOverReceipt]]>([])
    let isReachable = Locked(true)
    /// Called before a call ends.
    let whenCalled = Locked<(@Sendable () async -> Void)?>(nil)

    func send(_ receipts: [HandOverReceipt]) async throws {
      calls.withLock { $0.append(receipts) }
      await whenCalled.withLock { $0 }?()
      guard isReachable.withLock({ $0 }) else { throw Unreachable() }
    }

    var ids: [String] { calls.withLock { $0.flatMap { $0.map(\.id) } } }
  }

  private let phone: PhoneFolder
  private let receiver = Service()

  init() throws { phone = try PhoneFolder() }

  private func service(missed: (any MissedAnnouncements)? = nil) -> NotificationService {
    var configuration = phone.service(missed: missed).configuration
    configuration.receipts = receiver
    configuration.date = { Date(timeIntervalSince1970: 1_780_000_000) }
    return NotificationService(configuration)
  }

  private var folder: URL { phone.container.directory.appending(path: "Library/Crier/receipts") }
  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []).sorted()
  }

  @Test("the service gets a receipt for each hand-over, with the notification's id and the time of the hand-over")
  func sent() async throws {
    let service = service()
    for number in Int64(1)...3 {
      _ = await service.handOver(try TestPush(id: "p\(number)", sequence: number, hasTokens: false).payload)
    }
    try await eventually("all receipts are sent") { Set(receiver.ids) == ["p1", "p2", "p3"] && files.isEmpty }
    let first = receiver.calls.withLock { $0.first?.first }
    #expect(first?.at == Date(timeIntervalSince1970: 1_780_000_000))
  }

  @Test("a service that does not answer does not delay the hand-over, and the receipt is sent after the hand-over")
  func doesNotDelay() async throws {
    let mayAnswer = Event()
    receiver.whenCalled.withLock { $0 = { await mayAnswer.wait() } }
    let service = service()
    let atHandOver = Locked<[[String]]>([])
    for id in ["p1", "p2"] {
      let work = service.receive(try TestPush(id: id, sequence: nil, hasTokens: false).payload) { [receiver] _ in
        let known = receiver.ids
        atHandOver.withLock { $0.append(known) }
      }
      await work.finished()
      if id == "p1" { try await eventually("the first receipt is on its way") { receiver.ids == ["p1"] } }
    }
    // The first call has not ended, and the second hand-over was made all the same.
    #expect(atHandOver.withLock { $0 } == [[], ["p1"]])
    for _ in 1...3 { mayAnswer.happen() }
    try await eventually("all receipts are sent") { Set(receiver.ids) == ["p1", "p2"] && files.isEmpty }
  }

  @Test("receipts that could not be sent are sent by the process of the next notification")
  func nextProcess() async throws {
    receiver.isReachable.withLock { $0 = false }
    _ = await service().handOver(try TestPush(hasTokens: false).payload)
    try await eventually("the first process has tried") { receiver.ids == ["p1"] }
    #expect(files.count == 1)
    receiver.isReachable.withLock { $0 = true }
    receiver.calls.withLock { $0 = [] }
    let next = service()
    let work = NotificationWork(try TestPush(id: "p2", sequence: 2, hasTokens: false).payload, service: next)
    work.begin { _ in }
    await work.finished()
    try await eventually("all receipts are sent") { Set(receiver.ids) == ["p1", "p2"] && files.isEmpty }
  }

  @Test("when the app catches up, it sends the receipts that are left, also if one call cannot contain them all")
  func catchUp() async throws {
    receiver.isReachable.withLock { $0 = false }
    let service = service()
    for number in 1...201 { service.receipts.note("p\(number)") }
    #expect(files.count == 201)
    receiver.isReachable.withLock { $0 = true }
    await service.catchUp()
    #expect(receiver.calls.withLock { $0.map(\.count) } == [200, 1])
    #expect(Set(receiver.ids).count == 201)
    #expect(files.isEmpty)
  }

  @Test("a lost push that the phone shows as a local notification has a receipt")
  func lostPush() async throws {
    struct Missed: MissedAnnouncements {
      let payload: Data
      func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
        ([payload], true)
      }
    }
    let service = service(missed: Missed(payload: try TestPush(hasTokens: false).payload))
    try service.restart(after: 0)
    await service.catchUp()
    #expect(receiver.ids == ["p1"])
  }

  @Test("a push of another sender has no receipt, and without a service no receipt is written")
  func foreign() async throws {
    _ = await service().handOver(Data(#"{"aps":{"alert":"Hello"}}"#.utf8))
    _ = await phone.service().handOver(try TestPush(hasTokens: false).payload)
    #expect(receiver.ids.isEmpty && files.isEmpty)
  }

  @Test("damaged receipts are removed, and the other receipts are sent")
  func damaged() async throws {
    let service = service()
    service.receipts.note("p1")
    for (name, text) in [("0.json", ""), ("1.json", "{"), ("2.json", #"{"id":7}"#), ("9-x.tmp", "x")] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
    await service.receipts.send()
    #expect(receiver.ids == ["p1"])
    #expect(files == ["9-x.tmp"])
  }

  @Test("if more than 1,000 receipts wait, the newest are kept")
  func bounds() async throws {
    let service = service()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    receiver.isReachable.withLock { $0 = false }
    for number in 1...1_003 {
      let receipt = HandOverReceipt(id: "p\(number)", at: Date(timeIntervalSince1970: 0))
      try JSONEncoder().encode(receipt).write(to: folder.appending(path: "\(10_000 + number)-x.json"))
    }
    await service.receipts.send()
    #expect(receiver.calls.withLock { $0.first?.first?.id } == "p4")
    #expect(files.count == 1_000)
  }

  @Test(
    "receipts that the service will never accept are forgotten, and the other receipts are kept",
    arguments: [(422, true), (404, true), (401, false), (503, false), (200, true)])
  func refused(status: Int, isForgotten: Bool) async throws {
    let url = try #require(URL(string: "https://sounds.example"))
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(status, [:], [Array("{}".utf8)]) }
    var configuration = phone.service().configuration
    configuration.receipts = DeviceClient(
      access: DeviceAccess(service: url, device: "till-1", key: "crier_key"), fetcher: fetcher,
      resolver: TableResolver())
    let service = NotificationService(configuration)
    service.receipts.note("p1")
    await service.receipts.send()
    #expect(fetcher.requests.count == 1)
    #expect(files.isEmpty == isForgotten)
  }
}
