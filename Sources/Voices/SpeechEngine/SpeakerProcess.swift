// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A child process whose standard input and output are the same socket. The speaker closes any other descriptor that it
/// inherits.
///
/// The type uses `posix_spawn` directly. Foundation's `Process` detects the end of a child process through a socket,
/// which other child processes inherit if they are started at the same moment. A long-lived speaker that inherits such
/// a socket would hide the end of the other process (measured: `waitUntilExit` waited for a process that was a zombie).
/// swift-subprocess cannot pass a socket to a child process.
struct SpeakerProcess: ~Copyable {
  let identifier: pid_t

  /// Starts the program.
  ///
  /// - Returns: `nil` when the system cannot start a process from the program.
  init?(program: String, socket: Descriptor) {
    var actions = unsafe posix_spawn_file_actions_t()
    // unsafe: the actions are created here, used only in the call below, and destroyed afterwards.
    guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket.number, 0)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket.number, 1)
    var identifier: pid_t = 0
    let status = unsafe program.withCString { path in
      // unsafe: the arguments end with nil, as does the environment. The environment is empty, because it must not
      // affect the sound.
      unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: 3) { list in
        unsafe list.initialize(repeating: nil)
        unsafe list[0] = UnsafeMutablePointer(mutating: path)
        guard let arguments = list.baseAddress else { return EINVAL }
        return unsafe posix_spawn(&identifier, path, &actions, nil, arguments, arguments + 2)
      }
    }
    guard status == 0 else { return nil }
    self.identifier = identifier
  }

  /// Kills the process and waits for its end, so that it leaves no zombie. The child processes of the killed process
  /// then end by themselves. The call blocks until the system has ended the process.
  deinit {
    _ = kill(identifier, SIGKILL)
    while waitpid(identifier, nil, 0) == -1, errno == EINTR {}
  }
}
