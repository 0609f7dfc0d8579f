// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import SQLiteLedger
import Testing
import TestSupport

@Suite("crier serve with a damaged ledger", .timeLimit(.minutes(10)))
struct ServeDamagedLedgerTests {
  private func makeLedger(_ crier: Command, damaging part: DamagedLedger.Part?) async throws -> URL {
    let file = crier.home.appending(path: "ledger.sqlite")
    do { _ = try SQLiteLedger(at: file) }
    try await eventually { !FileManager.default.fileExists(atPath: file.path + "-wal") }
    try DamagedLedger.fill(file, announcements: 20_000)
    if let part { try DamagedLedger.damage(part, of: file) }
    return file
  }

  @Test(
    "the check of a damaged ledger ends the running service with status 73, and the next start refuses the ledger",
    arguments: DamagedLedger.Part.allCases)
  func damaged(part: DamagedLedger.Part) async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = try await makeLedger(crier, damaging: part)
    let service = try RunningService(of: crier)
    #expect(service.wait() == 73)
    #expect(
      try service.messages().contains(
        "crier: Checking the ledger \(file.path) failed: the file is damaged, or is not a database. Nothing more is "
          + "written to the file. Keep a copy of the file and of the files beside it, and restore a backup.\n"))
    let before = try Data(contentsOf: file)
    for command in [["serve"] + RunningService.flags, ["queue", "--once", "--output", "null"], ["keys", "list"]] {
      let result = try crier.run(command, seconds: 60)
      #expect(result.status == 73 && result.output.isEmpty)
      #expect(result.message.contains("Opening the ledger \(file.path) failed: the file is damaged"))
    }
    #expect(try Data(contentsOf: file) == before)
  }

  @Test("if damage is found when a ledger is opened, the ledger is refused before the service listens")
  func truncated() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = try await makeLedger(crier, damaging: nil)
    let bytes = try Data(contentsOf: file).prefix(100 * 4096 + 100)
    try bytes.write(to: file)
    let result = try crier.serve(RunningService.flags)
    #expect(result.status == 73 && result.output.isEmpty)
    #expect(result.message.contains("The file was not changed. Keep a copy of the file"))
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test("if the ledger's file is replaced, the running service ends with status 73, and the message names the remedy")
  func replaced() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = try await makeLedger(crier, damaging: nil)
    let copy = crier.home.appending(path: "copy.sqlite")
    try FileManager.default.copyItem(at: file, to: copy)
    let service = try RunningService(of: crier)
    // Safe: the texts live as long as the call.
    #expect(unsafe rename(copy.path, file.path) == 0)
    #expect(service.wait() == 73)
    #expect(
      try service.messages().contains(
        "crier: Checking the ledger \(file.path) failed: the file was replaced by another file while the ledger was open. "
          + "Nothing more is accepted. Stop every program that uses the ledger, keep a copy of the file and of the "
          + "files beside it, and put the former file back or restore a backup.\n"))
  }
}
