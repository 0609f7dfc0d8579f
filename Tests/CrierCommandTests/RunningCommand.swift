// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The running program, with pipes for its input and output.
final class RunningCommand {
  let input: FileHandle
  let output: FileHandle
  private let process: Spawned
  private let message: URL

  /// - Parameters:
  ///   - environment: Additional environment variables.
  ///   - isRead: False for a program whose output is no longer read.
  init(
    _ arguments: [String], of command: Command, environment: [String: String] = [:], isRead: Bool = true
  ) throws {
    let message = command.directory.appending(path: "message-\(UUID().uuidString)")
    let (toProgram, fromProgram) = (Pipe(), Pipe())
    if !isRead { try fromProgram.fileHandleForReading.close() }
    for pipe in [toProgram, fromProgram] {
      for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] where handle.fileDescriptor > STDERR_FILENO {
        // The program's own ends are descriptors 0 and 1. An inherited copy of an end would hide that the program
        // closed its own.
        _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    process = try Spawned(
      Command.program, arguments, environment: command.environment.merging(environment) { $1 },
      directory: command.directory
    ) { actions in
      posix_spawn_file_actions_adddup2(&actions, toProgram.fileHandleForReading.fileDescriptor, STDIN_FILENO)
      posix_spawn_file_actions_adddup2(&actions, fromProgram.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, message.path, O_WRONLY | O_CREAT, 0o600)
    }
    // Otherwise, this process would keep the program's ends of the pipes open.
    try toProgram.fileHandleForReading.close()
    try fromProgram.fileHandleForWriting.close()
    (input, output, self.message) = (toProgram.fileHandleForWriting, fromProgram.fileHandleForReading, message)
  }

  var processID: pid_t { process.processID }

  func signal(_ number: Int32) { kill(process.processID, number) }

  /// - Returns: The status, as `Spawned.wait()` returns it.
  func wait() -> Int32 { process.wait() }

  /// The program's output on standard error so far.
  func messages() throws -> String { try String(contentsOf: message, encoding: .utf8) }
}
