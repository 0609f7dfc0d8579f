// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Testing

@Suite("crier keys list")
struct KeysListTests {
  /// Runs the program with a terminal as its standard output, and returns what it wrote there.
  private func onTerminal(_ crier: Command, _ words: String) throws -> String {
    // The program script of util-linux runs a command in a terminal of its own, which ends lines with CR and LF.
    let result = try crier.run(
      ["-qec", "'\(Command.program.path)' \(words) 2>/dev/null", "/dev/null"],
      program: URL(filePath: "/usr/bin/script"))
    #expect(result.status == 0, "\(result.message)")
    return result.output.replacing("\r\n", with: "\n")
  }

  @Test("crier keys list prints column headings only on a terminal, so that programs can read its other output")
  func headings() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try onTerminal(crier, "keys list").isEmpty, "without keys there is no table")
    for name in ["till", "door"] { #expect(try crier("keys", "create", "--name", name).status == 0) }
    let plain = try crier("keys", "list").output
    #expect(plain.split(separator: "\n").count == 2)
    let shown = try onTerminal(crier, "keys list")
    let lines = shown.split(separator: "\n", maxSplits: 1)
    #expect(lines.count == 2 && String(lines[1]) == plain)
    let headings = lines[0].split(separator: "\t")
    #expect(headings.count == plain.split(separator: "\n")[0].split(separator: "\t").count)
    #expect(headings.first == "ID" && headings.suffix(2) == ["LOG NAME", "ORIGIN"])
    #expect(try onTerminal(crier, "keys list --json") == crier("keys", "list", "--json").output)
  }

  @Test("the help of crier keys log names the subjects of all kinds of actions")
  func logHelp() throws {
    let crier = try Command()
    defer { crier.remove() }
    let help = try crier("keys", "log", "--help").output
    let subjects = [
      "key": "keys", "playback": "player", "volume": "player", "chime": "player", "announcement": "announcements",
      "batch": "batches", "clip": "clips", "pack": "voice packs", "webhook": "webhook endpoints",
      "sign": "codes for signing in",
      "output": "output", "voice": "voices", "device": "phones", "support": "support bundles",
    ]
    for action in Ledger.AdministrativeAct.Action.allCases {
      let kind = try #require(action.rawValue.split(separator: "_").first.map(String.init))
      let subject = try #require(subjects[kind], "\(action.rawValue)")
      #expect(help.replacing(/\s+/, with: " ").contains(subject), "\(subject)")
    }
  }
}
