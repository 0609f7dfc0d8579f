// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The files that operators copy. `scripts/check-deployment` compares them with docs/operations.md.
@Suite("Deployment files", .timeLimit(.minutes(10)))
struct DeploymentTests {
  private static let folder = Command.checkout.appending(path: "Deployment")

  @Test("the shipped crier.yaml names every setting with its default")
  func settings() throws {
    let crier = try Command()
    defer { crier.remove() }
    func values(_ flags: [String], sources: Set<Substring>) throws -> [Substring: Substring] {
      let result = try crier.serve(["--print-config"] + flags)
      #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
      return Dictionary(
        uniqueKeysWithValues: try result.output.split(separator: "\n").map { line in
          let parts = try #require(line.wholeMatch(of: /([a-z_]+): (.*?) +# (\S+)/), "\(line)")
          #expect(sources.contains(parts.3), "\(line)")
          return (parts.1, parts.2)
        })
    }
    var defaults = try values([], sources: ["default"])
    let file = Self.folder.appending(path: "crier.yaml")
    let installed = try values(["--config", file.path(percentEncoded: false)], sources: ["default", "crier.yaml"])
    #expect(installed == defaults)
    // Two defaults follow from the machine or from another setting, so the file has them as comments.
    let text = try String(contentsOf: file, encoding: .utf8)
    for name in ["speakers", "burst"] {
      #expect(text.contains("\n# \(name): "))
      defaults[name[...]] = nil
    }
    for name in defaults.keys { #expect(text.contains("\n\(name): "), "\(name)") }
  }

  // MARK: The backup

  private func backup(
    _ crier: Command, _ arguments: [String], path: String = "/usr/bin:/bin"
  ) throws -> (status: Int32, message: String) {
    try crier.backup(arguments, environment: ["PATH": path])
  }

  private func names(in folder: URL) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
  }

  @Test("a home that has only a ledger can be backed up, and its keys are valid after the restore")
  func backupOfLedger() throws {
    let crier = try Command()
    defer { crier.remove() }
    let created = try crier("keys", "create", "--json")
    #expect(created.status == 0, "\(created.message)")
    let (status, message) = try backup(crier, ["home", "copy"])
    #expect(status == 0 && message.isEmpty, "\(message)")
    let copy = crier.directory.appending(path: "copy")
    #expect(try names(in: copy) == ["ledger.sqlite"])
    let listed = try crier("keys", "list", "--json", "--home", copy.path)
    let id = try #require(try JSONValue(Data(created.output.utf8))["id"]?.string)
    #expect(listed.status == 0 && listed.output.contains(id), "\(listed.message)")
  }

