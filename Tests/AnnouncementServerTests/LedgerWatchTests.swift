// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import LedgerTestSupport
import ServiceLifecycleTestKit
import SQLiteLedger
import Testing
import TestSupport

@testable import AnnouncementServer

@Suite("A service whose ledger is checked in the background", .timeLimit(.minutes(10)))
struct LedgerWatchTests {
  /// Makes a folder with a ledger of some announcements, and damages it.
  private func folder(damaging part: DamagedLedger.Part?) async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "ledger.sqlite")
    do { _ = try SQLiteLedger(at: file) }
    try await eventually { !FileManager.default.fileExists(atPath: file.path + "-wal") }
    try DamagedLedger.fill(file, announcements: 20_000)
    if let part { try DamagedLedger.damage(part, of: file) }
    return folder
  }

  private func service(
    in folder: TemporaryFolder, _ change: (inout TestService.Options) -> Void = { _ in }
  ) throws -> TestService {
    try TestService(in: folder) {
      $0.ledger.checksIntegrity = false
      change(&$0)
    }
  }

  @Test(
    "the service is ready before the check of the ledger, and is unready with the reason after the check finds damage",
    arguments: DamagedLedger.Part.allCases)
  func damaged(part: DamagedLedger.Part) async throws {
    let service = try service(in: try await folder(damaging: part))
    let client = try await service.client()
    #expect(try await service.stranger.get("/readyz").status == 200)
    let error = await #expect(throws: LedgerError.self) { try await service.server.ledgerWatch.run() }
    #expect(error?.code == .damaged)
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 503)
    #expect(try answer.string("status") == "unready")
    #expect(try answer.value("checks.ledger.ok") as? Bool == false)
    #expect(try answer.string("checks.ledger.code") == "damaged")
    #expect(try await client.post(payment()).status == 503)
    #expect(service.log.lines.contains { $0.hasPrefix("critical The ledger cannot be used, so the service ends.") })
  }

  @Test("damage in the ledger ends the whole service with the ledger's error")
  func ended() async throws {
    let service = try service(in: try await folder(damaging: .index)) { $0.settings.port = 0 }
    let error = await #expect(throws: LedgerError.self) { try await service.server.run() }
    #expect(error?.code == .damaged && error?.action == .checking)
  }

  @Test("damage in the ledger that a request finds ends the service, like damage that the check finds")
  func met() async throws {
    let service = try service(in: try await folder(damaging: nil))
    let running = Task { try await service.server.ledgerWatch.run() }
    try await eventually {
      service.log.lines.contains { $0.hasPrefix("info The ledger was checked in the background") }
    }
    let file = service.ledgerFile
    let bytes = try Data(contentsOf: file)
    try FileHandle(forWritingTo: file).write(contentsOf: Data(repeating: 0xAA, count: bytes.count))
    await #expect(throws: LedgerError.self) {
      for number in 1...20_000 { _ = try await service.ledger.entry(Int64(number)) }
    }
    let error = await #expect(throws: LedgerError.self) { try await running.value }
    #expect(error?.code == .damaged)
    #expect(try await service.stranger.get("/readyz").status == 503)
  }

  @Test(
    "if the ledger's file or write-ahead log is moved away, the service answers only with errors, and then ends",
    arguments: ["", "-wal"])
  func renamed(suffix: String) async throws {
    let service = try service(in: try await folder(damaging: nil))
    let client = try await service.client()
    #expect(try await client.post(payment("new-1")).status == 201)
    let file = service.ledgerFile.path(percentEncoded: false) + suffix
    try FileManager.default.moveItem(atPath: file, toPath: file + ".old")
    // Without a write, the watch notices it.
    let error = await #expect(throws: LedgerError.self) { try await service.server.ledgerWatch.run() }
    #expect(error?.code == .fileChanged && error?.change?.kind == .removed)
    #expect(try await client.post(payment("new-2")).status >= 500)
    let answer = try await service.stranger.get("/readyz")
    #expect(try answer.status == 503 && answer.string("checks.ledger.code") == "file_changed")
    #expect(service.log.lines.contains { $0.hasPrefix("critical The ledger cannot be used, so the service ends.") })
  }

  @Test("no payment is answered with 201 after the ledger's file was replaced, even before the next check of the file")
  func replaced() async throws {
    let service = try service(in: try await folder(damaging: nil))
    let client = try await service.client()
    let file = service.ledgerFile.path(percentEncoded: false)
    try Data("another".utf8).write(to: URL(filePath: file + ".new"))
    // Safe: the texts live as long as the call.
    #expect(unsafe rename(file + ".new", file) == 0)
    for number in 1...3 { #expect(try await client.post(payment("new-\(number)")).status == 500) }
  }

  @Test("the check ends when the service stops, and an undamaged ledger does not end the service")
  func sound() async throws {
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    let service = try service(in: try await folder(damaging: nil)) {
      $0.settings.port = 0
      $0.onStart = { started.yield($0) }
    }
    try await testGracefulShutdown { trigger in
      let running = Task { try await service.server.run() }
      for await _ in ports { break }
      trigger.triggerGracefulShutdown()
      try await running.value
    }
    #expect(!service.log.lines.contains { $0.hasPrefix("critical") })
    #expect(try await service.ledger.entry(1) != nil)
  }
}
