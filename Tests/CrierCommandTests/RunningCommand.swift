// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The built program while it runs, with pipes for its input and output.
///
/// It is spawned and waited for by the system's own calls: `Process` may never see a child end when others start at the
/// same moment.
final class RunningCommand {
  struct SpawnFailure: Error { var number: Int32 }

  let processID: pid_t
  let input: FileHandle
  let output: FileHandle
  private let message: URL
  private var status: Int32?

  /// - Parameter isRead: false for a program whose output nobody reads any more.
  init(_ arguments: [String], of command: Command, isRead: Bool = true) throws {
    message = command.directory.appending(path: "message-\(UUID().uuidString)")
    let (toProgram, fromProgram) = (Pipe(), Pipe())
    if !isRead { try fromProgram.fileHandleForReading.close() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toProgram.fileHandleForReading.fileDescriptor, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, fromProgram.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, message.path, O_WRONLY | O_CREAT, 0o600)
    for pipe in [toProgram, fromProgram] {
      for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] where handle.fileDescriptor > STDERR_FILENO {
        // The program's own copies are 0 and 1; another's end would hide that this one closed its own.
        _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    let words = ([Command.program.path] + arguments).map { strdup($0) } + [nil]
    let variables = command.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var number: pid_t = 0
    let fault = posix_spawn(&number, Command.program.path, &actions, nil, words, variables)
    guard fault == 0 else { throw SpawnFailure(number: fault) }
    processID = number
    // Else this process would be a reader, or a writer, that never goes.
    try toProgram.fileHandleForReading.close()
    try fromProgram.fileHandleForWriting.close()
    (input, output) = (toProgram.fileHandleForWriting, fromProgram.fileHandleForReading)
  }

  deinit {
    if status == nil {
      kill(processID, SIGKILL)
      _ = wait()
    }
  }

  func signal(_ number: Int32) { kill(processID, number) }

  /// - Returns: the exit status, or 128 and the number of the signal that ended it, as a shell says it.
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + raw & 0x7f
    status = ended
    return ended
  }

  /// What it has written to standard error.
  func messages() throws -> String { try String(contentsOf: message, encoding: .utf8) }
}
