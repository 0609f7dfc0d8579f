// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger
import LedgerTestSupport
import SQLiteLedger
import TestSupport

/// A ledger's file in a fresh folder, which is removed when the test is over.
final class TemporaryLedger: Sendable {
  let folder: URL
  let file: URL
  let clock = SetClock()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)")
    file = folder.appending(path: "home/ledger.sqlite")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func open(_ options: SQLiteLedger.Options = SQLiteLedger.Options()) throws(LedgerError) -> SQLiteLedger {
    try SQLiteLedger(at: file, options: options, now: { [clock] in clock.now })
  }

  /// Writes rows into the file, beside the ledger.
  func fill(_ work: @escaping @Sendable (Database) throws -> Void) async throws {
    let database = try DatabaseQueue(waitingFor: file)
    try await database.write { try work($0) }
    try database.close()
  }

  /// The code with which opening it fails; nil when it opens.
  var openingFailure: LedgerError.Code? {
    do {
      _ = try open()
      return nil
    } catch {
      return error.code
    }
  }

  func size(_ suffix: String = "") throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path + suffix)
    return (attributes[.size] as? Int) ?? 0
  }

  /// Waits until a ledger without references has been closed. Its last work may release it a moment later. Then SQLite
  /// empties the log into the file.
  func isClosed() async throws {
    try await eventually { !FileManager.default.fileExists(atPath: file.path + "-wal") }
  }

  func mode(_ url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }
}

/// The program that the tests start and kill.
struct Writer {
  static let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "ledger-writer")

  let process = Process()
  let input = Pipe()
  let output = Pipe()

  init(_ arguments: String...) throws {
    process.executableURL = Self.program
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Reads this number of whole lines, or all whole lines up to the end.
  func lines(_ count: Int = .max) throws -> [String] {
    var data = Data()
    while data.count(where: { $0 == UInt8(ascii: "\n") }) < count {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      data += more
    }
    return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }

  func kill() {
    process.killAndWait()
  }
}
