// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDoctor
import Testing

/// A sound file that another program makes for a test, and the verdict that is right for it.
struct SampleFile: Sendable, CustomTestStringConvertible {
  /// The file's name. The command writes a file of this name in the current folder.
  var name: String
  /// A command for the shell.
  var command: String
  /// The codes of all problems, in any order.
  var codes: Set<SoundProblem.Code>
  /// The number of frames, if the test depends on the exact length.
  var frames: Int?
  /// Changes the bytes that the program wrote.
  var edit: (@Sendable (inout [UInt8]) -> Void)?

  var testDescription: String { "\(name): \(command)" }

  var isPlayable: Bool { codes.allSatisfy { $0.severity == .warning } }

  /// A tone made by sox, as loud as Crier's clips.
  static func sox(
    _ name: String, _ options: String = "-b 16", rate: Int = 22_050, channels: Int = 1, frames: Int? = nil,
    gain: Int = -13, _ codes: Set<SoundProblem.Code> = []
  ) -> SampleFile {
    SampleFile(
      name: name,
      command:
        "sox -V1 -R -r \(rate) -n -c \(channels) \(options) \(quoted(name)) "
        + "synth \(frames ?? rate)s sine 440 gain \(gain)",
      codes: codes, frames: frames)
  }

  static func sox(_ name: String, _ codes: Set<SoundProblem.Code>) -> SampleFile {
    .sox(name, "-b 16", codes)
  }

  /// A tone made by ffmpeg, as loud as Crier's clips.
  static func ffmpeg(
    _ name: String, _ options: String, rate: Int = 22_050, frames: Int? = nil, filter: String = "volume=5dB",
    _ codes: Set<SoundProblem.Code> = []
  ) -> SampleFile {
    SampleFile(
      name: name,
      command: """
        ffmpeg -nostdin -loglevel error -f lavfi \
        -i 'sine=f=440:r=\(rate),atrim=end_sample=\(frames ?? rate),\(filter)' \(options) \(quoted(name))
        """, codes: codes, frames: frames)
  }

  /// Returns the same file with other bytes.
  func edited(
    as name: String? = nil, _ codes: Set<SoundProblem.Code>, _ edit: @escaping @Sendable (inout [UInt8]) -> Void
  ) -> SampleFile {
    var file = self
    (file.codes, file.edit) = (codes, edit)
    if let name {
      file.command += " && mv \(Self.quoted(file.name)) \(Self.quoted(name))"
      file.name = name
    }
    return file
  }

  func renamed(_ name: String, _ codes: Set<SoundProblem.Code>) -> SampleFile { edited(as: name, codes) { _ in } }

  static func quoted(_ name: String) -> String { "'" + name.replacing("'", with: "'\\''") + "'" }

  /// Makes the file in a folder.
  func make(in folder: URL) throws -> URL {
    let result = try Shell.run(command, in: folder)
    try #require(result.status == 0, "\(command): \(result.message)")
    let file = folder.appending(path: name)
    if let edit {
      var bytes = [UInt8](try Data(contentsOf: file))
      edit(&bytes)
      try Data(bytes).write(to: file)
    }
    return file
  }
}

/// Runs commands with the shell.
enum Shell {
  struct Result {
    var status: Int32
    var output: String
    var message: String
  }

  static func run(_ command: String, in folder: URL) throws -> Result {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = folder
    // Files are used, because a program must not block when its output exceeds a pipe's buffer.
    let files = ["output", "message"].map {
      FileManager.default.temporaryDirectory.appending(path: "\($0)-\(UUID().uuidString)")
    }
    defer { for file in files { try? FileManager.default.removeItem(at: file) } }
    for file in files { try Data().write(to: file) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: try String(contentsOf: files[0], encoding: .utf8),
      message: try String(contentsOf: files[1], encoding: .utf8))
  }
}

/// Calls a function with a new folder, which is removed afterwards.
func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

func diagnosis(of file: URL) -> SoundDiagnosis {
  SoundDiagnosis(of: SoundExamination(of: file.path(percentEncoded: false)).facts)
}

extension [UInt8] {
  /// Replaces bytes at an offset by a number.
  mutating func set(_ value: Int, _ length: Int, at offset: Int, big: Bool = false) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    replaceSubrange(offset..<offset + length, with: big ? bytes.reversed() : bytes)
  }

  /// Inserts a chunk of five bytes without the byte that pads it, and corrects the length of the file.
  ///
  /// - Parameter next: The chunk before which it is inserted; `nil` for the end of the file.
  mutating func insertUnpadded(_ name: String, before next: String?, big: Bool = false) {
    var chunk = Array(name.utf8) + [0, 0, 0, 0] + Array("chime".utf8)
    chunk.set(5, 4, at: 4, big: big)
    insert(contentsOf: chunk, at: next.map { offset(after: $0) - 4 } ?? count)
    set(count - 8, 4, at: 4, big: big)
  }

  /// Returns the offset behind a chunk's name.
  func offset(after name: String) -> Int {
    let name = Array(name.utf8)
    return indices.first { self[$0...].starts(with: name) }.map { $0 + name.count } ?? 0
  }
}
