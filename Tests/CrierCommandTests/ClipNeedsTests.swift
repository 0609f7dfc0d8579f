// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PlaybackOrder
import SQLiteLedger
import Testing

/// The commands that list and remove sounds read from a ledger which clips are needed.
@Suite("Clips that the home's service needs", .timeLimit(.minutes(10)))
struct ClipNeedsTests {
  private static let names = ["a", "b", "c"].map { String(repeating: $0, count: 64) + ".wav" }

  /// Writes three old clips into the group's folder.
  private func putClips(in containers: URL) throws {
    let folder = containers.appending(path: "group.crier/Library/Sounds")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in Self.names {
      try Data("no sound".utf8).write(to: folder.appending(path: name))
      try age(folder.appending(path: name), days: 100)
    }
  }

  private func age(_ clip: URL, days: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)], ofItemAtPath: clip.path)
  }

  /// Makes the ledger of a home, with a waiting announcement that needs a clip.
  private func makeLedger(_ home: URL, needing clip: String) async throws {
    let ledger = try SQLiteLedger(at: home.appending(path: "ledger.sqlite"))
    let number = try await ledger.accept(
      StoredAnnouncement(account: "", id: clip, lane: "counter", category: .alert, payload: Data("{}".utf8))
    ).number
    try await ledger.set(number, .rendering)
    try await ledger.set(number, .waiting, Ledger.Change(clip: clip))
  }

  private func removed(_ result: Command.Result) -> [String] { result.output.split(separator: "\n").map(String.init) }

  private func reasons(_ result: Command.Result) throws -> [JSONValue?] {
    try result.output.split(separator: "\n").map { try JSONValue(String($0)).object?["kept_because"] }
  }

  // MARK: Reading only

  @Test(
    "with an earlier version's ledger, crier sounds list prints no reasons and says so, and the ledger is unchanged")
  func olderList() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "ledger.sqlite")
    try EarlierLedger.write(to: file)
    try putClips(in: crier.home.appending(path: "containers"))
    try Data("tone".utf8).write(to: crier.sounds.appending(path: "tone.wav"))
    let before = try Data(contentsOf: file)
    let result = try crier("sounds", "list", "--sort", "name")
    #expect(result.status == 0 && !result.output.contains("kept:"))
    #expect(result.output.split(separator: "\n").count == 4)
    #expect(result.message.hasPrefix("The list does not say why sounds are kept. Opening the ledger "))
    #expect(result.message.contains("the file must first be brought up to date"), "\(result.message)")
    #expect(try reasons(crier("sounds", "list", "--json")) == [.null, .null, .null, .null])
    #expect(try Data(contentsOf: file) == before)
  }

  @Test("with an earlier version's ledger, a dry run of crier sounds prune fails, and the ledger is unchanged")
  func olderDryRun() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.home.appending(path: "ledger.sqlite")
    try EarlierLedger.write(to: file)
    try putClips(in: crier.home.appending(path: "containers"))
    let before = try Data(contentsOf: file)
    let dry = try crier("sounds", "prune", "--max-files", "0", "--dry-run")
    #expect(dry.status == 73 && dry.output.isEmpty)
    #expect(dry.message.contains("the file must first be brought up to date"), "\(dry.message)")
    #expect(try Data(contentsOf: file) == before)
    // The removal itself brings the ledger up to date.
    let result = try crier("sounds", "prune", "--max-files", "0")
    #expect(result.status == 0 && removed(result) == Self.names)
    #expect(try crier("sounds", "prune", "--max-files", "0", "--dry-run").status == 0)
  }

  @Test("crier sounds list and a dry run of crier sounds prune do not change a ledger")
  func unchanged() async throws {
    let crier = try Command()
    defer { crier.remove() }
    try putClips(in: crier.home.appending(path: "containers"))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: crier.home.path)
    let note = "The service has never run in \(crier.home.path), so no announcement needs a clip.\n"
    for (arguments, says) in [(["list"], false), (["prune", "--max-files", "9", "--dry-run"], true)] {
      let result = try crier.run(["sounds"] + arguments)
      #expect(result.status == 0 && result.message.contains(note) == says, "\(result.message)")
    }
    #expect(try !FileManager.default.contentsOfDirectory(atPath: crier.home.path).contains { $0.hasPrefix("ledger") })
    try await makeLedger(crier.home, needing: Self.names[1])
    let file = crier.home.appending(path: "ledger.sqlite")
    let before = try Data(contentsOf: file)
    #expect(
      try reasons(crier("sounds", "list", "--sort", "name", "--json")) == [
        .array([]), .array([.string("needed")]), .array([]),
      ])
    #expect(removed(try crier("sounds", "prune", "--max-files", "0", "--dry-run")) == [Self.names[0], Self.names[2]])
    #expect(try Data(contentsOf: file) == before)
  }

  // MARK: The ledger of the containers

  @Test("in containers outside the default home, no clip counts as needed by the default home's ledger")
  func otherContainers() async throws {
    let crier = try Command()
    defer { crier.remove() }
    try await makeLedger(crier.home, needing: Self.names[1])
    try putClips(in: crier.directory.appending(path: "elsewhere"))
    let note = "The folder of --containers belongs to no known home, so no clip counts as needed."
    let list = try crier("sounds", "list", "--containers", "elsewhere")
    #expect(list.status == 0 && !list.output.contains("kept:") && list.message.hasPrefix(note), "\(list.message)")
    let prune = ["sounds", "prune", "--max-files", "0", "--containers", "elsewhere"]
    let dry = try crier.run(prune + ["--dry-run"])
    #expect(dry.status == 0 && removed(dry) == Self.names && dry.message.hasPrefix(note))
    // With its home named, the containers belong to it.
    #expect(removed(try crier.run(prune + ["--home", "home", "--dry-run"])) == [Self.names[0], Self.names[2]])
    #expect(removed(try crier.run(prune)) == Self.names)
  }

  @Test("containers in a home with a ledger belong to that home, also if their path goes through a link")
  func ownHome() async throws {
    let crier = try Command()
    defer { crier.remove() }
    try await makeLedger(crier.home, needing: Self.names[1])
    let other = crier.directory.appending(path: "other")
    try await makeLedger(other, needing: Self.names[2])
    for home in [crier.home, other] { try putClips(in: home.appending(path: "containers")) }
    try FileManager.default.createSymbolicLink(
      at: crier.directory.appending(path: "link"), withDestinationURL: crier.home.appending(path: "containers"))
    try FileManager.default.createSymbolicLink(
      at: crier.directory.appending(path: "other-link"), withDestinationURL: other.appending(path: "containers"))
    for (containers, needed) in [
      ("other/containers", 2), ("other/containers/", 2), ("home/containers", 1), ("link", 1),
      ("other-link", 2), ("other-link/", 2),
    ] {
      let dry = try crier("sounds", "prune", "--max-files", "0", "--dry-run", "--containers", containers)
      #expect(removed(dry) == Self.names.filter { $0 != Self.names[needed] }, "\(containers): \(dry.message)")
    }
  }

  @Test("crier render with limits and --containers does not need the ledger of the default home")
  func render() throws {
    let crier = try Command()
    defer { crier.remove() }
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data("no database".utf8).write(to: crier.home.appending(path: "ledger.sqlite"))
    try putClips(in: crier.directory.appending(path: "elsewhere"))
    let result = try crier(
      "render", "--amount", "1.00", "--currency", "USD", "--locale", "en-US", "--method", "speech", "--max-files", "1",
      "--containers", "elsewhere")
    #expect(result.status == 0 && result.message.contains("Removed 3 clips: 3 over the limits, "), "\(result.message)")
    let note = "The folder of --containers belongs to no known home, so no clip counts as needed.\n"
    #expect(result.message.contains(note), "\(result.message)")
  }

  @Test(
    "in a home that other users can change, crier sounds list prints no reasons, and does not touch the ledger")
  func unsafeHome() async throws {
    let crier = try Command()
    defer { crier.remove() }
    try await makeLedger(crier.home, needing: Self.names[1])
    try putClips(in: crier.home.appending(path: "containers"))
    #expect(try crier("keys", "log").status == 0)
    let ledger = crier.home.appending(path: "ledger.sqlite")
    let before = try Data(contentsOf: ledger)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: crier.home.path)
    let list = try crier("sounds", "list", "--json")
    #expect(try list.status == 0 && reasons(list) == [.null, .null, .null])
    #expect(
      list.message.hasPrefix("\(crier.home.path): other users of this machine can write to it"), "\(list.message)")
    #expect(list.message.contains("The list does not say why sounds are kept. Check that "), "\(list.message)")
    let limited = try crier("sounds", "prune", "--max-files", "0")
    #expect(limited.status == 73 && limited.output.isEmpty && limited.message.contains("Nothing was done."))
    let named = try crier("sounds", "prune", Self.names[0])
    #expect(named.status == 0 && removed(named) == [Self.names[0]])
    #expect(
      named.message.contains(
        "The removed clips could not be recorded in the log of administrative actions. Check that "),
      "\(named.message)")
    #expect(try Data(contentsOf: ledger) == before)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: crier.home.path)
    #expect(try crier("keys", "log").output.isEmpty)
    #expect(try crier("sounds", "prune", Self.names[2]).status == 0)
    #expect(try crier("keys", "log").output.contains(Self.names[2]))
  }

  @Test("a batch with limits never removes its own clips, however long it runs")
  func longBatch() throws {
    let crier = try Command()
    defer { crier.remove() }
    try putClips(in: crier.home.appending(path: "containers"))
    let batch = try RunningCommand(["batch", "-", "--json", "--method", "speech", "--max-files", "0"], of: crier)
    var paths: [String] = []
    for text in ["One", "Two"] {
      try batch.input.write(contentsOf: Data("{\"text\": \"\(text)\"}\n".utf8))
      var line = Data()
      while line.last != UInt8(ascii: "\n") {
        let bytes = batch.output.availableData
        try #require(!bytes.isEmpty)
        line += bytes
      }
      let path = try #require(try JSONValue(line)["clip"]?["path"]?.string)
      // The clip becomes a day older, as if the next row came a day later.
      try age(URL(filePath: path), days: 1)
      paths.append(path)
    }
    try batch.input.close()
    #expect(batch.wait() == 0)
    #expect(try batch.messages().contains("Removed 3 clips: 3 over the limits, "))
    #expect(paths.allSatisfy { FileManager.default.fileExists(atPath: $0) })
  }
}
