// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import Testing

@testable import InstallationExamination

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder that is removed with its test.
final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String, _ text: String) throws -> URL {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file
  }
}

@Suite("The examination of a machine")
struct LookTests {
  @Test("the examination of a folder finds the free space of its disk, and a missing folder has no disk")
  func disk() throws {
    let folder = try TemporaryFolder()
    let facts = try #require(DiskLook.look(at: folder.url))
    let (free, total) = (try #require(facts.freeBytes), try #require(facts.totalBytes))
    #expect(free >= 0 && total >= free && !facts.isReadOnly)
    #expect(DiskLook.look(at: folder.url.appending(path: "missing")) == nil)
    let file = try folder.file("file", "")
    #expect(DiskLook.look(at: file.appending(path: "below")) == nil)
  }

  @Test("a network file system is found by its device number, and other file systems have no name")
  func network() {
    let mounts = """
      21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      22 21 0:45 / /srv rw,relatime shared:2 master:3 - nfs4 server:/export rw,vers=4.2
      23 21 0:46 / /tmp rw - tmpfs tmpfs rw
      24 21 0:47 / /broken rw
      """
    #expect(DiskLook.network(ofDevice: "0:45", in: mounts) == "nfs4")
    for device in ["8:1", "0:46", "0:47", "9:9", ""] { #expect(DiskLook.network(ofDevice: device, in: mounts) == nil) }
    #expect(DiskLook.network(ofDevice: "0:45", in: "") == nil)
  }

  @Test("the sound cards in the system's list are counted by the lines that begin with a number")
  func cards() {
    let two = """
       0 [PCH            ]: HDA-Intel - HDA Intel PCH
                            HDA Intel PCH at 0xf7210000 irq 31
       1 [USB            ]: USB-Audio - USB Speaker
                            Generic USB Speaker at usb-0000:00:14.0-1, full speed
      """
    #expect(SoundServers.cards(in: two) == 2)
    #expect(SoundServers.cards(in: "--- no soundcards ---\n") == 0 && SoundServers.cards(in: "") == 0)
  }

  @Test("PipeWire is not found if its socket is missing")
  func noServer() throws {
    let folder = try TemporaryFolder()
    let environment = ["XDG_RUNTIME_DIR": folder.url.path, "PULSE_SERVER": "unix:\(folder.url.path)/none"]
    #expect(SoundServers.answering(environment: environment).filter { $0 == "PipeWire" }.isEmpty)
  }

  @Test("outputs without a device are not opened, and invalid output names and unwritable files are reported")
  func outputs() async throws {
    func outcome(_ name: String) async -> OutputFacts.Outcome {
      await OutputLook.look(name: name, player: .none, environment: [:]).outcome
    }
    let folder = try TemporaryFolder()
    #expect(await outcome("none") == .none)
    #expect(await outcome("null") == .noDevice)
    #expect(await outcome("file:\(folder.url.path)/log") == .noDevice)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    guard case .failed = await outcome("file:\(folder.url.path)/missing/log") else { Issue.record("no fault"); return }
    guard case .invalidName = await outcome("hw:0") else { Issue.record("no fault"); return }
    guard case .failed = await outcome("alsa:crier_no_such_pcm") else { Issue.record("no fault"); return }
  }

  @Test("an output is not opened if the ledger, which names the process that plays on it, cannot be read")
  func unknownPlayer() async throws {
    for facts: LedgerFacts in [
      .skipped, .unknown, .unreadable(.damaged), .unreadable(.other("this user may not read it")),
    ] {
      let player = LedgerLook.player(of: "default", in: URL(filePath: "/none/ledger.sqlite"), facts)
      guard
        case .notTried = await OutputLook.look(name: "alsa:crier_no_such_pcm", player: player, environment: [:]).outcome
      else { Issue.record("tried"); return }
      // No device is opened for these.
      #expect(await OutputLook.look(name: "none", player: player, environment: [:]).outcome == .none)
      #expect(await OutputLook.look(name: "null", player: player, environment: [:]).outcome == .noDevice)
    }
    let missing = LedgerLook.player(of: "default", in: URL(filePath: "/none/ledger.sqlite"), .missing)
    guard case .none = missing else { Issue.record("no ledger has no player"); return }
  }

  @Test("the examination of the clock has the time of the last change of the ledger or its log")
  func clock() throws {
    let folder = try TemporaryFolder()
    let ledger = folder.url.appending(path: "ledger.sqlite")
    let now = Date(timeIntervalSince1970: 1_800_000_000.75)
    #expect(ClockLook.look(ledger: ledger, .missing, now: now).ledgerChangedAt == nil)
    for (name, time) in [("ledger.sqlite", 1_700_000_000.0), ("ledger.sqlite-wal", 1_900_000_000.0)] {
      let file = try folder.file(name, "")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: file.path)
    }
    let facts = ClockLook.look(ledger: ledger, .missing, now: now)
    #expect(facts.now == 1_800_000_000 && facts.ledgerChangedAt == 1_900_000_000)
    // An old file does not matter if the ledger is on a server.
    let answer = DatabaseFacts.Answer(
      version: "15.14", milliseconds: 1, bytes: 1, tables: .current, secondsAhead: 90)
    let onServer = LedgerFacts.database(DatabaseFacts(server: "db1", outcome: .answered(answer)))
    let other = ClockLook.look(ledger: ledger, onServer, now: now)
    #expect(other.ledgerChangedAt == nil && other.serverAheadBy == 90)
  }

  @Test("if no player in the home uses an output, the output can be tried even while the ledger's server is down")
  func playerBesideServer() throws {
    let folder = try TemporaryFolder()
    let problem = InstallationProblem(.ledgerUnreachable, "It is down.", remedy: "Start it.")
    let facts = LedgerFacts.database(DatabaseFacts(server: "db1", outcome: .failed(problem)))
    let player = LedgerLook.player(of: "default", in: folder.url.appending(path: "ledger.sqlite"), facts)
    guard case .none = player else { Issue.record("no seat is taken in the home"); return }
  }
}
