// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Process {
  /// Ends it as by `kill -9`; returns when it has ended.
  ///
  /// It asks the kernel. `waitUntilExit()` learns of the end through a socket that processes started at the same moment
  /// inherit, and waits until they have ended too.
  public func killAndWait() {
    kill(processIdentifier, SIGKILL)
    var information = siginfo_t()
    // Whoever watches it for Foundation still finds it; when they were earlier, there is none any more.
    while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
  }
}
