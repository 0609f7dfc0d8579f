// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
  import Foundation
  // Besides the condition above, nothing of it is used here.
  import UserNotifications

  /// Work that the system must not interrupt by suspending the process.
  ///
  /// iOS ends a process that it suspends with the lock of a file in a group container (observed, exception code
  /// 0xdead10cc). Use it in the app and in its extensions for all work that changes files of the group.
  public enum ExpiringActivity {
    /// Runs work, and asks iOS for the time to end it. When the time is over, or if there is none, the work's task is
    /// cancelled. On a Mac, the time is not limited, and the work runs to its end.
    ///
    /// - Parameter reason: What the work does, for the log of the system.
    /// - Throws: The error of the work, or its cancellation.
    public static func run<Result: Sendable>(
      _ reason: String, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
      let task = Task { try await work() }
      #if os(macOS)
        // A Mac neither suspends the process nor limits its time. It may slow down or end a program that nobody uses, but
        // not during an activity.
        let activity = ProcessInfo.processInfo.beginActivity(
          options: .userInitiatedAllowingIdleSystemSleep, reason: reason)
        defer { ProcessInfo.processInfo.endActivity(activity) }
      #else
        let ended = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
          // The block holds the time for as long as it runs. It is called a second time when the time is over.
          if isExpired { task.cancel() } else { ended.wait() }
        }
        defer { ended.signal() }
      #endif
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
#endif
