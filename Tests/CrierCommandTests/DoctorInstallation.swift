// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import SoundOutputTestSupport
import Testing
import VoicePackMaking

/// An installation for `crier doctor`: a program with its speaker, data, and a home with a ledger, a key and a voice
/// pack. Tests break parts of it.
struct DoctorInstallation {
  let crier: Command
  /// The program, in a folder of its own, so that its speaker can be taken away.
  let program: URL
  var speaker: URL { program.deletingLastPathComponent().appending(path: "speaker") }
  var home: URL { crier.home }
  var pack: URL { home.appending(path: "Voices/my-shop") }
  var ledger: URL { home.appending(path: "ledger.sqlite") }

  init() throws {
    crier = try Command()
    let folder = crier.directory.appending(path: "bin")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    program = folder.appending(path: "crier")
    try Command.linkProgram(to: program)
    try FileManager.default.createSymbolicLink(
      at: folder.appending(path: "speaker"),
      withDestinationURL: Command.program.deletingLastPathComponent().appending(path: "speaker"))
    // The phrase books are copied, so that a test can break one.
    let templates = crier.data.appending(path: "Templates")
    try FileManager.default.removeItem(at: templates)
    try FileManager.default.copyItem(at: Command.checkout.appending(path: "Templates"), to: templates)
    #expect(try crier("keys", "create").status == 0)
    try closeLedger()
    try PackWriter(directory: home.appending(path: "Voices")).write(
      PackFacts(id: "my-shop", locale: "en-US", speaker: "test", licence: "CC0-1.0"),
      clips: [PackClip(tokens: ["one"], text: "one", waveform: Tone.sine(440, milliseconds: 400, rate: 22_050))])
    try write("port: 0\noutput: 'null'\n", to: "crier.yaml")
  }

  /// Removes the log beside the ledger, which a command may leave, so that the ledger is in one file.
  func closeLedger() throws {
    let database = try DatabaseQueue(waitingFor: ledger)
    try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try database.close()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: ledger.path + suffix) }
  }

  /// Writes a file of the home that only its owner can read.
  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: home.appending(path: name))
    try setMode(0o600, of: name)
  }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: home.appending(path: name).path)
  }

  /// Replaces the speaker with a program that only greets with a status; see `Sources/Voices/speaker/protocol.h`. A
  /// shell writes the file, because a program that this process has open for writing cannot be run.
  func setSpeaker(status: Int) throws {
    let zeros = #"\000\000\000\000"#
    let text =
      "#!/bin/sh\n" + #"printf 'CRH1\003\000\000\000\00\#(status)\000\000\000\#(zeros)\#(zeros)\#(zeros)'"# + "\n"
    let source = crier.directory.appending(path: "speaker.txt")
    try Data(text.utf8).write(to: source)
    try FileManager.default.removeItem(at: speaker)
    #expect(
      try crier.run(
        ["-c", #"cat "$0" > "$1" && chmod +x "$1""#, source.path, speaker.path], program: URL(filePath: "/bin/sh")
      ).status == 0)
  }

  /// Runs `crier doctor --json`.
  func diagnose(_ flags: [String] = []) throws -> Diagnosis {
    try Diagnosis(try crier.run(["doctor", "--json"] + flags, program: program))
  }

  /// The answer of `crier doctor --json`.
  struct Diagnosis {
    let status: Int32
    let text: String
    let checks: [JSONValue]

    init(_ result: Command.Result) throws {
      status = result.status
      text = result.output
      let object = try JSONValue(result.output)
      checks = try #require(object["checks"]?.array, "\(result.message)")
      #expect(object["exit_status"]?.number == Double(status))
      #expect(result.message.isEmpty)
    }

    /// The faults, each with its part, code and remedy.
    var faults: [(part: String, code: String, message: String, remedy: String)] {
      checks.flatMap { check in
        (check["problems"]?.array ?? []).filter { $0["severity"]?.string == "fault" }.map { problem in
          (
            check["part"]?.string ?? "", problem["code"]?.string ?? "", problem["message"]?.string ?? "",
            problem["remedy"]?.string ?? ""
          )
        }
      }
    }

    func verdict(of part: String) -> String? {
      checks.first { $0["part"]?.string == part }?["verdict"]?.string
    }
  }

  /// The names, types, sizes, times and bytes of all files below the test's folder that belong to the installation.
  func snapshot() throws -> [String] {
    let names = (FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []).sorted()
    return try names.map { name in
      let file = home.appending(path: name)
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let time = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      let bytes = (try? Data(contentsOf: file))?.hashValue ?? 0
      return "\(name) \(attributes[.posixPermissions] ?? 0) \(attributes[.size] ?? 0) \(time) \(bytes)"
    }
  }
}
