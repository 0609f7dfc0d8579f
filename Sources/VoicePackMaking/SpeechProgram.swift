// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Runs a speech program, once for each text.
///
/// The program runs without a shell and without input. What it prints is not shown, except the last line of its
/// standard error if it fails. If it takes too long or the task is cancelled, the program and all processes that it
/// started are killed.
struct SpeechProgram: Sendable {
  let command: SpeechCommand

  /// The time that the program may take for one text, in seconds.
  let seconds: Int

  /// The longest part of the program's last line that an error shows, in characters.
  private static let longestMessage = 200

  /// Lets the program write a sound file.
  ///
  /// - Parameters:
  ///   - folder: a folder for files that are removed again.
  ///   - output: the file to write. It must not exist.
  /// - Throws: `PackMakingError` with the code `programFailed`; `CancellationError`.
  func speak(_ text: String, in folder: URL, to output: URL) async throws {
    let textFile = folder.appending(path: "text.txt")
    let messages = folder.appending(path: "messages.txt")
    defer { for file in [textFile, messages] { try? FileManager.default.removeItem(at: file) } }
    try Data((text + "\n").utf8).write(to: textFile)
    try Data().write(to: messages)
    let arguments = command.arguments(
      text: text, textFile: textFile.path(percentEncoded: false), output: output.path(percentEncoded: false))
    let process = Process()
    process.executableURL = try Self.program(arguments[0])
    process.arguments = Array(arguments.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let handle = try FileHandle(forWritingTo: messages)
    defer { try? handle.close() }
    process.standardError = handle
    let isLate = try await run(process)
    try Task.checkCancellation()
    guard !isLate else {
      throw failure("did not end within \(seconds) s", "try the command by hand, or give a longer --timeout")
    }
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let how =
        process.terminationReason == .exit
        ? "ended with status \(process.terminationStatus)" : "was ended by signal \(process.terminationStatus)"
      throw failure(how + Self.lastLine(of: messages), "try the command by hand")
    }
    let size = (try? FileManager.default.attributesOfItem(atPath: output.path(percentEncoded: false))[.size]) as? Int
    guard let size, size > 0 else {
      throw failure("wrote no sound" + Self.lastLine(of: messages), "check that it writes the file {output}")
    }
  }

  /// Runs the process to its end.
  ///
  /// - Returns: whether the process was killed because it took too long.
  private func run(_ process: Process) async throws -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    do { try process.run() } catch {
      throw failure("could not be started (\(error.localizedDescription))", "check the program's permissions")
    }
    let identifier = process.processIdentifier
    return await withTaskGroup(of: Bool.self) { [seconds] group in
      group.addTask {
        try? await Task.sleep(for: .seconds(seconds))
        return !Task.isCancelled
      }
      group.addTask {
        // A cancelled task does not wait for the stream, so the wait has a task of its own.
        await withTaskCancellationHandler {
          await Task.detached { for await _ in ends {} }.value
        } onCancel: {
          Self.kill(identifier)
        }
        return false
      }
      let isLate = await group.next() ?? false
      if isLate || Task.isCancelled { Self.kill(identifier) }
      group.cancelAll()
      await group.waitForAll()
      return isLate
    }
  }

  /// Kills the program and the processes that it started. Foundation gives the program a process group of its own.
  private static func kill(_ identifier: pid_t) {
    #if canImport(Glibc)
      if getpgid(identifier) == identifier { _ = Glibc.kill(-identifier, SIGKILL) }
      _ = Glibc.kill(identifier, SIGKILL)
    #else
      if getpgid(identifier) == identifier { _ = Darwin.kill(-identifier, SIGKILL) }
      _ = Darwin.kill(identifier, SIGKILL)
    #endif
  }

  /// Returns the file of a program. A name without a folder is looked up in `PATH`.
  ///
  /// - Throws: `PackMakingError` with the code `commandInvalid`.
  static func program(_ name: String) throws(PackMakingError) -> URL {
    let paths: [String] =
      name.contains("/")
      ? [name]
      : (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
    guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw PackMakingError(
        .commandInvalid, "with", "names the program \(name), which is not installed",
        remedy: "install it, or give its path")
    }
    return URL(filePath: path)
  }

  private static func lastLine(of file: URL) -> String {
    let bytes = (try? Data(contentsOf: file)) ?? Data()
    let line = String(decoding: bytes.suffix(4096), as: UTF8.self).split(whereSeparator: \.isNewline)
      .last { !$0.allSatisfy(\.isWhitespace) }
    return line.map { " and said: \($0.prefix(longestMessage))" } ?? ""
  }

  private func failure(_ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(
      .programFailed, (command.words[0] as NSString).lastPathComponent, problem, remedy: remedy)
  }
}
