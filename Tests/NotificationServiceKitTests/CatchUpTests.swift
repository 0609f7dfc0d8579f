// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DownloadTestSupport
import FileSystem
import Foundation
import SoundLibrary
import Testing

@testable import NotificationServiceKit

@Suite("Catching up when the app is opened", .timeLimit(.minutes(5)))
struct CatchUpTests {
  /// A service that answers when the test says so, or never.
  private final class Service: MissedAnnouncements {
    let asked = Event()
    let payloads: [Data]?

    /// - Parameter payloads: The answer; nil if there is no answer before the task is cancelled.
    init(_ payloads: [Data]?) { self.payloads = payloads }

    func announcements(after sequence: Int64) async throws -> (payloads: [Data], isComplete: Bool) {
      asked.happen()
      if let payloads { return (payloads, true) }
      try await Task.sleep(for: .seconds(3_600))  // Ends when the task is cancelled.
      return ([], true)
    }
  }

  @Test("a search for lost pushes runs only while the system is asked not to suspend the process")
  func uninterrupted() async throws {
    let phone = try PhoneFolder()
    try phone.publish(String(repeating: "a", count: 64) + ".wav")
    let isInside = Locked(false)
    let places = Locked<[Bool]>([])
    var configuration = phone.service(missed: Service([try TestPush(hasTokens: false).payload])).configuration
    configuration.uninterrupted = { work in
      isInside.withLock { $0 = true }
      await work()
      isInside.withLock { $0 = false }
    }
    let pause = configuration.pause
    configuration.pause = { milliseconds in
      places.withLock { $0.append(isInside.withLock { $0 }) }
      await pause(milliseconds)
    }
    let service = NotificationService(configuration)
    try service.restart(after: 0)
    await service.catchUp()
    #expect(phone.local.withLock { $0.map(\.identifier) } == ["p1"])
    #expect(places.withLock { $0.allSatisfy(\.self) })
    #expect(!service.requests.isOpen)
  }

  @Test("a cancelled search for lost pushes ends even if the service does not answer")
  func cancelledRequest() async throws {
    let phone = try PhoneFolder()
    let source = Service(nil)
    let service = phone.service(missed: source)
    try service.restart(after: 0)
    let task = Task { await service.catchUp() }
    await source.asked.wait()
    task.cancel()
    await task.value
    #expect(!service.requests.isOpen)
    #expect(phone.local.withLock { $0.isEmpty })
  }

  @Test("a cancelled search gives up the lost pushes that it found, and their sequence numbers count as missing again")
  func cancelledWait() async throws {
    let phone = try PhoneFolder()
    let clip = PhoneFolder.sound(milliseconds: 100)
    let requested = Event()
    // The clip never comes, so the lost push waits for its sound.
    let service = phone.service(
      script: { _, _ in
        requested.happen()
        try await Task.sleep(for: .seconds(3_600))
        throw CancellationError()
      }, missed: Service([try TestPush(hasTokens: false, clip: clip).payload]))
    try service.restart(after: 0)
    let task = Task { await service.catchUp() }
    await requested.wait()
    task.cancel()
    await task.value
    #expect(!service.requests.isOpen)
    let order = try #require(try service.file.read())
    #expect(order.entries.isEmpty)
    #expect(order.lastHeard == 0)
  }

  @Test("the last sequence number can be read while another process holds the lock of the order file")
  func lastSequence() throws {
    let phone = try PhoneFolder()
    #expect(try phone.service().lastSequence() == nil)
    try phone.service().restart(after: 7)
    let lock = try LockedFile(phone.lock, patience: 1)
    #expect(lock != nil)
    #expect(try phone.service().lastSequence() == 7)
    _ = consume lock
  }
}
