// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import Testing
import WebhookMessages

@testable import SQLiteLedger

@Suite("The examination of a ledger's file")
struct ExaminationTests {
  let place: TemporaryLedger
  private let now = Date()

  init() throws { place = try TemporaryLedger() }

  private func failure() -> LedgerError.Code? {
    do {
      _ = try SQLiteLedger.examine(place.file, at: now)
      return nil
    } catch {
      return error.code
    }
  }

  /// The names of the files in the ledger's folder, and their bytes.
  private func files() throws -> [String: Data] {
    let folder = place.file.deletingLastPathComponent()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
  }

  private func key(_ id: String, expiresAt: Date? = nil, device: String? = nil) -> NewKey {
    NewKey(
      id: id, account: "a", digest: Data(repeating: UInt8(id.utf8.first ?? 0), count: 32), scopes: ["read"],
      name: nil, expiresAt: expiresAt, device: device)
  }

  /// Makes a ledger with a key in force, an expired one and a revoked one, and closes it.
  private func makeLedger() async throws {
    let ledger = try place.open()
    try await ledger.createKey(key("a"))
    try await ledger.createKey(key("b", expiresAt: now.addingTimeInterval(-1)))
    try await ledger.createKey(key("c"))
    try await ledger.revokeKey("c")
  }

  @Test("a closed ledger can be examined and its keys counted, and no file is made or changed")
  func closed() async throws {
    try await makeLedger()
    try await place.isClosed()
    let before = try files()
    #expect(before["ledger.sqlite-wal"] == nil)
    guard
      case .sound(let bytes, isOpen: false, keysInForce: 1, keysEnded: 2, webhookEndpoints: 0, setAside: 0) =
        try SQLiteLedger.examine(
          place.file, at: now)
    else { Issue.record("another result"); return }
    #expect(bytes == before[place.file.lastPathComponent]?.count)
    #expect(try files() == before)
  }

  @Test("an open ledger can be examined beside its writer, including the changes that are only in the log")
  func open() async throws {
    let writer = try place.open()
    try await writer.createKey(key("a"))
    guard
      case .sound(_, isOpen: true, keysInForce: 1, keysEnded: 0, webhookEndpoints: 0, setAside: 0) =
        try SQLiteLedger.examine(
          place.file, at: now)
    else {
      Issue.record("another result")
      return
    }
    try await writer.createKey(key("b"))
    #expect(try await writer.keys().count == 2)
  }

  @Test("a ledger's log without its index file is reported and not read, because SQLite would write the index")
  func unindexed() async throws {
    let writer = try place.open()
    try await writer.createKey(key("a"))
    let copy = place.folder.appending(path: "copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: place.file.path + suffix, toPath: copy.path + suffix)
    }
    #expect(try SQLiteLedger.examine(copy, at: now) == .unindexedLog)
    #expect(!FileManager.default.fileExists(atPath: copy.path + "-shm"))
  }

  @Test("a ledger's log without an index file is ignored if all its changes are already in the ledger's file")
  func contained() async throws {
    let writer = try place.open()
    try await writer.createKey(key("a"))
    await writer.checkpoint()
    let copy = place.folder.appending(path: "copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: place.file.path + suffix, toPath: copy.path + suffix)
    }
    guard
      case .sound(_, isOpen: false, keysInForce: 1, keysEnded: 0, webhookEndpoints: 0, setAside: 0) =
        try SQLiteLedger.examine(
          copy, at: now)
    else {
      Issue.record("another result")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: copy.path + "-shm"))
    // If the file in the place of the log is not a log, it may hide changes.
    try Data("no log".utf8).write(to: URL(filePath: copy.path + "-wal"))
    #expect(try SQLiteLedger.examine(copy, at: now) == .unindexedLog)
  }

  @Test("the examination of a ledger counts the webhook endpoints that are not disabled")
  func endpoints() async throws {
    let ledger = try place.open()
    var ids: [String] = []
    for name in ["a", "b"] { ids.append(try await ledger.register(newEndpoint(name), by: .currentUser).id) }
    _ = try await ledger.testWebhookEndpoint(account: "shop", id: ids[0])
    let number = try #require(try await ledger.unfinishedWebhooks().first?.number)
    let gone = Ledger.WebhookAttempt(startedAt: place.clock.now, outcome: .gone, nextAt: nil, patience: 86_400)
    #expect(try await ledger.record(gone, ofWebhook: number)?.disabled == .gone)
    for expected in 1...2 {
      guard
        case .sound(_, _, _, _, webhookEndpoints: expected, _) = try SQLiteLedger.examine(
          place.file, at: place.clock.now)
      else {
        Issue.record("another number of endpoints")
        return
      }
      _ = try await ledger.enableWebhookEndpoint(account: "shop", id: ids[0], by: .currentUser)
    }
  }

  @Test("the examination of a missing ledger is not an error, and makes no ledger")
  func missing() throws {
    #expect(try SQLiteLedger.examine(place.file, at: now) == .missing)
    #expect(!FileManager.default.fileExists(atPath: place.file.path))
  }

  @Test("a ledger file that is damaged, foreign or newer is refused with its reason, and stays as it is")
  func refused() async throws {
    try await makeLedger()
    try await place.isClosed()
    let good = try Data(contentsOf: place.file)
    var damaged = good
    damaged.replaceSubrange(8_192..<damaged.count, with: Data(repeating: 0xA5, count: damaged.count - 8_192))
    try damaged.write(to: place.file)
    #expect(failure() == .damaged)
    #expect(try Data(contentsOf: place.file) == damaged)
    try Data("not a database".utf8).write(to: place.file)
    #expect(failure() == .damaged)
    try good.write(to: place.file)
    let newer = try DatabaseQueue(waitingFor: place.file)
    try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: something to come')") }
    try newer.close()
    #expect(failure() == .newerVersion)
    try FileManager.default.removeItem(at: place.file)
    let other = try DatabaseQueue(waitingFor: place.file)
    try await other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    try other.close()
    #expect(failure() == .notALedger)
  }
}
