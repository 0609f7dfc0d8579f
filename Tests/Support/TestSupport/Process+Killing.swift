// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Process {
  /// Kills the process as `kill -9` does, and returns when it has ended.
  ///
  /// The method asks the kernel. `waitUntilExit()` detects the end through a socket. Processes that are started at the
  /// same moment inherit the socket, so `waitUntilExit()` waits for their end too.
  public func killAndWait() {
    kill(processIdentifier, SIGKILL)
    var information = siginfo_t()
    // Foundation's own monitoring may still collect the process. If it did so earlier, the process no longer exists.
    while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
  }
}
