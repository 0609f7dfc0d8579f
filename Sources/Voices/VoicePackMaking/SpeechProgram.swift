// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs a speech program, once for each text.
///
/// The program runs without a shell and without input. The output of the program is not shown. If the program fails,
/// the last line of its standard error is shown. If it takes too long or the task is cancelled, the program and all
/// processes that it started are killed.
struct SpeechProgram: Sendable {
  let command: SpeechCommand

  /// The time that the program may take for one text, in seconds.
  let seconds: Int

  /// The time between two checks of whether the program has ended.
  private static let interval: Duration = .milliseconds(5)

  /// The largest number of characters of the program's last line that an error shows.
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
    let program = try Self.program(arguments[0])
    guard
      var child = ChildProgram(
        program.path(percentEncoded: false), arguments: arguments, messages: messages.path(percentEncoded: false))
    else {
      throw failure("could not be started", "check the program's permissions")
    }
    // No event announces the end of this child process without a risk for other child processes, so the loop polls the
    // state.
    let start = ContinuousClock.now
    var ending = child.ended()
    while ending == nil {
      guard ContinuousClock.now - start < .seconds(seconds) else {
        throw failure("did not end within \(seconds) s", "try the command by hand, or give a longer --timeout")
      }
      // The system cannot notify a task when a child process ends, so the state is polled again after a short time.
      try await Task.sleep(for: Self.interval)
      ending = child.ended()
    }
    switch ending {
    case .status(0), nil: break
    case .status(let status):
      throw failure("ended with status \(status)" + Self.lastLine(of: messages), "try the command by hand")
    case .signal(let number):
      throw failure("was ended by signal \(number)" + Self.lastLine(of: messages), "try the command by hand")
    }
    let size = (try? FileManager.default.attributesOfItem(atPath: output.path(percentEncoded: false))[.size]) as? Int
    guard let size, size > 0 else {
      throw failure("wrote no sound" + Self.lastLine(of: messages), "check that it writes the file {output}")
    }
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
