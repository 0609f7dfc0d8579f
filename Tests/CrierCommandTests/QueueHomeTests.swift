// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import SQLiteLedger
import Testing

@Suite("The home folder of crier queue")
struct QueueHomeTests {
  private func write(_ settings: String, in crier: Command) throws {
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: crier.home.appending(path: "crier.yaml"))
  }

  private func makeLedger(_ crier: Command) throws {
    _ = try SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite"))
  }

  @Test(
    "crier queue fails if the home has no ledger, the error names --home, and no file is created",
    arguments: [["--once"], ["--json"], ["pause"], ["skip"], ["cancel", "1"]])
  func noLedger(words: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["queue"] + words)
    #expect(result.status == 65 && result.output.isEmpty)
    #expect(
      result.message
        == "crier: \(crier.home.path): this home has no ledger; give the home folder of the service or program with "
        + "--home.\n")
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }

  @Test("without --output, crier queue takes the output from the environment, or else from the home's crier.yaml")
  func outputs() throws {
    let crier = try Command()
    defer { crier.remove() }
    try makeLedger(crier)
    #expect(try crier("queue").output == "default: no player is running; nothing waiting\n")
    try write("output: alsa:nothing\n", in: crier)
    #expect(try crier("queue", "--once").output == "alsa:nothing: no player is running; nothing waiting\n")
    #expect(
      try crier("queue", environment: ["CRIER_OUTPUT": "null"]).output
        == "null: no player is running; nothing waiting\n")
    #expect(
      try crier("queue", "--output", "alsa:other", environment: ["CRIER_OUTPUT": "null"]).output
        == "alsa:other: no player is running; nothing waiting\n")
    #expect(
      try crier("queue", "pause").message
        == "crier: no player is running on alsa:nothing; start one, or give another --output.\n")
    let other = crier.directory.appending(path: "other").path
    #expect(
      try crier("queue", "--home", crier.home.path, environment: ["CRIER_HOME": other]).output
        == "alsa:nothing: no player is running; nothing waiting\n")
    try write("output: none\n", in: crier)
    #expect(try crier("queue").output == "default: no player is running; nothing waiting\n")
  }

  @Test("without --output, crier queue shows the queue of the output that was chosen through the service")
  func chosenOutput() throws {
    let crier = try Command()
    defer { crier.remove() }
    try makeLedger(crier)
    try write("output: alsa:nothing\n", in: crier)
    let preferences = crier.home.appending(path: "player", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: preferences, withIntermediateDirectories: true)
    try Data(#"{"output":"alsa:chosen"}"#.utf8).write(to: preferences.appending(path: "output.json"))
    #expect(try crier("queue").output == "alsa:chosen: no player is running; nothing waiting\n")
    #expect(
      try crier("queue", "--output", "alsa:other").output == "alsa:other: no player is running; nothing waiting\n")
    try write("output: none\n", in: crier)
    #expect(try crier("queue").output == "default: no player is running; nothing waiting\n")
  }

  @Test("an invalid output in crier.yaml is an error that names its line, and --output replaces the setting")
  func wrongOutput() throws {
    let crier = try Command()
    defer { crier.remove() }
    try makeLedger(crier)
    try write("port: 1\noutput: Default\n", in: crier)
    let result = try crier("queue")
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(
      result.message.hasPrefix("crier: output (crier.yaml, line 2): “Default” is not an output:"), "\(result.message)")
    #expect(try crier("queue", "--output", "null").status == 0)
  }

  @Test("a home folder that cannot be made is an error that names it and says how to choose another")
  func noHome() throws {
    let crier = try Command()
    defer { crier.remove() }
    let file = crier.directory.appending(path: "file")
    try Data().write(to: file)
    let home = file.appending(path: "home").path
    for words in [["keys", "create"], ["keys", "list"], ["serve", "--port", "0", "--output", "none"]] {
      let result = try crier.run(words + ["--home", home], seconds: 60)
      #expect(result.status == 73 && result.output.isEmpty)
      #expect(
        result.message.hasPrefix("crier: \(home): this home folder does not exist and cannot be made ("),
        "\(result.message)")
      #expect(result.message.hasSuffix("; name another with --home or CRIER_HOME.\n"))
    }
  }

  @Test("crier preview uses the home folder that --home names, and does not touch the default home folder")
  func preview() throws {
    let crier = try Command()
    defer { crier.remove() }
    let home = crier.directory.appending(path: "elsewhere")
    let result = try crier(
      "preview", "--amount", "5", "--currency", "USD", "--locale", "en-US", "--output", "null", "--home", home.path)
    #expect(result.status == 0, "\(result.message)")
    #expect(FileManager.default.fileExists(atPath: home.appending(path: "ledger.sqlite").path))
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }
}
