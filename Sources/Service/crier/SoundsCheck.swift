// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SoundDoctor
import SoundHeaders
import TextFormats

extension Sounds {
  struct Check: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Checks whether iOS would play sound files, and says what is wrong with them.",
      discussion: """
        A file is playable if it is a WAV, AIFF or CAF file with linear PCM, IMA ADPCM, µ-law or A-law, is complete, \
        and lasts less than 30 s. Each problem comes with the command that mends it.

        With --fix, a mended copy of each file with problems is written beside it: tone.mp3 gets tone-fixed.wav, mono \
        WAV with 16 bits at 22,050 Hz and the loudness of Crier's clips. A sound of 30 s or more is cut to 29.5 s and \
        faded out. An existing file is never replaced. The paths of the copies are printed on standard output, and \
        the problems on standard error.

        Exit status: 0 if all given files are playable, else 65; 73 if a copy cannot be written.

        EXAMPLES
          crier sounds check chime.caf
          crier sounds check --fix chime.mp3
          crier sounds check --json Library/Sounds/*
        """)

    @Argument(help: "The sound files.", completion: .file())
    var files: [String]

    @Flag(help: "Write a mended copy of each file with problems beside it.")
    var fix = false

    @Flag(help: "Print one line of JSON for each file.")
    var json = false

    func validate() throws {
      if files.contains("") { throw ValidationError("The name of a file is empty: name a sound file.") }
    }

    func perform() async throws {
      var isPlayable = true
      var hasUnwrittenCopy = false
      for path in files {
        let examination = SoundExamination(of: path)
        let diagnosis = SoundDiagnosis(of: examination.facts)
        isPlayable = isPlayable && diagnosis.isPlayable
        var line = CheckLine(diagnosis)
        if !json {
          let text = line.text
          if fix { Terminal.note(text) } else { try StandardOutput.write(text) }
        }
        if fix, !diagnosis.problems.isEmpty {
          do throws(SoundMendingError) {
            line.fixed = try writeCopy(examination)
          } catch {
            Terminal.note(Terminal.printable("crier: \(error)"))
            hasUnwrittenCopy = hasUnwrittenCopy || error.code != .notMendable
          }
        }
        if json {
          try StandardOutput.write(try line.jsonLine)
        } else if let copy = line.fixed {
          try StandardOutput.write(copy)
        }
      }
      if hasUnwrittenCopy { throw ExitCode(73) }
      if !isPlayable { throw ExitCode(65) }
    }

    /// - Returns: The path of the copy.
    private func writeCopy(_ examination: SoundExamination) throws(SoundMendingError) -> String {
      let copy = try SoundMending.writeCopy(of: examination)
      let path = copy.file.path(percentEncoded: false)
      if copy.isCut {
        Terminal.note(Terminal.printable("\(path): the sound was too long; it is cut to 29.5 s and faded out."))
      }
      return path
    }
  }
}

/// One line of `crier sounds check --json`.
struct CheckLine: Encodable {
  var file: String
  var playable: Bool
  var problems: [SoundProblem]
  @ExplicitNull var container: String?
  @ExplicitNull var codec: String?
  @ExplicitNull var sampleRate: Int?
  @ExplicitNull var channels: Int?
  @ExplicitNull var durationMs: Int?
  @ExplicitNull var loudnessLUFS: Double?
  @ExplicitNull var bytes: Int?
  /// The path of the repaired copy.
  @ExplicitNull var fixed: String? = nil

  init(_ diagnosis: SoundDiagnosis) {
    let facts = diagnosis.facts
    file = facts.path
    playable = diagnosis.isPlayable
    problems = diagnosis.problems
    if case .sound(let found) = facts.content { container = found.rawValue }
    codec = facts.header?.codec?.name
    sampleRate = facts.header?.sampleRate
    channels = facts.header?.channels
    durationMs = facts.header?.durationMilliseconds
    loudnessLUFS = facts.levels?.loudnessLUFS
    bytes = facts.bytes
  }

  /// The verdict with the format of the file, and two lines for each problem: what is wrong, and the remedy.
  var text: String {
    var facts = [container, codec].compactMap { $0 }
    if let sampleRate { facts.append("\(sampleRate) Hz") }
    if let channels { facts.append(channels == 1 ? "1 channel" : "\(channels) channels") }
    if let durationMs { facts.append("\(durationMs) ms") }
    if let loudnessLUFS { facts.append(String(format: "%.1f LUFS", loudnessLUFS)) }
    let format = facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))"
    let lines = problems.flatMap { problem in
      [
        "  \(problem.severity.rawValue) \(problem.code.rawValue): \(problem.message)",
        "    \(problem.remedy)",
      ]
    }
    return (["\(file): \(playable ? "playable" : "not playable")\(format)"] + lines)
      .map(Terminal.printable).joined(separator: "\n")
  }
}
