// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The running program with a terminal as its standard input. Its output and messages go to files.
final class TerminalCommand {
  /// The end of the terminal at which the test types.
  private let keyboard: FileHandle
  private let process: Spawned
  private let message: URL

  init(_ arguments: [String], of command: Command) throws {
    var (own, terminal): (Int32, Int32) = (-1, -1)
    guard openpty(&own, &terminal, nil, nil, nil) == 0 else { throw POSIXError(.ENOTTY) }
    defer { close(terminal) }
    // Otherwise the program would keep both ends open.
    for descriptor in [own, terminal] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    keyboard = FileHandle(fileDescriptor: own, closeOnDealloc: true)
    let message = command.directory.appending(path: "message-\(UUID().uuidString)")
    let output = command.directory.appending(path: "output-\(UUID().uuidString)")
    process = try Spawned(
      Command.program, arguments, environment: command.environment, directory: command.directory
    ) { actions in
      posix_spawn_file_actions_adddup2(&actions, terminal, STDIN_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.path, O_WRONLY | O_CREAT, 0o600)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, message.path, O_WRONLY | O_CREAT, 0o600)
    }
    self.message = message
  }

  func type(_ text: String) throws { try keyboard.write(contentsOf: Data(text.utf8)) }

  func signal(_ number: Int32) { kill(process.processID, number) }

  /// Whether the program has ended. It stays to be awaited.
  var hasEnded: Bool {
    var information = siginfo_t()
    guard waitid(P_PID, id_t(process.processID), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return true }
    return information.si_signo == SIGCHLD
  }

  /// - Returns: The status, as `Spawned.wait()` returns it.
  func wait() -> Int32 { process.wait() }

  /// The program's output on standard error so far.
  var messages: String { String(decoding: (try? Data(contentsOf: message)) ?? Data(), as: UTF8.self) }
}
