// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import VoicePackMaking
import Waveforms

/// A voice of a speech program that shares nothing with the engine. Their authors made these voices from recordings.
enum SpeechProgram: CaseIterable {
  /// A woman's and a man's voice of flite, made by statistics from recordings.
  case fliteSLT, fliteRMS
  /// A man's voice of festival, joined from recorded diphones.
  case festivalKED

  /// Speaks rows into files.
  ///
  /// - Parameter stretch: the factor of all durations.
  func speak(_ rows: [(text: String, file: URL)], stretch: Double) throws {
    switch self {
    case .fliteSLT: for row in rows { try flite("slt", row, stretch) }
    case .fliteRMS: for row in rows { try flite("rms", row, stretch) }
    case .festivalKED:
      let script = rows.map { row in
        "(utt.save.wave (utt.synth (Utterance Text \"\(row.text)\")) \"\(row.file.path)\" 'riff)"
      }
      let start = "(voice_ked_diphone)\n(Parameter.set 'Duration_Stretch \(stretch))\n"
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).scm")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data((start + script.joined(separator: "\n")).utf8).write(to: file)
      try Self.run("festival", ["-b", file.path])
    }
  }

  private func flite(_ voice: String, _ row: (text: String, file: URL), _ stretch: Double) throws {
    try Self.run(
      "flite",
      ["-voice", voice, "--setf", "duration_stretch=\(stretch)", "-t", row.text, "-o", row.file.path])
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/\(program)")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Missing(what: "an answer of \(program)") }
  }
}

/// A speaker with several takes of each row of a recording sheet.
struct OtherSpeaker {
  /// The words that the programs read wrongly, as English spells their sound. Flite says “paise” like “pays”, which
  /// the check suspects with good reason. A person who records the sheet would not say it so.
  private static let respelled = [
    "Alipay": "ally pay", "paisa": "pie sah", "paise": "pie say", "UPI": "you pea eye",
  ]

  private let rows: [SheetRow]
  /// For each speed, the sound of each row.
  private var takes: [[Waveform]] = []

  init(_ program: SpeechProgram, _ rows: [SheetRow]) throws {
    self.rows = rows
    let folder = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for stretch in [0.92, 1, 1.12] {
      let files = rows.map { row in
        (
          text: (Self.respelled[row.text] ?? row.text) + (row.position == .final ? "." : ","),
          file: folder.appending(path: "\(row.number).wav")
        )
      }
      try program.speak(files, stretch: stretch)
      takes.append(
        try files.map { try WAVFile.decode([UInt8](Data(contentsOf: $0.file))).waveform })
    }
  }

  /// Returns a random pack: the rows that payments need, all rows, or 25 or more random rows. Each recording is a
  /// random take at a random speed, and the pack has a random amount of noise.
  func pack(_ random: inout SplitMix64) throws -> [PackClip] {
    var chosen = rows
    switch Int.random(in: 0..<4, using: &random) {
    case 0: chosen = Array(rows.prefix(45))
    case 1: break
    default:
      let count = Int.random(in: 25...rows.count, using: &random)
      chosen = Array(rows.shuffled(using: &random).prefix(count)).sorted { $0.number < $1.number }
    }
    let noise = pow(10, -Double.random(in: 25...45, using: &random) / 20)
    let preparation = ClipPreparation()
    return try chosen.map { row in
      var take = takes[Int.random(in: takes.indices, using: &random)][row.number - 1]
      take.sampleRate = Int((Double(take.sampleRate) * Double.random(in: 0.95...1.05, using: &random)).rounded())
      let power = take.samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, take.samples.count))
      let level = power.squareRoot() * noise * 3.0.squareRoot()
      take.samples = take.samples.map { sample in
        Int16(clamping: Int((Double(sample) + Double.random(in: -level...level, using: &random)).rounded()))
      }
      let clip = try preparation.prepare(Recording(take))
      return PackClip(tokens: row.tokens, position: row.position, text: row.text, waveform: clip.waveform)
    }
  }
}
