// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Ends the program if it would block a thread on which other work depends, such as the thread of an event loop. While
/// such a thread waits for a disk or a name server, none of its connections is served.
///
/// It exists only in builds with the compile condition `CRIER_WATCHDOG`, which debug builds and CI set
/// (`Package.swift`). In all other builds, both functions do nothing. GRDB has such a watchdog for its queues
/// (`SchedulingWatchdog`).
public enum BlockingWatchdog {
  /// Marks the current thread as one that must never block.
  public static func forbidBlocking() {
    #if CRIER_WATCHDOG
      Thread.current.threadDictionary[mark] = true
    #endif
  }

  /// Ends the program if the current thread must not block. Each function that may block calls this function.
  public static func check(_ function: StaticString = #function) {
    #if CRIER_WATCHDOG
      guard Thread.current.threadDictionary[mark] != nil else { return }
      // Not from outside: the code decides which functions a thread calls, and the tests run every path of the code.
      fatalError("\(function) may block, and runs on a thread that must not block; call it in onWaitingThread.")
    #endif
  }

  #if CRIER_WATCHDOG
    private static let mark = "crier.forbid-blocking"
  #endif
}
