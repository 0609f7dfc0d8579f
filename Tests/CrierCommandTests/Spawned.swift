// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A child process that is started and awaited with system calls. `Process` can miss the end of a child when others
/// start at the same moment.
final class Spawned {
  struct Failure: Error { var number: Int32 }

  let processID: pid_t
  private var status: Int32?

  /// - Parameters:
  ///   - directory: The working folder.
  ///   - prepare: Sets up the standard descriptors.
  init(
    _ program: URL, _ arguments: [String], environment: [String: String], directory: URL,
    _ prepare: (inout posix_spawn_file_actions_t) -> Void
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    prepare(&actions)
    let words = (Self.inDirectory(directory) + [program.path] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var number: pid_t = 0
    let fault = posix_spawn(&number, Self.changer, &actions, nil, words, variables)
    guard fault == 0 else { throw Failure(number: fault) }
    processID = number
  }

  /// The env program of coreutils, which changes the folder and then becomes the program.
  private static let changer = "/usr/bin/env"
  private static func inDirectory(_ directory: URL) -> [String] { ["env", "-C", directory.path] }

  deinit {
    if status == nil {
      kill(processID, SIGKILL)
      _ = wait()
    }
  }

  /// - Returns: The exit status, or 128 plus the signal that ended the process, as in a shell.
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + raw & 0x7f
    status = ended
    return ended
  }
}
