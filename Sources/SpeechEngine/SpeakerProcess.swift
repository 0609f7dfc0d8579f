// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A child process whose standard input and output are one socket. The speaker closes what else it may inherit.
///
/// Written by hand, with `posix_spawn`: Foundation's `Process` learns of a child's end through a socket that children
/// started at the same moment inherit, so that a speaker, which lives long, keeps the end of others from being seen
/// (measured: `waitUntilExit` waited for a process that was a zombie); swift-subprocess hands a child no socket.
struct SpeakerProcess: ~Copyable {
  let identifier: pid_t

  /// - Returns: `nil` when the system makes no process of the program.
  init?(program: String, socket: Descriptor) {
    #if canImport(Glibc)
      var actions = unsafe posix_spawn_file_actions_t()
    #else
      var actions: posix_spawn_file_actions_t?
    #endif
    // unsafe: made here, used in the one call below, and destroyed before it goes.
    guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket.number, 0)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket.number, 1)
    var identifier: pid_t = 0
    let status = unsafe program.withCString { path in
      // unsafe: the arguments end in nil, as does the environment, which is empty: what is heard must not depend on it.
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

  /// Ends the process, after which its children end by themselves, and leaves no zombie. Blocks for as long as the system takes to end it.
  deinit {
    _ = kill(identifier, SIGKILL)
    while waitpid(identifier, nil, 0) == -1, errno == EINTR {}
  }
}