  @Test(
    "a backup has the service's secret, settings, words, packs and other files, and nothing that can be made again"
  )
  func backupOfAll() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let kept = ["crier.yaml", "signing-secret", "lexicon.csv", "account-work.json", "of-a-newer-version"]
    let leftOut = ["first-key", "first-key.header", "ledger.sqlite.opening", ".lane-null"]
    for name in kept + leftOut { try Data(name.utf8).write(to: crier.home.appending(path: name)) }
    for name in [
      "Voices/my-shop/pack.json", "batches/a.list", "containers/group.crier/a.wav", "previews/a.wav",
      "provider-tokens/a",
    ] {
      let file = crier.home.appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(name.utf8).write(to: file)
    }
    let (status, message) = try backup(crier, ["home", "copy"])
    #expect(status == 0 && message.isEmpty, "\(message)")
    let copy = crier.directory.appending(path: "copy")
    #expect(try names(in: copy) == Set(kept + ["ledger.sqlite", "Voices"]))
    #expect(try String(contentsOf: copy.appending(path: "signing-secret"), encoding: .utf8) == "signing-secret")
    #expect(FileManager.default.fileExists(atPath: copy.appending(path: "Voices/my-shop/pack.json").path))
    let mode = try FileManager.default.attributesOfItem(atPath: copy.path)[.posixPermissions] as? Int
    #expect(mode == 0o700, "no other user can read the backup")
  }

  @Test("a backup contains the settings file itself if the home has a link to it")
  func backupOfLinkedSettings() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let settings = crier.directory.appending(path: "settings.yaml")
    try Data("port: 8081\n".utf8).write(to: settings)
    try FileManager.default.createSymbolicLink(
      at: crier.home.appending(path: "crier.yaml"), withDestinationURL: settings)
    let (status, message) = try backup(crier, ["home", "copy"])
    #expect(status == 0 && message.isEmpty, "\(message)")
    try FileManager.default.removeItem(at: settings)
    let copy = crier.directory.appending(path: "copy/crier.yaml")
    #expect(try String(contentsOf: copy, encoding: .utf8) == "port: 8081\n")
  }

  @Test("a backup contains the tones of all groups and the chosen tones, but no clips")
  func backupOfTones() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    #expect(try crier("sounds", "tone", "set", "chime").status == 0)
    #expect(try crier("sounds", "tone", "set", "bell", "--group", "group.b").status == 0)
    let clip = String(repeating: "0a", count: 32) + ".wav"
    for name in [clip, "my till.caf", ".publishing-3"] {
      try Data(name.utf8).write(to: crier.sounds.appending(path: name))
    }
    let (status, message) = try backup(crier, ["home", "copy"])
    #expect(status == 0 && message.isEmpty, "\(message)")
    let copy = crier.directory.appending(path: "copy")
    let sounds = copy.appending(path: "containers/group.crier/Library/Sounds")
    #expect(try names(in: sounds) == ["chime.wav", "my till.caf"])
    #expect(try crier("sounds", "tone", "get", "--home", copy.path).output == "chime.wav\n")
    #expect(try crier("sounds", "tone", "get", "--home", copy.path, "--group", "group.b").output == "bell.wav\n")
  }

  @Test("the library of a backup gets a new id, because a backup has no clips")
  func backupOfFeed() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    #expect(try backup(crier, ["home", "copy"]).status == 0)
    func feed(_ folder: String) throws -> String {
      let output = crier.directory.appending(path: "\(folder)-feed")
      let query = try Spawned(
        URL(filePath: "/usr/bin/sqlite3"), ["\(folder)/ledger.sqlite", "SELECT id FROM library_feed"],
        environment: crier.environment, directory: crier.directory
      ) { actions in
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.path, O_WRONLY | O_CREAT, 0o600)
      }
      #expect(query.wait() == 0)
      return try String(contentsOf: output, encoding: .utf8)
    }
    let (old, new) = (try feed("home"), try feed("copy"))
    #expect(old != new && old.count == 9 && new.count == 9)
  }

  @Test("a backup changes nothing if its folder exists, if the home has no ledger, or if an argument is missing")
  func backupRefused() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let copy = crier.directory.appending(path: "copy")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    #expect(try backup(crier, ["home", "copy"]).status != 0)
    #expect(try names(in: copy).isEmpty)
    try FileManager.default.removeItem(at: copy)
    let (status, message) = try backup(crier, ["data", "copy"])
    #expect(status == 65 && message.contains("data: is not the home of a Crier service"), "\(message)")
    let (file, words) = try backup(crier, ["--without-ledger", "home", "copy"])
    #expect(file == 64 && words.contains("the ledger is a file of this home"), "\(words)")
    #expect(try backup(crier, ["home"]).status == 64)
    let (inside, text) = try backup(crier, ["home", "home/copy"])
    #expect(inside == 64 && text.contains("home/copy: is inside the home"), "\(text)")
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "copy").path))
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test("a backup fails if a file cannot be copied, and leaves no folder that looks like a complete backup")
  func backupFails() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    try Data("volume: 40\n".utf8).write(to: crier.home.appending(path: "crier.yaml"))
    // This program takes the place of cp, which fails when the disk is full.
    let programs = crier.directory.appending(path: "programs")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: programs.appending(path: "cp").path, withDestinationPath: "/bin/false")
    let (status, message) = try backup(crier, ["home", "copy"], path: "\(programs.path):/usr/bin:/bin")
    #expect(status != 0 && message.contains("The backup failed"), "\(message)")
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "copy").path))
  }

  @Test("without sqlite3, the script for a backup names the missing package and makes no folder")
  func backupWithoutSQLite() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("keys", "create").status == 0)
    let (status, message) = try backup(crier, ["home", "copy"], path: "/nowhere")
    #expect(status == 69 && message.contains("Install the package sqlite3"), "\(message)")
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "copy").path))
  }
}

extension Command {
  /// Runs the script for backups.
  func backup(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32, message: String) {
    let script = Self.checkout.appending(path: "Deployment/backup").path
    let result = try run([script] + arguments, environment: environment, program: URL(filePath: "/bin/sh"))
    return (result.status, result.message)
  }
}
