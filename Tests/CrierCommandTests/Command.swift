// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A runner of the built program that starts it as a shell would.
struct Command {
  struct Result {
    var status: Int32
    var output: String
    var message: String
  }

  /// The test's own folder. It contains `CRIER_HOME` and the data: the checkout's phrase books, tones and console, and
  /// only the voice packs that the test makes.
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
    for folder in ["Templates", "Readers", "Tones", "Console"] {
      try FileManager.default.createSymbolicLink(
        at: data.appending(path: folder), withDestinationURL: Self.checkout.appending(path: folder))
    }
  }

  /// The whole environment of the program, including the sanitizer options of `make sanitize`.
  var environment: [String: String] {
    var environment = [
      "CRIER_HOME": directory.appending(path: "home").path, "CRIER_DATA": data.path, "PATH": "/usr/bin:/bin",
    ]
    environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    return environment
  }

  var data: URL { directory.appending(path: "data") }

  func remove() { try? FileManager.default.removeItem(at: directory) }

  var home: URL { directory.appending(path: "home") }

  var sounds: URL { directory.appending(path: "home/containers/group.crier/Library/Sounds") }

  func callAsFunction(
    _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
  ) throws -> Result {
    try run(arguments, input: input, environment: environment)
  }

  /// Runs the program.
  ///
  /// - Parameters:
  ///   - seconds: The time after which the program is killed, with status 137. For programs that may not end.
  ///   - program: The program, for tests that run a copy of it elsewhere.
  func run(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:], seconds: Int? = nil,
    program: URL = Self.program
  ) throws -> Result {
    // Files are used instead of pipes, because a program must not block when its output exceeds a pipe's buffer.
    let files = ["input", "output", "message"].map { directory.appending(path: "\($0)-\(UUID().uuidString)") }
    for file in files { try Data().write(to: file) }
    try Data((input ?? "").utf8).write(to: files[0])
    let (executable, words) =
      seconds.map { (URL(filePath: "/usr/bin/timeout"), ["-s", "KILL", "\($0)", program.path] + arguments) }
      ?? (program, arguments)
    let process = try Spawned(
      executable, words, environment: self.environment.merging(environment) { $1 }, directory: directory
    ) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, files[0].path, O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files[1].path, O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, files[2].path, O_WRONLY, 0)
    }
    return Result(
      status: process.wait(), output: try String(contentsOf: files[1], encoding: .utf8),
      message: try String(contentsOf: files[2], encoding: .utf8))
  }

  static let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "crier")

  static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL
}

extension Command {
  /// Puts the program at another place. It is linked if possible. A copy stays open for writing in processes that other
  /// tests fork meanwhile, and then cannot be run.
  static func linkProgram(to place: URL) throws {
    do {
      try FileManager.default.linkItem(at: program, to: place)
    } catch {
      try FileManager.default.copyItem(at: program, to: place)
    }
  }
}
