// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that runs as a child process in a process group of its own. It has no input, its output is discarded, and
/// its messages go to a file.
///
/// The type uses `posix_spawn` directly. Foundation's `Process` detects the end of a child process through a socket,
/// which other child processes inherit if they are started at the same moment, such as speakers.
struct ChildProgram: ~Copyable {
  /// How a program ended.
  enum Ending: Sendable, Hashable {
    case status(Int32)
    case signal(Int32)
  }

  private let identifier: pid_t
  private var ending: Ending?

  /// Starts a program with the environment of this process.
  ///
  /// - Parameters:
  ///   - arguments: the arguments, beginning with the program's name.
  ///   - messages: an existing file for standard error.
  /// - Returns: `nil` when the system cannot start the program; `errno` then has the reason.
  init?(_ program: String, arguments: [String], messages: String) {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    // unsafe: both are created here, used only in the call below, and destroyed afterwards.
    guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    guard unsafe posix_spawnattr_init(&attributes) == 0 else { return nil }
    defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
    _ = unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    _ = unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    _ = unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages, O_WRONLY | O_APPEND, 0)
    // The threads that run tasks block all signals, and this process ignores some. The program gets the defaults.
    var none = sigset_t()
    var ignored = sigset_t()
    _ = unsafe sigemptyset(&none)
    _ = unsafe sigemptyset(&ignored)
    for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ] { _ = unsafe sigaddset(&ignored, number) }
    _ = unsafe posix_spawnattr_setsigmask(&attributes, &none)
    _ = unsafe posix_spawnattr_setsigdefault(&attributes, &ignored)
    _ = unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
    _ = unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    // unsafe: the copies are freed after the call, and both lists end with nil.
    let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    let variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let status = unsafe posix_spawn(&identifier, program, &actions, &attributes, words, variables)
    guard status == 0 else {
      errno = status
      return nil
    }
    self.identifier = identifier
  }

  /// Returns how the program ended; `nil` while it runs. The call does not wait.
  mutating func ended() -> Ending? {
    if let ending { return ending }
    var status: Int32 = 0
    // unsafe: the system fills in a local variable of this function.
    guard unsafe waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
    // These are the macros WIFEXITED, WEXITSTATUS and WTERMSIG of the C library.
    ending = status & 0x7f == 0 ? .status(status >> 8 & 0xff) : .signal(status & 0x7f)
    return ending
  }

  /// Kills the program and the programs that it started, and waits for its end, so that it leaves no zombie.
  deinit {
    guard ending == nil else { return }
    _ = kill(-identifier, SIGKILL)
    while waitpid(identifier, nil, 0) == -1, errno == EINTR {}
  }
}
